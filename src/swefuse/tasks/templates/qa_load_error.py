"""Which exception leaves a function that reads a file of settings and translates some of the errors on the way."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, integers, name, one_of, rows, words

TREE = '''
def $find($path):
    """The text of a file of a tree of folders."""
    $node = $tree
    for part in $path.split("/"):
        if not isinstance($node, dict):
            raise NotADirectoryError($path)
        if part not in $node:
            raise FileNotFoundError($path)
        $node = $node[part]
    if isinstance($node, dict):
        raise IsADirectoryError($path)
    return $node
'''
LOCKED = '''
def $find($path):
    """The text of a file of a tree of folders; None stands for one that is locked."""
    $node = $tree
    *folders, last = $path.split("/")
    for part in folders:
        $node = $node[part]
    if $node.get(last, "") is None:
        raise PermissionError($path)
    return $node[last]
'''
NEW = ["RuntimeError", "LookupError", "ValueError", "ArithmeticError", "TypeError", "AssertionError", "EOFError", "BufferError"]
SAID = ["cannot be read", "no such setting", "damaged file", "not for us", "wrong numbers", "incomplete", "$reason"]
CAUGHT = [
    "LookupError", "OSError", "ValueError", "ArithmeticError", "TypeError", "KeyError", "FileNotFoundError",
    "(AttributeError, TypeError)", "(KeyError, ZeroDivisionError)", "(IndexError, OSError)", "IsADirectoryError",
]  # fmt: skip


def _clauses(rng: random.Random, count: int) -> str:
    """Some except clauses: each translates an error, or lets it through."""
    found = []
    through = rng.randrange(2 * count)
    for at, caught in enumerate(rng.sample(CAUGHT, count)):
        action = "raise" if at == through else f'raise {rng.choice(NEW)}(f"{rng.choice(SAID)}: {{$path}}") from error'
        found.append(f"except {caught}{' as error' if 'error' in action else ''}:\n    {action}")
    return "\n".join(found)


def _world(values: Values) -> Values:
    """A tree of files that are wrong in different ways, the clauses of both modules, and what is asked for."""
    rng = random.Random(values["seed"])
    names = [values[f"names_{at}"] for at in range(6)]
    texts = ["size=x", "size=4;step=0", f"{values['key']}=7", "", "size=9;step=2;at=12", "step=2;at=1"]
    inside: dict[str, object] = dict(zip(names[1:4], rng.sample(texts, 3), strict=True))
    inside[names[4]] = rng.choice([None, {names[5]: "size=1"}])
    tree = {names[0]: inside, names[5]: rng.choice(texts)}
    asked = rng.choice([*(f"{names[0]}/{one}" for one in names[1:6]), f"{names[1]}/{names[2]}", names[0], f"{names[5]}/{names[1]}"])
    return {"inner": _clauses(rng, 3), "outer": _clauses(rng, 4), "world": tree, "asked": repr(asked)}


TEMPLATE = Template(
    kind=Kind.QA,
    domain="files",
    instruction="$ask `$load($asked)` of $outside.py? It does end with one. Give the name of its class alone, not that of a base "
    "class or of its cause. Write it as a Python literal, a string: the function in answer.py must return it.",
    parameters={
        "inside": one_of("tree", "disk", "drive", "archive", "vault", "shelf_files"),
        "outside": one_of("loader", "settings", "startup", "config", "reader", "boot"),
        "load": name("load", "thing", "settings"),
        "find": name("read", "quality", "file"),
        "parse": name("parse", "things"),
        "path": one_of("path", "where", "place", "target"),
        "node": one_of("node", "here", "at", "folder", "current"),
        "tree": one_of("TREE", "FILES", "DISK", "ROOT", "CONTENT"),
        "key": one_of("width", "depth", "pages", "retries", "level"),
        "reason": one_of("not usable", "refused", "out of order", "useless"),
        "values": words("list", 1),
        "names": words("thing", 6),
        "seed": integers(0, 10**9),
        "ask": one_of(
            "The process stops at a file. Which exception comes out of",
            "Somebody wants to catch the right exception. Which one leaves",
            "Which exception does a caller get from",
        ),
        "shape": rows({"find": TREE.strip()}, {"find": LOCKED.strip()}),
        "use": rows(
            {"code": 'return $values_0["size"] % $values_0["step"], [0, 1, 2][$values_0["at"]]'},
            {"code": 'return list(range(20))[$values_0["at"] * $values_0["step"]] // ($values_0["size"] - 9)'},
            {"code": 'return $values_0.get("size") + 1, "abc"[$values_0["at"] // $values_0.get("step")]'},
        ),
    },
    derive=_world,
    files={
        "$inside.py": '''
            """Files that are held in memory."""

            $tree = $world


            $shape_find


            def $parse($path):
                """The settings of a file as numbers."""
                try:
                    pairs = [part.split("=") for part in $find($path).split(";")]
                    return {pair[0]: int(pair[1]) for pair in pairs}
                $inner
        ''',
        "$outside.py": '''
            """Settings at the start of a process."""

            from $inside import $parse


            def $load($path):
                """What the settings of a file come to."""
                try:
                    $values_0 = $parse($path)
                    $use_code
                $outer
        ''',
    },
    entry="$outside.py:$load",
    calls=["($asked,)"],
    thoughts="The first error must be found, and then which clause of which module catches its class or a base class of it.",
)
