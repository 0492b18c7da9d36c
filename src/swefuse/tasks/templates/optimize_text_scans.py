"""Readers of texts that start again from the beginning, or scan ahead, for every place of interest."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows

PLACES = """
$out = []
for at, $char in enumerate($text):
    if $char != "$mark":
        continue
    line, column = 1, 1
    for before in $text[:at]:
        if before == "\\n":
            line, column = line + 1, 1
        else:
            column += 1
    $out.append((line, column))
return $out
"""
PLACES_FAST = """
$out = []
for line, $state in enumerate($text.split("\\n"), 1):
    at = $state.find("$mark")
    while at >= 0:
        $out.append((line, at + 1))
        at = $state.find("$mark", at + 1)
return $out
"""
BRACKETS = """
$out = 0
for at, $char in enumerate($text):
    if $char != "$open":
        continue
    depth = 0
    for length, other in enumerate($text[at:], 1):
        if other == "$open":
            depth += 1
        elif other == "$shut":
            depth -= 1
        if depth == 0:
            $out = max($out, length)
            break
return $out
"""
BRACKETS_FAST = """
$out, $state = 0, []
for at, $char in enumerate($text):
    if $char == "$open":
        $state.append(at)
    elif $char == "$shut" and $state:
        $out = max($out, at - $state.pop() + 1)
return $out
"""
NESTED = """
$out = 0
lines = [line for line in $text.split("\\n") if line.strip()]
for at, line in enumerate(lines):
    depth, $state = 1, len(line) - len(line.lstrip())
    for before in range(at - 1, -1, -1):
        indent = len(lines[before]) - len(lines[before].lstrip())
        if indent < $state:
            depth, $state = depth + 1, indent
    $out = max($out, depth)
return $out
"""
NESTED_FAST = """
$out, $state = 0, []
for line in $text.split("\\n"):
    if line.strip():
        indent = len(line) - len(line.lstrip())
        while $state and $state[-1] >= indent:
            $state.pop()
        $state.append(indent)
        $out = max($out, len($state))
return $out
"""
FIELDS = """
$out, start = [], 0
for at in range(len($text) + 1):
    if at < len($text) and $text[at] != "$mark":
        continue
    $state = False
    for before in range(at):
        if $text[before] == "'":
            $state = not $state
    if not $state or at == len($text):
        $out.append(at - start)
        start = at + 1
return max($out)
"""
FIELDS_FAST = """
$out = start = 0
$state = False
for at, $char in enumerate($text):
    if $char == "'":
        $state = not $state
    elif $char == "$mark" and not $state:
        $out, start = max($out, at - start), at + 1
return max($out, len($text) - start)
"""
WORDS_SEEN = """
$out = []
$state = $text.split()
for at, word in enumerate($state):
    again = 0
    for before in $state[:at]:
        if before == word:
            again += 1
    if again == 1:
        $out.append(word)
return $out[:5]
"""
WORDS_SEEN_FAST = """
$out, $state = [], {}
for word in $text.split():
    $state[word] = $state.get(word, 0) + 1
    if $state[word] == 2:
        $out.append(word)
return $out[:5]
"""
LONGEST = """
$out = ""
for first in range(len($text)):
    $state = set()
    for last in range(first, len($text)):
        if $text[last] in $state:
            break
        $state.add($text[last])
        if last + 1 - first > len($out):
            $out = $text[first : last + 1]
return $out
"""
LONGEST_FAST = """
$out, first, $state = "", 0, {}
for last, $char in enumerate($text):
    first = max(first, $state.get($char, -1) + 1)
    $state[$char] = last
    if last + 1 - first > len($out):
        $out = $text[first : last + 1]
