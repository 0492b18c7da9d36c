"""Who calls a function of a small data pipeline: at once or by way of others, with aliases and methods of the same name."""

import ast
import random
from collections.abc import Mapping

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, drawn, integers, name, one_of, rows, words

CALLS = [
    "return sorted({call}({rows}), key=str)",
    "kept = []\nfor one in {rows}:\n    kept.extend({call}([one]))\nreturn kept",
    "return [one for one in {call}({rows}) if one]",
    "found = {call}({rows})\nreturn found or list({rows})",
    "if not {rows}:\n    return []\nreturn {call}({rows}[1:]) + {rows}[:1]",
    "try:\n    return {call}({rows})\nexcept (KeyError, TypeError):\n    return []",
    "with_numbers = enumerate({call}({rows}), {number})\nreturn [one for at, one in with_numbers if at % 2]",
]
OTHERS = [
    "return [one for one in {rows} if one is not None][:{number}]",
    "return list(dict.fromkeys({rows}))",
    "return [str(one).strip() for one in {rows}]",
    "half = len({rows}) // {number}\nreturn {rows}[half:] + {rows}[:half]",
]
PASSED = [
    "return ({call}, {number}), {rows}",
    "steps = [sorted, {call}]\nreturn steps, {rows}",
    "return dict(step={call}, rows={rows})",
]
MODULES = ["clean", "shape", "merge", "rank", "loading", "enrich", "export", "tables", "checks", "joins", "groups", "output"]
METHOD = "return source.{name}({rows})"


def _modules(values: Values) -> Values:
    """Three modules of functions; each calls only some that stand before it, so that imports go one way."""
    rng = random.Random(values["seed"])
    modules = [values[f"modules_{at}"] for at in range(3)]
    names = [values["target"], *(values[f"f{at}"] for at in range(9))]
    home = {one: modules[min(2, at * 3 // len(names))] for at, one in enumerate(names)}
    styles = {(here, there): rng.choice(["plain", "plain", "alias", "module"]) for here in modules for there in modules}
    imports: dict[str, set[str]] = {one: set() for one in modules}
    bodies: dict[str, list[str]] = {one: [] for one in modules}
    for at, one in enumerate(names):
        here = home[one]
        called = names[0] if at and rng.random() < 0.3 else rng.choice(names[:at] or names)
        there, written = home[called], called
        if there != here:
            style = styles[here, there]
            written = {"alias": f"{values['short']}_{called.split('_')[0]}", "module": f"{there}.{called}"}.get(style, called)
            line = f"import {there}" if style == "module" else f"from {there} import {called}"
        shape = rng.choice([CALLS, CALLS, CALLS, PASSED, [METHOD]]) if at else OTHERS
        if at and rng.random() < 0.12:
            shape = OTHERS
        body, more = rng.choice(shape), ", source=None" if shape == [METHOD] else ""
        if there != here and "{call}" in body:
            imports[here].add(line + (f" as {written}" if styles[here, there] == "alias" else ""))
        body = body.format(call=written, rows=values["rows_0"], number=rng.randint(2, 9), name=names[0])
        text = "".join(f"    {part}\n" for part in body.split("\n"))
        bodies[here].append(f"def {one}({values['rows_0']}{more}):\n{text}")
    heads = ["\n".join([*sorted(imports[one]), "\n\n" if imports[one] else "\n"]) for one in modules]
    return {f"text_{at}": heads[at] + "\n\n".join(bodies[one]).rstrip() for at, one in enumerate(modules)}


def callers(files: Mapping[str, str], module: str, target: str, far: bool = False) -> list[str]:
    """Functions, as module.name, that call a function of a module: themselves, or (``far``) also by way of others."""
    calls: dict[str, set[str]] = {}
    for path, text in files.items():
        here, known = path.removesuffix(".py"), dict[str, str]()
        tree = ast.parse(text)
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
            elif isinstance(node, ast.FunctionDef):
                known[node.name] = f"{here}.{node.name}"
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                used = [ast.unparse(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)]
                calls[f"{here}.{node.name}"] = {known.get(one, one) for one in used}
    found, last = set[str](), {f"{module}.{target}"}
    while last:
        last = {caller for caller, called in calls.items() if called & last} - found
        found |= last
        if not far:
            break
    return sorted(found)


TEMPLATE = Template(
    kind=Kind.QA,
    domain="data handling",
    instruction="$why `$target` of ${modules_0}.py. Which functions $shape_what? To name it or to hand it on without a call does "
    "not count, and neither does a method of the same name. Give a sorted list of texts such as '${modules_0}.$target'. Write it "
    "as a Python literal: the function in answer.py must return it.",
    parameters={
        "modules": drawn(lambda rng: {str(at): one for at, one in enumerate(rng.sample(MODULES, 3))}),
        "target": name("verb", "things"),
        **{f"f{at}": name("verb", "quality" if at % 2 else "text", "list") for at in range(9)},
        "short": one_of("do", "run", "just", "base", "old"),
        "rows": words("list", 1),
        "seed": integers(0, 10**9),
        "why": one_of(
            "We want to change the result of",
            "A second argument is going to be added to",
            "Before we remove it we must know who needs",
            "There is a slow query behind",
        ),
        "shape": rows({"what": "contain a call of it", "far": ""}, {"what": "call it, themselves or by way of others", "far": "x"}),
    },
    derive=_modules,
    where=lambda v: (
        bool(callers({f"{v[f'modules_{at}']}.py": v[f"text_{at}"] for at in range(3)}, v["modules_0"], v["target"]))
        and v["rows_0"] not in (*(v[f"modules_{at}"] for at in range(3)), "found", "kept", "steps")
    ),
    files={f"${{modules_{at}}}.py": f'"""Steps of a pipeline, part {at + 1}."""\n\n${{text_{at}}}\n' for at in range(3)},
    ask=lambda files, values: callers(files, values["modules_0"], values["target"], bool(values["shape_far"])),
    thoughts="Imports come first: a name only counts where it stands for `${modules_0}.$target`, also under an alias.",
)
