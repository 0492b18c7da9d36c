"""Calendar rules that list by hand what a table, a comparison or a little arithmetic says."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows
from swefuse.tasks.templates._parts import ASKS, CALL_GAPS, case, nouns

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _derive(v: Values) -> Values:
    months = [(v["start"] - 1 + at) % 12 + 1 for at in range(12)]
    days = [_DAYS[(v["day"] + at) % 7] for at in range(7)]
    names = {f"m{at}": month for at, month in enumerate(months)} | {f"d{at}": day for at, day in enumerate(days)}
    return {"smell": v["case_smell"], "quarter": (10 - v["start"]) % 12 // 3 + 1, **names}


_QUARTER = case(
    ["($m0,)", "($m11,)", "($m5,)", "(0,)", "(13,)", "($m8,)"],
    smell="All months are listed, and should the year start in another one, all have to be sorted again.",
    why="Quarters are runs of three months from the start of the year on: a remainder and a division give them.",
    head='def $func(month):\n    """Quarter of a $noun_0 year, which starts in month $start; ValueError for no month."""',
    bad="""
        if month < 1:
            raise ValueError(f"no month {month}")
        elif month > 12:
            raise ValueError(f"no month {month}")
        if month == $m0 or month == $m1 or month == $m2:
            return 1
        elif month == $m3 or month == $m4 or month == $m5:
            return 2
        elif month in ($m6, $m7, $m8):
            return 3
        else:
            return 4
    """,
    good="""
        if not 1 <= month <= 12:
            raise ValueError(f"no month {month}")
        return (month - $start) % 12 // 3 + 1
    """,
    use="$func(self.month)",
    want="$quarter",
)
_LENGTH = case(
    ["(2024, 2)", "(1900, 2)", "(2000, 2)", "(2023, 2)", "(2023, $m0)", "(2021, $m7)"],
    smell="The leap years alone take four conditions, one of them nested in the other.",
    why="Only February depends on the year; the rest needs no branch for each answer.",
    head='def $func(year, month):\n    """Days of a month in which a $noun_0 may be planned."""',
    bad="""
        if month == 2:
            if year % 4 == 0:
                if year % 100 == 0:
                    if year % 400 == 0:
                        return 29
                    else:
                        return 28
                else:
                    return 29
            else:
                return 28
        elif month == 4 or month == 6 or month == 9 or month == 11:
            return 30
        else:
            return 31
    """,
    good="""
        if month == 2:
            return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
        return 30 if month in (4, 6, 9, 11) else 31
    """,
    use="$func(self.year, self.month)",
    want="31",
)
_BEFORE = case(
    ["((2024, 5, $start), (2024, 5, 17))", "((2024, 6, 1), (2024, 5, 31))", "((2023, 12, 31), (2024, 1, 1))",
     "((2024, 2, 3), (2024, 2, 3))", "((2024, 3, 1), (2023, 4, 9))", "((2020, $start, 2), (2020, $start, 1))"],
    smell="Years, months and days are compared one inside the other.",
    why="Tuples are compared part by part already, in just that order.",
    head='def $func(first, second):\n    """Whether one (year, month, day) of a $noun_0 comes before another."""',
    bad="""
        if first[0] < second[0]:
            return True
        elif first[0] == second[0]:
            if first[1] < second[1]:
                return True
            elif first[1] == second[1]:
                if first[2] < second[2]:
                    return True
                else:
                    return False
            else:
                return False
        return False
    """,
    good="return first < second",
    use="$func((self.year, self.month, 1), (self.year, self.month, 2))",
    want="True",
)  # fmt: skip
_OPEN = case(
    ['("$d0", 3, [])', '("$d1", 4, [4, 9])', '("$d2", 11, [4])', '("$d5", 8, [7])', '("saturday", 3, [])', '("sunday", 5, [5])'],
    smell="Closed days are found in three different ways.",
    why="A day is open when neither its weekday nor its number is in a list of closed ones; membership needs no loop.",
    head='def $func(weekday, number, closed):\n    """Whether a $noun_0 can be: not at weekends, on a $d0 or a closed day."""',
    bad="""
        free = True
        if weekday == "saturday" or weekday == "sunday":
            free = False
        else:
            if weekday == "$d0":
                free = False
        for other in closed:
            if other == number:
                if free:
                    free = False
        if not free:
            return False
        return True
    """,
    good='return weekday not in ("saturday", "sunday", "$d0") and number not in closed',
    use='$func("$d0", self.month, [])',
    want="False",
)
TEMPLATE = Template(
    kind=Kind.REFACTOR,
    domain="dates",
    instruction="$ask",
    parameters={
        "ask": ASKS,
        "case": rows(_QUARTER, _LENGTH, _BEFORE, _OPEN),
        "module": one_of("calendars", "dates", "planning", "days", "periods", "terms", "holidays", "deadlines"),
        "func": name("verb", "thing"),
        "owner": class_name("quality", "thing", "month"),
        "answer": name("verb", "quality", "text"),
        "count": name("quality", "number"),
        "label": name("quality", "text"),
        "noun": nouns(2),
        "start": integers(2, 12),
        "day": integers(0, 4),
    },
    derive=_derive,
    files={
        "$module.py": '''
            """When each $noun_0 and each $noun_1 takes place."""


            $case_bad


            class $owner:
                """A month with its $noun_0 and its $noun_1 numbers."""

                def __init__(self, year, month, $count=0):
                    self.year = year
                    self.month = month
                    self.$count = $count

                def $answer(self):
                    """What the rule says about this month."""
                    return $case_use

                def $label(self):
                    """Text for a list of ${noun_1} months."""
                    return f"$noun_1 {self.year}-{self.month:02} ({self.$count})"
        ''',
    },
    repair={"case_bad": "$case_good"},
    tests={
        "test_$module.py": """
            from $module import $owner


            def test_${answer}_of_october():
                assert $owner(2024, 10).$answer() == $case_want


            def test_a_month_has_a_${label}():
                assert $owner(2024, 3, 7).$label() == "$noun_1 2024-03 (7)"
        """,
    },
    entry="$module.py:$func",
    calls=CALL_GAPS,
    goal={"function": "$module.py:$func"},
    thoughts="$case_why",
)
