"""Tests for date arithmetic: due days that recur every few months, or the parts of a period that fall into each month."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, integers, name, one_of, rows, words

RECUR = '''
def $helper(start, months):
    """The same day so many months later; the last day of a month that is too short."""
    at = start.year * 12 + start.month - 1 + months
    year, month = at // 12, at % 12 + 1
    last = calendar.monthrange(year, month)[1]
    return date(year, month, min(start.day, last))


def $entry(start, every=$every, count=$count, $closed=()):
    """The next due days, each moved on to the first day that is neither $off_names nor closed."""
    if every < 1:
        raise $error(f"every {every} months")
    $found_0 = []
    for number in range(1, count + 1):
        $day = $helper(start, number * every)
        while $day.weekday() in $off_days or $day in $closed:
            $day += timedelta(days=1)
        $found_0.append($day)
    return $found_0
'''
RECUR_TESTS = """
def test_months_later():
    end = date(2023, 1, 31)
    later = [$helper(end, months) for months in (1, 13, 0, 3, -2)]
    assert later == [date(2023, 2, 28), date(2024, 2, 29), end, date(2023, 4, 30), date(2022, 11, 30)]
    assert $helper(date(2023, 11, 5), 1) == date(2023, 12, 5)
    assert $helper(date(2023, 12, 5), 1) == date(2024, 1, 5)


def test_days_recur_from_the_first_day():
    assert $entry(date(2024, 1, 9), 1, 3) == [date(2024, 2, $feb), date(2024, 3, $mar), date(2024, 4, 9)]
    assert len($entry(date(2024, 1, 9))) == $count
    assert $entry(date(2020, 1, 9), count=1) == $entry(date(2020, 1, 9), $every, 1)
    assert $entry(date(2024, 1, 9), 1, 0) == []


def test_closed_days_are_left_out():
    assert $entry(date(2024, 3, 9), 1, 1, {date(2024, 4, 9)}) == [date(2024, 4, 10)]
    assert $entry(date(2024, 3, 9), 1, 1, [date(2024, 4, 9), date(2024, 4, 10)]) == [date(2024, 4, 11)]
    with pytest.raises($error):
        $entry(date(2024, 3, 9), 0)
"""
SPLIT = '''
def $helper($day):
    """The first day of the next month."""
    if $day.month == 12:
        return date($day.year + 1, 1, 1)
    return date($day.year, $day.month + 1, 1)


def $entry(start, end, $closed=(), least=$every):
    """Open days of each month from ``start`` up to and including ``end``; months with fewer than ``least`` are left out."""
    if end < start:
        raise $error(f"{end} is before {start}")
    $found_0 = {}
    $day = start
    while $day <= end:
        following = min($helper($day), end + timedelta(days=1))
        days = (following - $day).days
        days -= sum(1 for one in $closed if $day <= one < following)
        if days >= least:
            $found_0[f"{$day.year}-{$day.month:02}"] = days
        $day = following
    return $found_0
'''
SPLIT_TESTS = """
def test_the_next_month():
    assert $helper(date(2023, 12, 31)) == date(2024, 1, 1)
    assert $helper(date(2023, 11, 1)) == date(2023, 12, 1)


def test_both_ends_count():
    assert $entry(date(2024, 5, 7), date(2024, 5, 7), least=1) == {"2024-05": 1}
    assert $entry(date(2023, 12, 31), date(2024, 2, 29), least=1) == {"2023-12": 1, "2024-01": 31, "2024-02": 29}


def test_closed_days_do_not_count():
    $closed = [date(2024, 3, 31), date(2024, 4, 1), date(2024, 4, 30), date(2024, 5, 2)]
    assert $entry(date(2024, 4, 1), date(2024, 5, 1), $closed, 1) == {"2024-04": 28, "2024-05": 1}
    assert $entry(date(2024, 3, 31), date(2024, 3, 31), $closed, 0) == {"2024-03": 0}


def test_short_months_are_left_out():
    assert $entry(date(2024, 6, 1), date(2024, 6, $every)) == {"2024-06": $every}
    assert $entry(date(2024, 6, 2), date(2024, 6, $every)) == {}
    with pytest.raises($error):
        $entry(date(2024, 5, 7), date(2024, 5, 6))
"""

TEMPLATE = Template(
    kind=Kind.TESTGEN,
    domain="dates",
    instruction="$ask $module.py has `$entry`, which works out $shape_about, and `$helper`. Write pytest tests of both in "
    "test_$module.py; think of $shape_edges, and of what raises `$error`.",
    parameters={
        "module": one_of("days", "terms", "periods", "due", "cycles", "agenda", "renewals", "seasons", "billing"),
        "entry": name("quality", "thing", "days"),
        "helper": name("next", "quality", "thing"),
        "error": class_name("thing", "error"),
        "day": one_of("day", "due", "current", "at", "when", "moment"),
        "closed": one_of("closed", "holidays", "blocked", "feasts", "breaks"),
        "found": words("list", 1),
        "every": integers(2, 6),
        "count": integers(3, 12),
        "off": rows(
            {"names": "a Saturday nor a Sunday", "days": "(5, 6)", "feb": 9, "mar": 11},
            {"names": "a Friday nor a Saturday", "days": "(4, 5)", "feb": 11, "mar": 10},
            {"names": "a Sunday", "days": "(6,)", "feb": 9, "mar": 9},
        ),
        "ask": one_of(
            "Customers were once billed on the wrong day, and no test had failed.",
            "The dates of this module are trusted by three other services, but nothing tests them.",
            "We are going to replace this module and need its behaviour written down as tests first.",
        ),
        "shape": rows(
            {
                "code": RECUR.strip(),
                "tests": RECUR_TESTS.strip(),
                "about": "the days on which something is due",
                "edges": "short months, the turn of a year, $off_names, closed days in a row",
            },
            {
                "code": SPLIT.strip(),
                "tests": SPLIT_TESTS.strip(),
                "about": "how many days of a period fall into each month",
                "edges": "both ends, leap years, the turn of a year and closed days at the ends of a month",
            },
        ),
    },
    derive=lambda v: {"feb": v["off_feb"], "mar": v["off_mar"], "imports": "import calendar\n" * ("calendar" in v["shape_code"])},
    files={
        "$module.py": '"""Days on which things are due."""\n\n${imports}from datetime import date, timedelta\n\n\n'
        'class $error(ValueError):\n    """There is no such period."""\n\n\n$shape_code\n',
        "test_$module.py": "from $module import $error, $entry, $helper\n",
    },
    goal={"module": "$module.py", "tests": "test_$module.py"},
    solution={
        "test_$module.py": "from datetime import date\n\nimport pytest\n"
        "from $module import $error, $entry, $helper\n\n\n$shape_tests\n"
    },
    thoughts="What goes wrong with dates goes wrong at the ends of months and years, so there the tests must look.",
)
