"""The reader of a command line is missing; its docstring says what options there are and what is an error."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, integers, one_of, rows, words

KINDS = (
    {
        "doc": "a whole number of at least 1",
        "read": "if not value.isdecimal() or int(value) < 1:\n    raise $usage(f\"--$number: {value!r} is too small\")\n"
        "found.$number = int(value)",
        "good": '("$n", $n), ("007", 7)', "bad": '"0", "-3", "2.5", "many", ""',
    },
    {
        "doc": "a share between 0 and 100, such as `$n%`, kept as a number without the sign,",
        "read": "share = value.removesuffix(\"%\")\nif not value.endswith(\"%\") or not share.isdecimal() or int(share) > 100:\n"
        "    raise $usage(f\"--$number: {value!r} is no share\")\nfound.$number = int(share)",
        "good": '("$n%", $n), ("0%", 0), ("100%", 100)', "bad": '"101%", "5", "%", "-1%", "2%%"',
    },
    {
        "doc": "a size, that is a whole number that `k` (1024) or `m` (1024 k) may follow,",
        "read": "scale = {\"k\": 1024, \"m\": 1024 * 1024}.get(value[-1:], 1)\ndigits = value[:-1] if scale > 1 else value\n"
        "if not digits.isdecimal():\n    raise $usage(f\"--$number: {value!r} is no size\")\nfound.$number = int(digits) * scale",
        "good": '("$n", $n), ("2k", 2048), ("${n}m", $n * 1048576)', "bad": '"k", "2g", "1.5k", "", "k2", "-1"',
    },
    {
        "doc": "a time of day `HH:MM`, kept as minutes since midnight,",
        "read": "hours, colon, minutes = value.partition(\":\")\n"
        "if not (hours.isdecimal() and minutes.isdecimal() and len(minutes) == 2):\n"
        "    raise $usage(f\"--$number: {value!r} is no time\")\nif int(hours) > 23 or int(minutes) > 59:\n"
        "    raise $usage(f\"--$number: there is no time {value}\")\nfound.$number = int(hours) * 60 + int(minutes)",
        "good": '("00:$n", $n), ("7:05", 425), ("23:59", 1439)', "bad": '"24:00", "12:60", "12", "1:2", ":30", "1:2:3"',
    },
)  # fmt: skip
TWICE = (
    {"doc": "If an option is given twice, the last one counts.", "start": "", "check": "", "want": "found.$choice == $CHOICES[1]"},
    {
        "doc": "An option with a value must not be given twice.",
        "start": "given = set()",
        "check": "if name in given:\n    raise $usage(f\"{name} is given twice\")\ngiven.add(name)",
        "want": "found is None",
    },
)  # fmt: skip
COUNTS = (
    {"doc": "At least one of the $paths must be given.", "few": "True", "many": "False",
     "check": 'if not found.$paths:\n    raise $usage("no $paths are given")'},
    {"doc": "There may be no $paths at all, but not more than $max.",
     "check": 'if len(found.$paths) > $max:\n    raise $usage("too many $paths")', "few": "False", "many": "True"},
    {"doc": "If no $paths are given, they are `[\".\"]`.", "check": 'found.$paths = found.$paths or ["."]',
     "few": "False", "many": "False"},
)  # fmt: skip

TEMPLATE = Template(
    kind=Kind.COMPLETE,
    domain="command lines",
    instruction="$ask",
    parameters={
        "nouns": words("thing", 2),
        "options": words("verb", 2),
        "modes": words("quality", 3),
        "module": one_of("arguments", "${noun}_cli", "command", "options", "${noun}_command"),
        "usage": one_of("UsageError", "BadArguments", "CommandError", "${Noun}UsageError", "WrongUse"),
        "options_class": one_of("Options", "${Noun}Options", "Settings", "${Noun}Arguments", "Choices"),
        "parse": one_of("parse", "read_arguments", "parse_arguments", "${noun}_options", "from_arguments"),
        "main": one_of("main", "run", "${noun}_main", "check_command"),
        "number": words("number", 1),
        "choice_name": one_of("mode", "style", "format", "order", "${other}_mode"),
        "paths": one_of("paths", "files", "folders", "places", "sources"),
        "kind": rows(*KINDS),
        "twice": rows(*TWICE),
        "counts": rows(*COUNTS),
        "n": integers(10, 59),
        "max": integers(2, 4),
        "default": integers(1, 9),
        "ask": one_of(
            "Write `$parse` in `$module.py`; its docstring says what the command line of our $noun tool looks like.",
            "The command for $noun $paths cannot be started, because `$parse` ($module.py) has no body yet. Please write it.",
            "`$main` needs `$parse` to read its arguments. It is still missing in `$module.py`; do not use argparse's own exit.",
        ),
    },
    where=lambda v: v["nouns_0"] != "test" and len({v["number_0"], v["choice_name"], v["paths"], v["options_0"]}) == 4,
    derive=lambda v: {
        "noun": v["nouns_0"],
        "other": v["nouns_1"],
        "Noun": v["nouns_0"].title(),
        "flag": v["options_0"],
        "letter": v["options_0"][0],
        "number": v["number_0"],
        "choice": v["choice_name"],
        "CHOICES": v["choice_name"].replace("${other}", v["nouns_1"]).upper() + "S",
        "body": "raise NotImplemented" + "Error",
    },
    files={
        "$module.py": '''
            """The command line of the $noun tool."""

            from dataclasses import dataclass, field

            $CHOICES = ("$modes_0", "$modes_1", "$modes_2")


            class $usage(ValueError):
                """The command line cannot be understood."""


            @dataclass
            class $options_class:
                """What the command line says."""

                $flag: bool = False
                $number: int = $default
                $choice: str = $CHOICES[0]
                $paths: list[str] = field(default_factory=list)


            def $parse(arguments):
                """The options that a list of arguments stands for; the list stays as it is.

                `--$flag` or `-$letter` is a switch. `--$number` takes $kind_doc
                and `--$choice` one of $CHOICES. Their value is the next argument, or follows a `=`.
                $twice_doc

                All else belongs to the $paths, `-` too, and whatever comes after `--`. $counts_doc
                Unknown options, a switch with a value and values that are missing or wrong raise $usage.
                """
                $body


            def $main(arguments, write=print):
                """Run the command; gives its exit status."""
                try:
                    options = $parse(arguments)
                except $usage as error:
                    write(f"$noun: {error}")
                    return 2
                for place in options.$paths:
                    write(f"{options.$choice} {place}")
                return 0
        ''',
    },
    repair={
        "body": "found, rest = $options_class(), iter(arguments)\n$twice_start\nfor argument in rest:\n"
        '    if argument == "--":\n        found.$paths.extend(rest)\n        break\n'
        '    if argument == "-" or not argument.startswith("-"):\n        found.$paths.append(argument)\n        continue\n'
        '    name, sign, value = argument.partition("=")\n'
        '    if argument in ("--$flag", "-$letter"):\n        found.$flag = True\n        continue\n'
        '    if name not in ("--$number", "--$choice"):\n        raise $usage(f"unknown option {argument}")\n'
        "    $twice_check\n    value = value if sign else next(rest, None)\n"
        '    if value is None:\n        raise $usage(f"{name} needs a value")\n'
        '    if name == "--$choice":\n        if value not in $CHOICES:\n            raise $usage(f"{name}: unknown {value!r}")\n'
        "        found.$choice = value\n    else:\n        $kind_read\n$counts_check\nreturn found",
    },
    tests={
        "test_$module.py": """
            import pytest

            from $module import $CHOICES, $main, $options_class, $parse, $usage


            def read(*arguments):
                try:
                    return $parse(list(arguments))
                except $usage:
                    return None


            def test_defaults_and_switches():
                assert read("a") == $options_class($paths=["a"])
                assert read("--$flag", "a") == read("a", "-$letter") == $options_class($flag=True, $paths=["a"])


            @pytest.mark.parametrize(("text", "value"), [$kind_good])
            def test_values(text, value):
                for arguments in (["--$number", text, "a"], [f"--$number={text}", "a"]):
                    kept = list(arguments)
                    assert $parse(arguments).$number == value
                    assert arguments == kept


            @pytest.mark.parametrize("text", [$kind_bad])
            def test_wrong_values(text):
                assert read(f"--$number={text}", "a") is None


            @pytest.mark.parametrize("arguments", [
                ["--other"], ["-?"], ["--$choice=none"], ["--$number"], ["--$choice"], ["--$flag=1"], ["--$choice="],
            ])
            def test_wrong_options(arguments):
                assert read("a", *arguments) is None


            def test_an_option_that_comes_twice():
                found = read("a", "--$choice", $CHOICES[2], f"--$choice={$CHOICES[1]}")
                assert $twice_want


            def test_how_many():
                assert read("-", "--", "--$flag").$paths == ["-", "--$flag"]
                assert (read() is None) is $counts_few
                assert (read(*"abcde") is None) is $counts_many
                assert read() is None or read().$paths in ([], ["."])


            def test_the_command():
                lines = []
                assert $main(["--$choice=$modes_2", "x"], lines.append) == 0
                assert $main(["--what"], lines.append) == 2
                assert lines[0] == "$modes_2 x"
                assert lines[1].startswith("$noun: ")
        """,
    },
    thoughts="I go through the arguments once: what follows `--`, plain words, the switch, then options with a value.",
)
