"""A reader of settings in sections that trips over quotes, comments, repeated sections or its own line numbers."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, one_of, rows, words

GOOD = {
    "pair": '$line.partition("$sep")',
    "lines": "enumerate(text.splitlines(), start=1)",
    "quote": "text[1:-1]",
    "comment": "not $inside and sign == $mark",
    "section": "$settings.setdefault($section, {})",
    "truth": "text.lower() in $yes",
    "default": "text is None",
}
# fmt: off
BUGS = (
    ("pair", '$line.rpartition("$sep")',
     "A value that contains `$sep` itself, such as a link with a query, is cut, and the key is far too long.",
     "A line has to be split at the first separator, not at the last."),
    ("lines", "enumerate(text.splitlines())",
     "The line number in `$error` is always one less than what my editor shows.",
     "Lines are counted from zero, but people and editors count them from one."),
    ("lines", "enumerate((line for line in text.splitlines() if line.strip()), start=1)",
     "When there are empty lines above, `$error` names a line too near to the top.",
     "Empty lines are dropped before lines are numbered, so that those after them get too low a number."),
    ("quote", "text.strip($quotes)",
     'Quotes that belong to a value vanish: `"\'$thing_1\'"` comes out without the inner ones.',
     "strip takes all quotes off both ends, where only the outer pair is to go."),
    ("comment", "sign == $mark",
     "A value in quotes is cut off where it holds `$sign`, although that starts a comment only outside of quotes.",
     "Whether the sign is inside of quotes is kept track of but not asked."),
    ("section", "$settings[$section] = {}",
     "If a section appears twice in a file, its first keys are gone.",
     "A section that was met before is replaced by an empty one."),
    ("truth", "bool(text)",
     "`$flag` says that a switch is on when the file has it `off`.",
     "Any text that is not empty is true, so the words themselves have to be looked at."),
    ("default", "not text",
     "For a switch that is set to nothing, `$flag` gives the default, though it should be off; only absent ones have a default.",
     "An empty text is false as None is, and only None says that the key is absent."),
)
# fmt: on

TEMPLATE = Template(
    kind=Kind.BUGFIX,
    domain="parsing",
    instruction="$bug_complaint $place",
    parameters={
        "thing": words("thing", 3),
        "texts": words("text", 2),
        "module": one_of("settings", "${thing_0}_settings", "options_file", "${thing_0}_config", "reader"),
        "error": one_of("SettingsError", "BadLine", "${Thing}ConfigError", "${Thing}SettingsError", "SyntaxProblem"),
        "parse": one_of("read_settings", "parse", "load_${thing_0}_settings", "parse_${thing_0}_file", "from_text"),
        "clean": one_of("without_comment", "strip_comment", "uncommented", "drop_remark"),
        "bare": one_of("unquote", "without_quotes", "bare_text", "plain_value"),
        "flag": one_of("switch", "is_on", "get_flag", "${thing_0}_switch", "enabled"),
        "settings": one_of("settings", "found", "sections", "${thing_0}_settings", "values"),
        "section": one_of("section", "current", "heading", "block", "group"),
        "head": one_of('$line.startswith("[") and $line.endswith("]")', '$line[:1] == "[" and $line[-1:] == "]"'),
        "line": one_of("line", "row", "content", "entry"),
        "inside": one_of("inside", "quote", "open_quote", "within"),
        "raw": one_of("raw", "original", "whole", "full"),
        "key": one_of("key", "name", "option", "field"),
        "middle": one_of("separator", "middle", "mark", "between"),
        "at": one_of("at", "place", "index", "position"),
        "sep": one_of("=", ":", ":="),
        "sign": one_of("#", ";", "!", "%"),
        "yes": one_of('("yes", "on", "true")', '{"1", "on", "yes"}', '("true", "on", "1")', '{"on", "enabled", "yes"}'),
        "place": one_of(
            "The reader is `$module.py`.",
            "This concerns `$parse` and what it uses in `$module.py`.",
            "Files that were read correctly before must give the same result ($module.py).",
        ),
        "bug": rows(*({**GOOD, place: text, "complaint": said, "why": why} for place, text, said, why in BUGS)),
    },
    where=lambda v: "test" not in v.values(),  # pytest would collect what is named after it
    derive=lambda v: {"Thing": v["thing_0"].title(), "mark": f'"{v["sign"]}"', "quotes": '"\\"\'"'},
    files={
        "$module.py": '''
            """Settings of the $thing_0 service: lines `key $sep value` in sections, comments after `$sign`."""


            class $error(ValueError):
                """A line is neither a section nor a setting."""

                def __init__(self, number, $line):
                    super().__init__(f"line {number}: {$line.strip()!r}")
                    self.number = number


            def $clean($line):
                """A line without its comment; in quotes there is none."""
                $inside = ""
                for $at, sign in enumerate($line):
                    if $bug_comment:
                        return $line[:$at]
                    if sign in $quotes and $inside in ("", sign):
                        $inside = "" if $inside else sign
                return $line


            def $bare(text):
                """A text without the quotes around it."""
                if len(text) >= 2 and text[0] == text[-1] and text[0] in $quotes:
                    return $bug_quote
                return text


            def $parse(text):
                """Section -> $key -> text. Keys before the first section belong to the section ""."""
                $settings = {}
                $section = ""
                for number, $raw in $bug_lines:
                    $line = $clean($raw).strip()
                    if $head:
                        $section = $line[1:-1].strip()
                        $bug_section
                    elif $line:
                        $key, $middle, value = $bug_pair
                        if not $middle:
                            raise $error(number, $raw)
                        $settings.setdefault($section, {})[$key.strip()] = $bare(value.strip())
                return $settings


            def $flag($settings, $section, $key, default=False):
                """Whether a switch is on; ``default`` if it is not there."""
                text = $settings.get($section, {}).get($key)
                if $bug_default:
                    return default
                return $bug_truth
        ''',
    },
    repair={f"bug_{place}": text for place, text in GOOD.items()},
    tests={
        "test_$module.py": """
            import pytest

            from $module import $error, $flag, $parse

            TEXT = '''
            $texts_0 $sep plain $sign a remark
            [$thing_0]
            link $sep http://host/?a=1&b:=2
            $texts_1 $sep "'$thing_1'"
            marked $sep "one $sign two"
            [$thing_2]
            fast $sep on
            slow $sep off
            void $sep
            [$thing_0]
            more $sep 'it is "so"'
            '''


            def test_all_values():
                assert $parse(TEXT) == {
                    "": {"$texts_0": "plain"},
                    "$thing_0": {
                        "link": "http://host/?a=1&b:=2", "$texts_1": "'$thing_1'", "marked": "one $sign two", "more": 'it is "so"',
                    },
                    "$thing_2": {"fast": "on", "slow": "off", "void": ""},
                }


            @pytest.mark.parametrize(("key", "default", "on"), [
                ("fast", False, True), ("slow", True, False), ("void", True, False), ("none", True, True), ("none", False, False),
            ])
            def test_switches(key, default, on):
                assert $flag($parse(TEXT), "$thing_2", key, default) is on


            def test_the_number_of_a_bad_line():
                with pytest.raises($error, match="line 4: 'odd'") as caught:
                    $parse("\\n[$thing_1]\\n\\n  odd\\n")
                assert caught.value.number == 4
        """,
    },
    thoughts="$bug_why",
)
