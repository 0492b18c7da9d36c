"""The reader of a small format is missing: of durations, ranges or pairs."""

from textwrap import dedent

from swefuse.records import Kind
from swefuse.tasks.template import Template, integers, one_of, rows, words


def _row(call: str, reads: str, constant: str, why: str, text: str) -> dict[str, str]:
    doc, body, good, bad = (part.strip("\n") for part in dedent(text).split("---\n"))
    return {
        "call": call,
        "reads": reads,
        "constant": constant,
        "why": why,
        "doc": f'"""{doc}\n"""',
        "body": body,
        "good": good,
        "bad": bad,
    }


FORMATS = (
    _row("duration", "durations", 'UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}',
         "I take pairs of number and unit from the front and remember the last unit, as each must be smaller.", """
        Seconds of a duration such as `2h 15m`: whole numbers, each with one of UNITS, the larger units first.

        No unit may come twice; spaces may stand between the pairs and at both ends. Raises $error for anything else.
        ---
        $left = text.strip()
        total, $before = 0, None
        while $left:
            found = re.match(r"(\\d+)([a-z]+)\\s*", $left)
            if found is None or found[2] not in UNITS:
                raise $error(f"no $noun duration: {text!r}")
            scale = UNITS[found[2]]
            if $before is not None and scale >= $before:
                raise $error(f"units out of order: {text!r}")
            total, $before, $left = total + int(found[1]) * scale, scale, $left[found.end():]
        if $before is None:
            raise $error("an empty $noun duration")
        return total
        ---
        ("${n}h", $n * 3600), ("2m${n}s", 120 + $n), (" 1d 3h  ${k}s ", 97200 + $k), ("0s", 0), ("${k}d", $k * 86400),
        ---
        "", "  ", "$n", "h", "5m 2h", "1s1s", "3 h", "2x", "1h,2m", "-1h",
    """),
    _row("ranges", "numbers", "LIMIT = 500",
         "A set takes care of numbers that come twice; each part is one number or two.", """
        The numbers that `3,7-9` names, ascending and each once. Ends of a range may come in either order.

        Spaces are allowed around numbers. Raises $error for an empty part, and for anything that is no
        number or above LIMIT.
        ---
        $left = set()
        for part in text.split(","):
            $before = [end.strip() for end in part.split("-")]
            if len($before) > 2 or not all(end.isdecimal() for end in $before):
                raise $error(f"no range of $noun numbers: {part!r}")
            low, high = sorted((int($before[0]), int($before[-1])))
            if high > LIMIT:
                raise $error(f"no $noun number above {LIMIT}: {part!r}")
            $left.update(range(low, high + 1))
        return sorted($left)
        ---
        ("$n", [$n]), ("4 - 2, 3", [2, 3, 4]), ("$k,1", sorted({1, $k})), ("7,7,6-7", [6, 7]), ("500", [500]), ("0-0", [0]),
        ---
        "", ",", "1,", "a", "1-2-3", "-4", "501", "$n-600", "1 2",
    """),
    _row("pairs", "pairs", "",
         "Splitting at semicolons would cut quoted ones, so one pair after the other is matched from the front.", """
        Key -> value of `size=4; name='a; b'`: pairs split by semicolons, values bare or in single quotes.

        Within quotes a semicolon is text, and two quotes stand for one. Spaces around keys and values go. An
        empty text has no pairs. Raises $error for a key that comes twice or is empty, for a part
        without `=`, and for a quote that is not closed.
        ---
        found, $left = {}, text.strip()
        while $left:
            $before = re.match(r"\\s*(\\w+)\\s*=\\s*('(?:[^']|'')*'|[^;']*)\\s*(?:;|$$)", $left)
            if $before is None or $before[1] in found:
                raise $error(f"no pair of the $noun: {$left!r}")
            value = $before[2].strip()
            found[$before[1]] = value[1:-1].replace("''", "'") if value.startswith("'") else value
            $left = $left[$before.end():]
        return found
        ---
        ("", {}), ("$noun=$n", {"$noun": "$n"}), ("a = 1 ;b='x; y'", {"a": "1", "b": "x; y"}), ("q='it''s'", {"q": "it's"}),
        ("k=;l=$k;", {"k": "", "l": "$k"}), ("o=''", {"o": ""}), ("w= two words ", {"w": "two words"}),
        ---
        "a", "=1", "a=1;a=2", "a='x", "a=1;;b=2", "a='x'y",
    """),
)  # fmt: skip

TEMPLATE = Template(
    kind=Kind.COMPLETE,
    domain="parsing",
    instruction="$ask",
    parameters={
        "what": rows(*FORMATS),
        "nouns": words("thing", 2),
        "module": one_of("${noun}_${what_call}", "read_${what_call}", "${noun}_text", "formats", "parsing"),
        "error": one_of("FormatError", "${Noun}Error", "BadText", "${Noun}FormatError", "NotReadable"),
        "parse": one_of("parse_${what_call}", "read_${what_call}", "${noun}_${what_call}", "to_${what_call}", "parse_${noun}"),
        "each": one_of("read_all", "read_${noun}_lines", "parse_lines", "load_${noun}_text", "from_lines"),
        "problems": one_of("problems", "rejected", "bad", "faults", "${noun}_errors"),
        "left": one_of("left", "rest", "remaining", "todo", "${noun}_rest"),
        "before": one_of("before", "last", "part_found", "previous"),
        "n": integers(2, 23),
        "k": integers(24, 59),
        "mark": one_of("#", "//", ";", "%"),
        "ask": one_of(
            "`$parse` in `$module.py` is not written yet. Its docstring says what it reads; `$each` relies on it.",
            "Please write `$parse` ($module.py), which reads the $what_reads of each $noun, as its docstring describes.",
            "Reading a $nouns_1 file fails because `$parse` in `$module.py` has no body. Write it.",
        ),
    },
    where=lambda v: "test" not in v.values(),
    derive=lambda v: {"noun": v["nouns_0"], "Noun": v["nouns_0"].title(), "body": "raise NotImplemented" + "Error"},
    files={
        "$module.py": '''
            """Reads the $what_reads of each $noun from text."""

            import re

            BLANK = re.compile(r"\\s*($mark.*)?")
            $what_constant


            class $error(ValueError):
                """A text about one $noun does not have the form that is expected."""


            def $parse(text):
                $what_doc
                $body


            def $each(text):
                """The $what_reads of all lines, and the numbers of bad ones; comments begin with `$mark`."""
                found, $problems = [], []
                for number, line in enumerate(text.splitlines(), start=1):
                    if BLANK.fullmatch(line):
                        continue
                    try:
                        found.append($parse(line))
                    except $error:
                        $problems.append(number)
                return found, $problems
        ''',
    },
    repair={"body": "$what_body"},
    tests={
        "test_$module.py": """
            import pytest

            from $module import $each, $error, $parse

            GOOD = [
                $what_good
            ]
            BAD = [
                $what_bad
            ]


            @pytest.mark.parametrize(("text", "value"), GOOD)
            def test_value(text, value):
                assert $parse(text) == value


            @pytest.mark.parametrize("text", BAD)
            def test_refused(text):
                with pytest.raises($error):
                    $parse(text)


            def test_lines():
                text, value = GOOD[1]
                assert $each(f"$mark {text}\\n\\n{text}\\n{BAD[-1]}\\n") == ([value], [4])
        """,
    },
    thoughts="$what_why",
)
