"""Tests for a module that reads lists of numbers, or times that somebody spent, as people type them."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, integers, name, one_of, rows, words

RANGES = '''
def $helper($part):
    """First and last number of one part, such as 4 or 4${dash}9."""
    first, found, last = $part.partition("$dash")
    if not first.strip().isdigit():
        raise $error(f"no number: {$part!r}")
    low = int(first)
    high = int(last) if found else low
    if high < low:
        raise $error(f"{$part!r} runs backwards")
    return low, high


def $entry(text, most=$most):
    """All numbers of a text such as 1${dash}3${sep}7, sorted and without repeats. One part may name ``most`` numbers."""
    $found_0 = set()
    for $part in text.split("$sep"):
        if not $part.strip():
            continue
        low, high = $helper($part)
        if high - low + 1 > most:
            raise $error(f"{$part!r} names more than {most} numbers")
        $found_0.update(range(low, high + 1))
    return sorted($found_0)
'''
RANGES_TESTS = """
def test_one_part():
    assert $helper("4") == (4, 4)
    assert $helper(" 4 ${dash} 9") == (4, 9)
    assert $helper("6${dash}6") == (6, 6)


@pytest.mark.parametrize("text", ["x", "x${dash}4", "5${dash}4", "1${sep} ${dash}4", "0${dash}$most"])
def test_what_is_refused(text):
    with pytest.raises($error):
        $entry(text)


def test_numbers_are_sorted_and_stand_once():
    assert $entry("7${sep}1${dash}3${sep}2${dash}4") == [1, 2, 3, 4, 7]
    assert $entry("${sep} ${sep}5${sep}") == [5]


def test_a_part_may_name_so_many_numbers():
    assert $entry("1${dash}$most") == list(range(1, $most + 1))
    assert $entry("2${dash}4", most=3) == [2, 3, 4]
"""
SPENT = '''
UNITS = {"s": 1, "m": 60, "h": 3600, "$day": $hours * 3600}


def $helper($part):
    """Seconds of one part such as 15m."""
    amount, unit = $part[:-1], $part[-1:]
    if not amount.isdigit() or unit not in UNITS:
        raise $error(f"not a time: {$part!r}")
    return int(amount) * UNITS[unit]


def $entry(text, limit=$most * 3600):
    """Seconds of a text such as 1h 30m; each unit at most once, the larger ones first, and at most ``limit``."""
    total, last = 0, None
    for $part in text.lower().split():
        seconds, unit = $helper($part), $part[-1]
        if last is not None and UNITS[unit] >= UNITS[last]:
            raise $error(f"{$part!r} stands in the wrong place")
        total += seconds
        last = unit
    if last is None:
        raise $error("no time at all")
    return min(total, limit)
'''
SPENT_TESTS = """
def test_every_unit():
    assert [$helper(one) for one in ("0m", "7s", "15m", "2h", "1$day")] == [0, 7, 900, 7200, $hours * 3600]


@pytest.mark.parametrize("text", ["", "  ", "5", "h", "5x", "m5", "-5m", "1.5h", "30m 1h", "1m 1m", "1h x"])
def test_what_is_refused(text):
    with pytest.raises($error):
        $entry(text)


def test_parts_are_added():
    assert $entry("1h 30m") == 5400
    assert $entry("1H  2m 3S") == 3723


def test_there_is_a_limit():
    assert $entry("${most}h 1s") == $most * 3600
    assert $entry("59s", limit=60) == 59
    assert $entry("1m 1s", limit=60) == 60
"""

TEMPLATE = Template(
    kind=Kind.TESTGEN,
    domain="parsing",
    instruction="$ask `$entry` and its helper `$helper` in $module.py $shape_about. The tests go into test_$module.py, and we "
    "want $shape_edges covered as well as the texts that are refused with `$error`.",
    parameters={
        "module": one_of("fields", "forms", "reading", "notation", "texts", "inputs", "syntax", "spelling", "grammar"),
        "entry": name("parse", "thing", "text"),
        "helper": name("read", "quality", "part"),
        "error": class_name("text", "error"),
        "part": one_of("part", "piece", "chunk", "item", "word", "one", "bit"),
        "found": words("list", 1),
        "most": integers(5, 60),
        "hours": one_of(8, 24, 10, 12),
        "day": one_of("d", "t"),
        "sep": one_of(",", ";", "|", "/"),
        "dash": one_of("-", "..", "~", ":"),
        "ask": one_of(
            "We have had slips here that nobody noticed: write the tests that are missing.",
            "There are no tests yet for this module, and it is about to be rewritten; pin down what it does today.",
            "Please write pytest tests that would notice a small mistake.",
            "Before we change this code we want tests that fail as soon as its behaviour changes.",
        ),
        "shape": rows(
            {
                "code": RANGES.strip(),
                "tests": RANGES_TESTS.strip(),
                "about": "read lists of numbers such as `1${dash}3${sep}7`",
                "edges": "both ends of a range, repeats, empty parts and the largest range",
            },
            {
                "code": SPENT.strip(),
                "tests": SPENT_TESTS.strip(),
                "about": "read the time that somebody spent, such as `1h 30m`, as seconds",
                "edges": "every unit, the order of units and the limit",
            },
        ),
    },
    files={
        "$module.py": '"""Texts as people type them."""\n\n\nclass $error(ValueError):\n    """Unreadable."""\n\n\n$shape_code\n',
        "test_$module.py": "from $module import $error, $entry, $helper\n",
    },
    goal={"module": "$module.py", "tests": "test_$module.py"},
    solution={"test_$module.py": "import pytest\nfrom $module import $error, $entry, $helper\n\n\n$shape_tests\n"},
    thoughts="Each branch and each end of a range needs a test with a value on either side of it.",
)
