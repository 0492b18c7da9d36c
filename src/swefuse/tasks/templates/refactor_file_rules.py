"""Rules for names and sizes of files, written as ladders of conditions."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, drawn, integers, name, one_of, rows
from swefuse.tasks.templates._parts import ASKS, CALL_GAPS, case, nouns

_SUFFIXES = (
    ".png", ".gif", ".txt", ".md", ".csv", ".json", ".zip", ".gz", ".pdf", ".html", ".css", ".svg", ".wav", ".toml", ".log", ".bak",
)  # fmt: skip


def _chosen(rng: random.Random) -> dict[str, str]:
    return {str(at): suffix for at, suffix in enumerate(rng.sample(_SUFFIXES, 5))}


_SHELF = case(
    ['("a$end_0",)', '("$noun_1$end_3",)', '("B$end_2",)', '("$noun_1.xyz",)', '("$noun_2",)', '("x.y$end_4",)'],
    smell="Whoever adds a suffix has to find the right one of many branches.",
    why="The branches pair suffixes with names of places, which belongs into a table.",
    head='def $func(path):\n    """Where a file of a $noun_0 is kept, by its suffix: ${noun_1}, $noun_2 or rest."""',
    bad="""
        _, dot, end = path.lower().rpartition(".")
        if dot == "":
            return "rest"
        if dot + end == "$end_0":
            return "$noun_1"
        elif dot + end == "$end_1":
            return "$noun_1"
        elif dot + end == "$end_2":
            return "$noun_2"
        elif dot + end == "$end_3" or dot + end == "$end_4":
            return "$noun_2"
        else:
            return "rest"
    """,
    before="""
        $constant = {
            "$end_0": "$noun_1",
            "$end_1": "$noun_1",
            "$end_2": "$noun_2",
            "$end_3": "$noun_2",
            "$end_4": "$noun_2",
        }
    """,
    good="""
        _, dot, end = path.lower().rpartition(".")
        return $constant.get(dot + end if dot else "", "rest")
    """,
    first="a$end_1",
    second="b$end_2",
    use="$func(one)",
    want='["$noun_1", "$noun_2"]',
)
_WANTED = case(
    ['("a$end_0",)', '("b$end_1",)', '(".c$end_0",)', '("$noun_1",)', '("~d$end_2",)', '("",)'],
    smell="Three flags decide, and some of their combinations cannot come about.",
    why="A file is wanted if its start is not one of two and its end is one of three: one expression says it.",
    head='def $func(path):\n    """Whether a file takes part in a $noun_0: not hidden, no copy of an editor, of a known suffix."""',
    bad="""
        hidden = False
        known = False
        for end in ("$end_0", "$end_1", "$end_2"):
            if path.endswith(end):
                known = True
        if path[:1] == ".":
            hidden = True
        else:
            if path[:1] == "~":
                hidden = True
        if (known and not hidden) or (known and not hidden and path != ""):
            return True
        else:
            return False
    """,
    good='return not path.startswith((".", "~")) and path.endswith(("$end_0", "$end_1", "$end_2"))',
    first="a$end_0",
    second="b",
    use="$func(one)",
    want="[True, False]",
)
_SIZE = case(
    ["(0,)", "($base,)", "(${base}00000,)", "($most,)", "(${most}0000000,)", "(${base}000000000,)"],
    smell="Each unit is one more branch with a longer product in it.",
    why="Every branch does the same with the next unit, so that a loop over the units can divide once per round.",
    head='def $func(size):\n    """Size of a $noun_0 for people, in whole units of $base."""',
    bad="""
        if size < $base:
            return f"{size} B"
        else:
            if size < $base * $base:
                return f"{size // $base} K"
            elif size >= $base * $base and size < $base * $base * $base:
                return f"{size // ($base * $base)} M"
            elif size < $base * $base * $base * $base:
                return f"{size // ($base * $base * $base)} G"
            else:
                return f"{size // ($base * $base * $base * $base)} T"
    """,
    good="""
        for unit in "BKMG":
            if size < $base:
                return f"{size} {unit}"
            size //= $base
        return f"{size} T"
    """,
    first="12345",
    second="1234567",
    use="$func(len(one))",
    want='["5 B", "7 B"]',
)
_COMMON = case(
    [
        '("$noun_0/$noun_1/a", "$noun_0/$noun_1/b")',
        '("a/b", "c")',
        '("a/b", "a/b/c")',
        '("", "")',
        '("x/y", "x/y")',
        '("a/a", "b/a")',
    ],
    smell="Two counters and a flag go through both paths.",
    why="Both paths are read side by side until they part; zip does the counting.",
    head='def $func(left, right):\n    """The folders that two paths of a $noun_0 begin with."""',
    bad="""
        one = left.split("/")
        two = right.split("/")
        same = []
        at = 0
        going = True
        while going:
            if at >= len(one):
                going = False
            elif at >= len(two):
                going = False
            else:
                if one[at] == two[at]:
                    same.append(one[at])
                    at = at + 1
                else:
                    going = False
        return "/".join(same)
    """,
    good="""
        same = []
        for one, two in zip(left.split("/"), right.split("/")):
            if one != two:
                break
            same.append(one)
        return "/".join(same)
    """,
    first="$noun_1/a/b",
    second="c",
    use='$func(one, "$noun_1/a")',
    want='["$noun_1/a", ""]',
)
TEMPLATE = Template(
    kind=Kind.REFACTOR,
    domain="files",
    instruction="$ask",
    parameters={
        "ask": ASKS,
        "case": rows(_SHELF, _WANTED, _SIZE, _COMMON),
        "module": one_of("files", "folders", "paths", "shelves", "storage", "archive", "backups", "copies"),
        "func": name("verb", "text"),
        "owner": class_name("quality", "thing", "folder"),
        "paths": name("quality", "list"),
        "adder": name("verb", "thing"),
        "report": name("verb", "quality", "things"),
        "table": name("quality", "texts"),
        "noun": nouns(3),
        "end": drawn(_chosen),
        "base": one_of(1000, 1024, 512, 100),
        "most": integers(3000, 90000),
    },
    derive=lambda v: {"smell": v["case_smell"], "constant": v["table"].upper()},
    files={
        "$module.py": '''
            """The files of each $noun_0, by $noun_1 and $noun_2."""


            $case_bad


            class $owner:
                """A folder for one $noun_0."""

                def __init__(self):
                    self.$paths = []

                def $adder(self, $noun_1):
                    """Take in the path of a $noun_1."""
                    self.$paths.append($noun_1)

                def $report(self):
                    """What the rule says about all paths."""
                    return [$case_use for one in self.$paths]
        ''',
    },
    repair={"case_bad": "$case_good"},
    tests={
        "test_$module.py": """
            from $module import $owner


            def test_${report}_of_two_paths():
                kept = $owner()
                kept.$adder("$case_first")
                kept.$adder("$case_second")
                assert kept.$report() == $case_want
        """,
    },
    entry="$module.py:$func",
    calls=CALL_GAPS,
    goal={"function": "$module.py:$func"},
    thoughts="$case_why",
)
