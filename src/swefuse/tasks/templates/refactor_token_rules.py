"""Rules of a small reader for texts that walk through characters and cases by hand."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, drawn, name, one_of, rows
from swefuse.tasks.templates._parts import ASKS, CALL_GAPS, case, nouns

_NAMES = {
    "+": "plus", "-": "minus", "*": "times", "/": "over", "(": "open", ")": "close", ",": "comma", ":": "colon", "=": "equals",
    "<": "less", ">": "more", "!": "bang", "&": "and", "|": "bar", "@": "at", "%": "percent", "[": "begin", "]": "end",
}  # fmt: skip


def _signs(rng: random.Random) -> dict[str, str]:
    chosen = rng.sample(sorted(_NAMES), 6)
    return {str(at): sign for at, sign in enumerate(chosen)} | {f"n{at}": _NAMES[sign] for at, sign in enumerate(chosen)}


_CLASS = case(
    ['("$signs_0",)', '("$signs_5",)', '("7",)', '("x",)', '("$signs_2",)', '("  ",)'],
    smell="There is a branch for each single sign, and more signs are to come.",
    why="Most branches pair one sign with its name: a dictionary holds those, and only the classes of characters need a condition.",
    head='def $func(text):\n    """Class of one character of a $noun_0: the name of a sign, digit, space or other."""',
    bad="""
        if text == "$signs_0":
            return "$signs_n0"
        elif text == "$signs_1":
            return "$signs_n1"
        elif text == "$signs_2":
            return "$signs_n2"
        elif text == "$signs_3":
            return "$signs_n3"
        elif text == "$signs_4":
            return "$signs_n4"
        elif text.isdigit():
            return "digit"
        elif text.isspace():
            return "space"
        else:
            return "other"
    """,
    before="""
        $constant = {
            "$signs_0": "$signs_n0",
            "$signs_1": "$signs_n1",
            "$signs_2": "$signs_n2",
            "$signs_3": "$signs_n3",
            "$signs_4": "$signs_n4",
        }
    """,
    good="""
        if text.isdigit():
            return "digit"
        if text.isspace():
            return "space"
        return $constant.get(text, "other")
    """,
    tests='assert [one.kind for one in $reader("4$signs_1 ")] == ["digit", "$signs_n1", "space"]',
)
_NAME = case(
    ['("$noun_1",)', '("${noun_1}$signs_0",)', '("4$noun_2",)', '("_",)', '("",)', '("$noun_0 $noun_1",)'],
    smell="Two flags are set and asked in turns while it goes through the text.",
    why="The loop asks the same of each character and the first must not be a digit; any flag is done away with by all().",
    head='def $func(text):\n    """Class of a word of a $noun_0: name (letters, digits and _, no digit first), empty or other."""',
    bad="""
        good = True
        first = True
        for sign in text:
            if first:
                if sign.isdigit():
                    good = False
                first = False
            if sign.isalnum() == False:
                if sign != "_":
                    good = False
        if first:
            return "empty"
        else:
            if good == True:
                return "name"
            return "other"
    """,
    good="""
        if not text:
            return "empty"
        fits = not text[0].isdigit() and all(sign.isalnum() or sign == "_" for sign in text)
        return "name" if fits else "other"
    """,
    tests='assert [one.kind for one in $reader("a$signs_1")] == ["name", "other"]',
)
_SWITCH = case(
    ['("yes",)', '("$noun_1",)', '("OFF",)', '(" on ",)', '("0",)', '("$noun_0",)'],
    smell="The words that mean the same are spread over many conditions.",
    why="Only membership in two groups of words is asked, so that two lookups do.",
    head='def $func(text):\n    """What a word means for a switch of a $noun_0: on, off or unknown, in any case."""',
    bad="""
        word = text.strip().lower()
        result = "unknown"
        if word == "yes":
            result = "on"
        if word == "on":
            result = "on"
        if word == "1" or word == "$noun_1":
            result = "on"
        if word == "no":
            result = "off"
        if result != "on":
            if word == "off" or word == "0":
                result = "off"
        return result
    """,
    good="""
        word = text.strip().lower()
        if word in ("yes", "on", "1", "$noun_1"):
            return "on"
        return "off" if word in ("no", "off", "0") else "unknown"
    """,
    tests='assert [one.kind for one in $reader("1x0")] == ["on", "unknown", "off"]',
)
_QUOTED = case(
    ["(\"'$noun_1'\",)", "('\"$noun_2\"',)", '("\'$noun_0",)', "('$noun_0',)", "('',)", "('\"',)"],
    smell="The conditions are nested deeply, and the same three answers stand in them again and again.",
    why="All inner branches end in the same answers, so that the conditions for a quoted text can be joined in one.",
    head='def $func(text):\n    """Class of a part of a $noun_0: quoted (in equal marks), half (only one mark) or bare."""',
    bad="""
        if len(text) >= 2:
            if text[0] == "'":
                if text[-1] == "'":
                    return "quoted"
                else:
                    return "half"
            elif text[0] == '"':
                if text[-1] == '"':
                    return "quoted"
                else:
                    return "half"
            else:
                return "bare"
        elif text == "'":
            return "half"
        elif text == '"':
            return "half"
        return "bare"
    """,
    good="""
        if not text.startswith(("'", '"')):
            return "bare"
        return "quoted" if len(text) >= 2 and text[0] == text[-1] else "half"
    """,
    tests='assert [one.kind for one in $reader("\'a")] == ["half", "bare"]',
)
TEMPLATE = Template(
    kind=Kind.REFACTOR,
    domain="parsing",
    instruction="$ask",
    parameters={
        "ask": ASKS,
        "case": rows(_CLASS, _NAME, _SWITCH, _QUOTED),
        "module": one_of("tokens", "lexer", "reader", "scanner", "grammar", "lines", "syntax", "parts"),
        "func": name("text", "of", "thing"),
        "reader": name("verb", "things"),
        "token": class_name("quality", "thing", "token"),
        "table": name("quality", "texts"),
        "place": name("text", "index"),
        "noun": nouns(3),
        "signs": drawn(_signs),
    },
    derive=lambda v: {"smell": v["case_smell"], "constant": v["table"].upper()},
    files={
        "$module.py": '''
            """Reads the text of a $noun_0 piece by piece."""


            $case_bad


            class $token:
                """A piece of a $noun_0, its class and where it stands."""

                def __init__(self, $noun_1, kind, $place):
                    self.$noun_1 = $noun_1
                    self.kind = kind
                    self.$place = $place


            def $reader($noun_0):
                """A token for each character."""
                found = []
                for $place, $noun_1 in enumerate($noun_0):
                    found.append($token($noun_1, $func($noun_1), $place))
                return found
        ''',
    },
    repair={"case_bad": "$case_good"},
    tests={
        "test_$module.py": """
            from $module import $reader


            def test_the_kinds_of_${reader}():
                $case_tests


            def test_places_are_counted_from_0():
                assert [one.$place for one in $reader("ab")] == [0, 1]
        """,
    },
    entry="$module.py:$func",
    calls=CALL_GAPS,
    goal={"function": "$module.py:$func"},
    thoughts="$case_why",
)