return $out
"""


def _row(slow: str, fast: str, make: str, doc: str) -> Values:
    return {"slow": slow.strip(), "fast": fast.strip(), "make": make, "doc": doc}


def _calls(v: Values) -> Values:
    rng = random.Random(v["seed"])
    found: Values = {"code": "$do_slow", "open": v["pair"][0], "shut": v["pair"][1]}
    for at, size in enumerate((12, 60, 160)):
        words = ["".join(rng.choices("abcdeimnorst", k=rng.randrange(2, 7))) for _ in range(size // 3)]
        if v["do_make"] == "lines":
            text = "\n".join(" " * rng.choice((0, 2, 4, 4, 6, 8)) + word for word in words)
        elif v["do_make"] == "letters":
            text = "".join(rng.sample("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP"[: 8 + at * 16], 8 + at * 16) * (1 + at))
        elif v["do_make"] == "few":
            text = "\n".join(word + v["mark"] * (number % (size // 12 + 1) == 1) for number, word in enumerate(words))
        else:
            signs = {"pairs": v["pair"][0] * 2 + v["pair"][1], "quoted": v["mark"] * 3 + "'", "words": "  "}[v["do_make"]]
            text = "".join(word[:3] + rng.choice(signs) for word in words * 2)
        found[f"call{at}"] = f"({text!r},)"
    return found


TEMPLATE = Template(
    kind=Kind.OPTIMIZE,
    domain="parsing",
    instruction="$ask",
    parameters={
        "module": one_of("scan", "scanner", "textscan", "markup", "lexing", "source_text", "notation"),
        "op": name("verb", "quality", "text"),
        "clean": name("clean", "thing"),
        "cls": class_name("thing", "reader"),
        "text": name("thing", "text"),
        "char": name("quality", "sign"),
        "state": name("thing", "state"),
        "out": name("thing", "result"),
        "kept": name("last", "things"),
        "mark": one_of(";", "@", "|", ",", "!"),
        "pair": one_of("()", "[]", "{}", "<>"),
        "seed": integers(0, 10**6),
        "ask": one_of(
            "`$op` in $module.py is quick for a line and needs minutes for a file of a megabyte. It reads the same places over "
            "and over. "
            "Make it faster without changing any result.",
            "Long documents bring `$op` ($module.py) to a halt: a text twice as long takes four times the time. The answers are "
            "right.",
            "Most of the time of an import goes into `$op` of $module.py. Let it get by with much less work; odd texts have to "
            "give what "
            "they give now.",
        ),
        "do": rows(
            _row(PLACES, PLACES_FAST, "few", "Line and column, both from 1, of every $mark."),
            _row(BRACKETS, BRACKETS_FAST, "pairs", "The length of the longest part from $open to its $shut; 0 without any."),
            _row(NESTED, NESTED_FAST, "lines", "How deep lines are nested by their indentation; 0 for an empty text."),
            _row(FIELDS, FIELDS_FAST, "quoted", "The length of the longest part between $mark signs that are not in single "
                 "quotes."),
            _row(WORDS_SEEN, WORDS_SEEN_FAST, "words", "The first five words that come a second time, in this order."),
            _row(LONGEST, LONGEST_FAST, "letters", "The first of the longest parts in which no character is repeated."),
        ),
    },
    derive=_calls,
    files={
        "$module.py": '''
            """Finds things in texts."""


            def $op($text):
                """$do_doc"""
                $code


            def $clean($text):
                """The text with plain line feeds and without blanks at the ends of lines."""
                return "\\n".join(line.rstrip() for line in $text.splitlines())


            class $cls:
                """Reads texts, and keeps what it found in them."""

                def __init__(self):
                    self.$kept = {}

                def read(self, name, $text):
                    """What $op finds in a text once it is clean."""
                    self.$kept[name] = $op($clean($text))
                    return self.$kept[name]

                def names(self):
                    """Names of texts in which something was found."""
                    return sorted(name for name, found in self.$kept.items() if found)
        ''',
    },
    repair={"code": "$do_fast"},
    entry="$module.py:$op",
    calls=("$call0", "$call1", "$call2"),
    thoughts="For every place `$op` goes through the text once more. One pass that remembers what is open, or where it was, is "
    "enough.",
)  # fmt: skip
