"""The docstring of a function that reads a small text format: pairs, quoted fields, durations, a cursor."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows
from swefuse.tasks.templates._parts import DOC_ASKS, STYLE, documented, nouns, undocumented

_PAIRS = documented(
    """
    def $func(text, $mark=";", strict=False):
        $doc
        found = {}
        for part in filter(None, text.split($mark)):
            key, equals, value = part.partition("=")
            if not equals and strict:
                raise $error(f"no value: {part}")
            if equals:
                found[key.strip()] = value.strip()
        return found
    """,
    "Read the ``key=value`` pairs of a ${noun_0} text.",
    {"text": "the pairs, one after the other; empty parts do not count", "$mark": "what stands between two pairs",
     "strict": "whether a part without an equals sign is an error rather than left out"},
    "Return a dict of stripped keys and values; of equal keys the last one counts",
    {"$error": "if ``strict`` is set and a part has no equals sign"},
    """
    >>> $func("$noun_1 = $small; $noun_2=b")
    $want0
    >>> $func("$noun_1=a,$noun_2", $mark=",")
    $want1
    >>> $func("$noun_2", strict=True)
    Traceback (most recent call last):
        ...
    $module.$error: no value: $noun_2
    """,
)  # fmt: skip
_FIELDS = documented(
    """
    def $func(line, $mark="'"):
        $doc
        if line.count($mark) % 2:
            raise $error(f"{$mark} is not closed")
        fields = [""]
        inside = False
        for sign in line:
            if sign == $mark:
                inside = not inside
            elif sign == "," and not inside:
                fields.append("")
            else:
                fields[-1] += sign
        return fields
    """,
    "Split a line of the ${noun_0} file at its commas, except within quotes.",
    {"line": "the line without its end", "$mark": "the quotation mark, which is left out of the fields"},
    "Return a list of fields; an empty line is one empty field",
    {"$error": "if a quotation mark has no partner"},
    """
    >>> $func("$noun_1,'$noun_2,$small',")
    $want0
    >>> $func("", $mark="|")
    ['']
    >>> $func("$noun_1,'$noun_2")
    Traceback (most recent call last):
        ...
    $module.$error: ' is not closed
    """,
)
_SPAN = documented(
    """
    def $func($text, $mark):
        $doc
        total, digits = 0, ""
        for sign in $text:
            if sign.isdigit():
                digits += sign
            elif sign in $mark and digits:
                total += int(digits) * $mark[sign]
                digits = ""
            else:
                raise $error(f"cannot read {$text}")
        if digits:
            raise ValueError(f"no unit after {digits}")
        return total
    """,
    "Add up an amount such as ``2h30m`` of a $noun_0.",
    {
        "$text": "numbers, each followed by its unit; without any the total is 0",
        "$mark": "a dict from the letter of a unit to its size",
    },
    "Return the total as an integer, in the unit whose size is 1",
    {"$error": "if a letter is not a unit or has no number before it", "ValueError": "if the last number has no unit"},
    """
    >>> $func("${small}h${large}m", {"h": 60, "m": 1})
    $want0
    >>> $func("", {"m": 1})
    0
    >>> $func("${small}x", {"m": 1})
    Traceback (most recent call last):
        ...
    $module.$error: cannot read ${small}x
    >>> $func("$large", {"m": 1})
    Traceback (most recent call last):
        ...
    ValueError: no unit after $large
    """,
)
_CURSOR = documented(
    """
    class $owner:
        \"\"\"A place in the text of a $noun_0.\"\"\"

        def __init__(self, $text):
            self.$text = $text
            self.at = 0

        def $func(self, $mark, least=0):
            $doc
            end = self.$text.find($mark, self.at)
            if end < 0:
                raise $error(f"{$mark} does not follow")
            if end - self.at < least:
                raise ValueError(f"fewer than {least} signs")
            found = self.$text[self.at : end]
            self.at = end + len($mark)
            return found
    """,
    "Take what comes before the next mark, and go on behind it.",
    {"$mark": "the text to stop at, which is skipped", "least": "how many signs there must be before it"},
    "Return the text from the place reached so far to the mark",
    {"$error": "if the mark does not come any more", "ValueError": "if fewer than ``least`` signs stand before it"},
    """
    >>> place = $owner("$noun_1/$noun_2:$small")
    >>> place.$func("/")
    $want0
    >>> place.$func(":", least=1), place.at
    $want1
    >>> place.$func("/")
    Traceback (most recent call last):
        ...
    $module.$error: / does not follow
    """,
    target="$owner.$func",
)


def _derive(v: Values) -> Values:
    one, two, small, large = (v[key] for key in ("noun_1", "noun_2", "small", "large"))
    if v["case_code"] == _PAIRS["code"]:
        return undocumented(v, {one: str(small), two: "b"}, {one: "a"})
    if v["case_code"] == _FIELDS["code"]:
        return undocumented(v, [one, f"{two},{small}", ""])
    if v["case_code"] == _SPAN["code"]:
        return undocumented(v, small * 60 + large)
    return undocumented(v, one, (two, len(one) + len(two) + 2))


TEMPLATE = Template(
    kind=Kind.DOCGEN,
    domain="parsing",
    instruction="$ask",
    parameters={
        "ask": DOC_ASKS,
        "style": STYLE,
        "case": rows(_PAIRS, _FIELDS, _SPAN, _CURSOR),
        "module": one_of("readers", "formats", "fields", "settings", "grammar", "scanner", "notation"),
        "func": name("verb", "quality", "text"),
        "error": class_name("quality", "text", "error"),
        "owner": class_name("quality", "thing", "place"),
        "helper": name("verb", "texts"),
        "text": name("quality", "text"),
        "mark": name("text", "mark"),
        "noun": nouns(3),
        "small": integers(2, 9),
        "large": integers(11, 59),
    },
    derive=_derive,
    files={
        "$module.py": '''
            """Reads what people write about each $noun_0, its $noun_1 and its $noun_2."""


            class $error(Exception):
                """A text about a $noun_0 that cannot be read."""


            def $helper($text):
                """Lines of $text that are neither empty nor comments."""
                return [line.strip() for line in $text.splitlines() if line.strip() and not line.startswith("#")]


            $case_code
        ''',
    },
    repair={"doc": "$written"},
    goal={"function": "$module.py:$case_target"},
    thoughts="It takes three things to say: what the parameters mean, what comes back, and when it refuses; examples show each.",
)
