"""Where a function is defined that reaches a module through several others, under changing names."""

import ast
import random
from collections.abc import Mapping

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, drawn, integers, name, one_of, words

MODULES = ["lexer", "grammar", "scanner", "splitting", "dialects", "legacy", "texts", "fields", "basics", "compat", "rules"]
BODIES = [
    'return [{part}.strip() for {part} in text.split("{sign}")]',
    '{part}, _, rest = text.partition("{sign}")\nreturn {part}, rest',
    'if "{sign}" not in text:\n    raise ValueError(text)\nreturn text.rsplit("{sign}", {number})',
    "return text[{number}:].lower()",
    '{part} = text.find("{sign}")\nif {part} < 0:\n    return text\nreturn text[:{part}]',
    'found = {{}}\nfor {part} in text.split("{sign}"):\n    found[{part}[:{number}]] = {part}\nreturn found',
]


def _modules(values: Values) -> Values:
    """A chain of modules from the one that is asked about to others; names of the same kind are defined in most of them."""
    rng = random.Random(values["seed"])
    modules = [values[f"modules_{at}"] for at in range(5)]
    names = [values[f"f{at}"] for at in range(4)]
    flag = values["flag"]

    def define(one: str) -> str:
        body = rng.choice(BODIES).format(part=values["part"], sign=rng.choice(",;:|/"), number=rng.randint(1, 4))
        note = rng.choice(["", f'"""{values["note_0"].title()} {one.split("_")[-1]} of a text."""\n'])
        return f"\n\ndef {one}(text):\n" + "".join(f"    {line}\n" for line in (note + body).split("\n")) + "\n\n"

    texts: dict[str, str] = {}
    for at, here in enumerate(modules):
        later = modules[at + 1 :]
        picks = rng.sample(names, 3)
        parts = [f"{flag} = {rng.random() < 0.5}\n", f"LIMIT = {rng.randint(3, 99)}\n" * rng.randint(0, 1)]
        parts += [define(one) for one in (picks if not later else picks[1:])]
        for there in later[:2]:
            if rng.random() < 0.75:
                one = rng.choice(names)
                as_ = rng.choice(names)
                alias = "" if one == as_ else f" as {as_}"
                line = f"from {there} import {one}{alias}\n"
                guard = rng.choice(["", "", f"if {flag}:\n    ", f"if not {flag}:\n    "])
                parts.insert(rng.randint(1, len(parts)), guard + line)
        if rng.random() < 0.5:
            parts.append(f"{picks[1]} = {picks[2]}\n")
        elif rng.random() < 0.4:
            parts.append(define(picks[1]))
        texts[here] = "".join(parts).replace("\n\n\n\n\n", "\n\n\n").strip()
    first, used = modules[0], values["f0"]
    made = {f"text_{at}": texts[one] for at, one in enumerate(modules)}
    head = f"from {modules[1]} import {used}\n\n\n"
    made["text_0"] = f"{head}def {values['entry']}(lines):\n    return [{used}(one) for one in lines]"
    return made | {"first": first}


def bound(files: Mapping[str, str], module: str) -> dict[str, object]:
    """What each name of a module stands for in the end: a place (file, line) of a function, or the value of a constant."""
    known: dict[str, object] = {}

    def read(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                known[node.name] = (f"{module}.py", node.lineno)
            elif isinstance(node, ast.ImportFrom):
                for one in node.names:
                    known[one.asname or one.name] = bound(files, str(node.module))[one.name]
            elif isinstance(node, ast.Assign):
                text = ast.unparse(node.value)
                known[ast.unparse(node.targets[0])] = known[text] if text in known else ast.literal_eval(text)
            elif isinstance(node, ast.If):
                negated = isinstance(node.test, ast.UnaryOp)
                if bool(known[ast.unparse(node.test).removeprefix("not ")]) != negated:
                    read(node.body)

    read(ast.parse(files[f"{module}.py"]).body)
    return known


def _broken(values: Values) -> bool:
    """Whether an import finds nothing, or the chain is too short to be a question."""
    files = {f"{values[f'modules_{at}']}.py": values[f"text_{at}"] for at in range(5)}
    try:
        places = [bound(files, path.removesuffix(".py")) for path in files]
    except KeyError:
        return True
    place = places[0][values["f0"]]
    return not isinstance(place, tuple) or place[0] in list(files)[:2]


TEMPLATE = Template(
    kind=Kind.QA,
    domain="parsing",
    instruction="$ask `${first}.$entry` calls `$f0`. In which file does the def statement stand that is run by this call, and in "
    "which line of the file? Give a pair such as ('${first}.py', 1). Write it as a Python literal: the function in answer.py must "
    "return it.",
    parameters={
        "modules": drawn(lambda rng: {str(at): one for at, one in enumerate(rng.sample(MODULES, 5))}),
        **{f"f{at}": name("verb", "quality", "text") for at in range(4)},
        "entry": name("parse", "things"),
        "flag": one_of("STRICT", "FAST", "LEGACY", "DEBUG", "PLAIN", "COMPACT"),
        "part": words("text", 1),
        "note": words("quality", 1),
        "seed": integers(0, 10**9),
        "ask": one_of(
            "Somebody mended a function, and nothing changed, for there are several of that name.",
            "A breakpoint was set in the wrong place.",
            "The parser has grown over the years, and its names are handed on from module to module.",
            "I cannot find the code behind a name.",
        ),
    },
    derive=lambda v: _modules({**v, "part": v["part_0"]}),
    where=lambda values: not _broken(values),
    files={f"${{modules_{at}}}.py": f'"""Reading texts, part {at + 1}."""\n\n${{text_{at}}}\n' for at in range(5)},
    ask=lambda files, values: bound(files, values["first"])[values["f0"]],
    thoughts="Each import leads to the next module, where the binding of the name that comes last in the file counts.",
)
