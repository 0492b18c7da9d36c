"""A small command line whose dispatch, options and exit codes are chains of conditions."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, integers, name, one_of, rows
from swefuse.tasks.templates._parts import ASKS, CALL_GAPS, case, nouns

_DISPATCH = case(
    ['(["$one", "a"],)', '(["$two", "a", "bc"],)', '(["$three"],)', "([],)", '(["$one"],)', '(["help", "x"],)'],
    smell="Each command is one more branch that repeats the checks of the others.",
    why="All commands are checked and called alike, so that a table of them does with one check.",
    head='def $func(words):\n    """Run the command that the first word names on the others; a text for people."""',
    bad="""
        if len(words) == 0:
            return "usage: $program COMMAND ${noun_1}..."
        if words[0] == "$one":
            if len(words) < 2:
                return "$one: no $noun_1"
            return _$one(words[1:])
        elif words[0] == "$two":
            if len(words) < 2:
                return "$two: no $noun_1"
            return _$two(words[1:])
        elif words[0] == "$three":
            if len(words) < 2:
                return "$three: no $noun_1"
            return _$three(words[1:])
        else:
            return f"unknown: {words[0]}"
    """,
    before='$constant = {"$one": _$one, "$two": _$two, "$three": _$three}',
    good="""
        if not words:
            return "usage: $program COMMAND ${noun_1}..."
        command, *rest = words
        if command not in $constant:
            return f"unknown: {command}"
        return $constant[command](rest) if rest else f"{command}: no $noun_1"
    """,
    use='$func(["$two", "ab", "c"])',
    want='"$two 3"',
)
_OPTIONS = case(
    [
        '(["--$noun_2", "-v"],)',
        '(["-q", "$noun_1"],)',
        '(["--verbose", "--verbose"],)',
        "([],)",
        '(["-x"],)',
        '(["$noun_1", "-n"],)',
    ],
    smell="Short and long forms of each option have branches of their own.",
    why="Every branch only marks a name as given, so that a table from the forms to the names is enough.",
    head='def $func(words):\n    """Which switches are on; -v, -q and -n are short for verbose, quiet and $noun_2."""',
    bad="""
        found = {"verbose": False, "quiet": False, "$noun_2": False}
        for word in words:
            if word == "-v":
                found["verbose"] = True
            elif word == "--verbose":
                found["verbose"] = True
            elif word == "-q" or word == "--quiet":
                if not found["quiet"]:
                    found["quiet"] = True
            elif word == "-n":
                found["$noun_2"] = True
            elif word == "--$noun_2":
                found["$noun_2"] = True
        return found
    """,
    before='$constant = {"-v": "verbose", "-q": "quiet", "-n": "$noun_2"}',
    good="""
        given = [$constant.get(word, word.removeprefix("--")) for word in words if word.startswith("-")]
        return {switch: switch in given for switch in ("verbose", "quiet", "$noun_2")}
    """,
    use='$func(["$noun_1", "-q"])["quiet"]',
    want="True",
)
_EXIT = case(
    ['(["ok", "warning"], False)', '(["ok"], True)', '(["warning"], True)', '(["failed", "ok"], False)', "([], True)",
     '(["warning", "failed", "skipped"], False)'],
    smell="The worst outcome is worked out by flags, then asked again.",
    why="The exit code is the largest one of the outcomes, and strictness only raises that of a warning.",
    head='def $func(outcomes, strict):\n    """Exit code: $bad once something failed, 1 for warnings if they count, else 0."""',
    bad="""
        failed = False
        warned = False
        for outcome in outcomes:
            if outcome == "failed":
                failed = True
            elif outcome == "warning":
                if not warned:
                    warned = True
        if failed:
            return $bad
        else:
            if warned:
                if strict:
                    return 1
                else:
                    return 0
            else:
                return 0
    """,
    good="""
        if "failed" in outcomes:
            return $bad
        return 1 if strict and "warning" in outcomes else 0
    """,
    use='$func(["$noun_1", "warning"], True)',
    want="1",
)  # fmt: skip
_CHOICE = case(
    ['("json", "csv", {})', '("", "csv", {"$noun_2": "xml"})', '(None, "", {"$noun_2": "xml"})', '(None, None, {})',
     '("", None, {"$noun_2": ""})', '(None, "text", {})'],
    smell="Where a setting comes from is buried under conditions.",
    why="The first value that is neither missing nor empty is taken, which is what `or` gives.",
    head='def $func(given, saved, settings):\n    """Format of the output: option, else saved, else setting, else $noun_0."""',
    bad="""
        chosen = None
        if given is not None:
            if given != "":
                chosen = given
        if chosen is None:
            if saved is not None and saved != "":
                chosen = saved
            elif "$noun_2" in settings:
                if settings["$noun_2"] != "":
                    chosen = settings["$noun_2"]
        if chosen is None:
            chosen = "$noun_0"
        return chosen
    """,
    good='return given or saved or settings.get("$noun_2") or "$noun_0"',
    use='$func(None, "", {})',
    want='"$noun_0"',
)  # fmt: skip
TEMPLATE = Template(
    kind=Kind.REFACTOR,
    domain="command lines",
    instruction="$ask",
    parameters={
        "ask": ASKS,
        "case": rows(_DISPATCH, _OPTIONS, _EXIT, _CHOICE),
        "module": one_of("commands", "shell", "console", "main", "terminal", "options", "cli", "prompt"),
        "func": name("verb", "quality", "words"),
        "one": name("verb", "thing"),
        "two": name("verb", "things"),
        "three": name("verb", "text"),
        "table": name("quality", "texts"),
        "check": name("verb", "itself"),
        "program": name("thing", "helper"),
        "noun": nouns(3),
        "bad": integers(2, 70),
    },
    derive=lambda v: {"smell": v["case_smell"], "constant": v["table"].upper()},
    files={
        "$module.py": '''
            """$program: works on each $noun_0 by its $noun_1."""


            def _$one($noun_1):
                return "$one " + ", ".join(sorted($noun_1))


            def _$two($noun_1):
                return f"$two {sum(map(len, $noun_1))}"


            def _$three($noun_1):
                return f"$three {max($noun_1)}"


            $case_bad


            def $check():
                """What the rule says about a plain $noun_0, shown by --$noun_2."""
                return $case_use
        ''',
    },
    repair={"case_bad": "$case_good"},
    tests={
        "test_$module.py": """
            from $module import $check


            def test_$check():
                assert $check() == $case_want
        """,
    },
    entry="$module.py:$func",
    calls=CALL_GAPS,
    goal={"function": "$module.py:$func"},
    thoughts="$case_why",
)
