"""Dates that recur every few months, ages and working days, wrong at the end of a month, a year or a week."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, drawn, integers, one_of, plural, rows, words

GOOD = {
    "year": "(day.month - 1 + $months) // 12",
    "month": "(day.month - 1 + $months) % 12 + 1",
    "leap": "year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)",
    "step": "$add($first, step * every)",
    "until": "while $turn <= $last:",
    "early": "(day.month, day.day) < ($first.month, $first.day)",
    "free": "$turn.weekday() < 5 and $turn not in $closed",
}
# fmt: off
BUGS = (
    ("year", "(day.month + $months) // 12",
     "If a step of months ends in December, the date is a whole year late.",
     "Months are counted from 1, so December divided by 12 already gives the next year."),
    ("month", "(day.month + $months) % 12 or 1",
     "All $rights come a month late, and one in December raises nothing but is wrong as well.",
     "The month has to be counted from 0 before the remainder is taken, and from 1 again afterwards."),
    ("leap", "year % 4 == 0",
     "The $right for the end of February $century fails with a ValueError.",
     "A full century is a leap year only if 400 divides it, which the test by 4 leaves out."),
    ("step", "$add($turn, every)",
     "The $left of $year-01-31 has its $right on the 31st, later on the 28th of every month, even in March.",
     "Each date is reckoned from the one before, which was cut at the end of February, not from the first."),
    ("until", "while $turn < $last:",
     "The last $right is missing if it falls exactly on the day when the $left ends.",
     "The last day is meant to be included, but the loop ends before it."),
    ("early", "day.month < $first.month",
     "In the month of its anniversary, each $left counts as a full year older from the first of the month.",
     "Only months are compared, so that the day within the month plays no part."),
    ("free", "$turn.weekday() < 6 and $turn not in $closed",
     "`$workdays` counts Saturdays.",
     "weekday() gives 0 for Monday, so that Saturday is 5."),
    ("free", "$turn.weekday() < 5 or $turn not in $closed",
     "`$workdays` gives every day of a week, the weekend and days on the list of closed ones included.",
     "A day counts when it is neither at a weekend nor closed, so both conditions must hold."),
)
# fmt: on

TEMPLATE = Template(
    kind=Kind.BUGFIX,
    domain="dates",
    instruction="$bug_complaint $place",
    parameters={
        "noun": drawn(lambda rng: dict(zip(("left", "right"), words("thing", 2).draw(rng).values(), strict=True))),
        "module": one_of("${left}_dates", "months", "due_dates", "${right}_plan", "recurring"),
        "add": one_of("add_months", "months_later", "shift_months", "after_months", "${left}_end"),
        "length": one_of("days_in_month", "month_length", "last_day"),
        "series": one_of("${right}_dates", "due_${rights}", "plan_${rights}", "all_${rights}", "schedule"),
        "age": one_of("full_years", "${left}_age", "years_since", "anniversaries"),
        "workdays": one_of("working_days", "open_days", "${left}_workdays", "count_workdays"),
        "months": one_of("months", "count", "number", "distance"),
        "turn": one_of("turn", "current", "due", "when", "at"),
        "first": one_of("start", "first", "begin", "since"),
        "last": one_of("end", "last", "until", "final"),
        "closed": one_of("holidays", "closed", "days_off", "${left}_holidays"),
        "year": one_of(2013, 2014, 2015, 2017, 2018, 2019, 2021, 2022, 2023, 2025, 2026),
        "century": one_of(2100, 2200, 2300),
        "week": integers(2, 12),
        "long": one_of(
            "LENGTHS[month - 1] + (1 if month == 2 and leap else 0)", "29 if month == 2 and leap else LENGTHS[month - 1]"
        ),
        "next": one_of("$turn += timedelta(days=1)", "$turn = $turn + timedelta(days=1)", "$turn += timedelta(1)"),
        "day": integers(11, 26),
        "place": one_of(
            "The code is `$module.py`.",
            "Please look at `$module.py`; no packages beyond the standard library.",
            "`$series`, `$age` and `$workdays` of `$module.py` are used by others, so they must keep their arguments.",
        ),
        "bug": rows(*({**GOOD, place: text, "complaint": said, "why": why} for place, text, said, why in BUGS)),
    },
    where=lambda v: "test" not in v.values(),  # pytest would collect what is named after it
    derive=lambda v: {
        "left": v["noun_left"],
        "right": v["noun_right"],
        "rights": plural(v["noun_right"]),
        "monday": f"date.fromisocalendar({v['year']}, {v['week']}, 1)",
    },
    files={
        "$module.py": '''
            """When the $rights of each $left are due."""

            from datetime import date, timedelta

            LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


            def $length(year, month):
                """How many days a month has."""
                leap = $bug_leap
                return $long


            def $add(day, $months):
                """The same day some months later; the last day of that month if it is too short."""
                year = day.year + $bug_year
                month = $bug_month
                return date(year, month, min(day.day, $length(year, month)))


            def $series($first, $last, every=1):
                """All $rights from the first day to the last, which may be one, on the same day of every few months."""
                found = []
                step, $turn = 0, $first
                $bug_until
                    found.append($turn)
                    step += 1
                    $turn = $bug_step
                return found


            def $age($first, day):
                """Full years between two days."""
                return day.year - $first.year - (1 if $bug_early else 0)


            def $workdays($first, $last, $closed=()):
                """Days from one to another, both included, on which the $left office is open: not at weekends."""
                count, $turn = 0, $first
                while $turn <= $last:
                    count += $bug_free
                    $next
                return count
        ''',
    },
    repair={f"bug_{place}": text for place, text in GOOD.items()},
    tests={
        "test_$module.py": """
            from datetime import date, timedelta

            import pytest

            from $module import $add, $age, $series, $workdays


            @pytest.mark.parametrize(("day", "months", "later"), [
                (date($year, 1, $day), 2, date($year, 3, $day)), (date($year, 10, $day), 2, date($year, 12, $day)),
                (date($year, 12, $day), 1, date($year + 1, 1, $day)), (date($year, 5, 31), 18, date($year + 1, 11, 30)),
                (date($century - 1, 11, 30), 3, date($century, 2, 28)), (date(2023, 11, 30), 3, date(2024, 2, 29)),
            ])
            def test_months_later(day, months, later):
                assert $add(day, months) == later


            def test_a_series_keeps_its_day():
                days = $series(date($year, 1, 31), date($year, 4, 30))
                assert days == [date($year, 1, 31), date($year, 2, 28), date($year, 3, 31), date($year, 4, 30)]


            def test_a_series_of_quarters():
                assert $series(date($year, 11, $day), date($year + 1, 4, 1), every=3)[1:] == [date($year + 1, 2, $day)]


            @pytest.mark.parametrize(("month", "day", "years"), [(5, 1, 2), (6, 9, 2), (6, 10, 3), (6, 11, 3), (7, 1, 3)])
            def test_years_are_full(month, day, years):
                assert $age(date($year - 3, 6, 10), date($year, month, day)) == years


            def test_open_days():
                monday = $monday
                assert $workdays(monday, monday + timedelta(days=6)) == 5
                assert $workdays(monday, monday + timedelta(days=7), [monday, monday + timedelta(days=5)]) == 5
        """,
    },
    thoughts="$bug_why",
)
