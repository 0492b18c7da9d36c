"""The docstring of a function about dates: months, due days, spans and recurring slots, without a look at the clock."""

from datetime import date, timedelta

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows
from swefuse.tasks.templates._parts import DOC_ASKS, STYLE, documented, nouns, undocumented

_MONTHS = documented(
    """
    def $func($year, $month, count=1):
        $doc
        if not 1 <= $month <= 12:
            raise ValueError(f"no month {$month}")
        number = $year * 12 + $month - 1 + count
        if number < 12:
            raise $error(f"{count} months are too many")
        return number // 12, number % 12 + 1
    """,
    "Go some months on from the month of a $noun_0.",
    {"$year": "the year to start in", "$month": "the month to start in, from 1 to 12",
     "count": "how many months to go; below 0 goes back"},
    "Return the year and the month that are reached, as a tuple",
    {"ValueError": "if there is no such month", "$error": "if it would go back before year 1"},
    """
    >>> $func($y, $m)
    $want0
    >>> $func($y, $m, count=-$n)
    $want1
    >>> $func($y, 13)
    Traceback (most recent call last):
        ...
    ValueError: no month 13
    """,
)  # fmt: skip
_DUE = documented(
    """
    def $func(start, $days, closed=()):
        $doc
        if $days < 0:
            raise ValueError(f"{$days} days")
        due = start
        while $days or due.weekday() > 4 or due in closed:
            if (due - start).days > 3650:
                raise $error("never open")
            if $days and due.weekday() < 5 and due not in closed:
                $days -= 1
            due += timedelta(days=1)
        return due
    """,
    "Day on which a $noun_0 is due, so many working days after its start.",
    {"start": "the date to count from", "$days": "how many working days to wait, 0 for none",
     "closed": "dates besides weekends on which nobody works"},
    "Return the first working day after the wait, as a date",
    {"ValueError": "if the count is below 0", "$error": "if no open day comes within ten years"},
    """
    >>> $func(date($y, $m, 1), 0)
    $want0
    >>> $func(date($y, $m, 1), $n)
    $want1
    >>> $func(date($y, $m, 1), -1)
    Traceback (most recent call last):
        ...
    ValueError: -1 days
    """,
)  # fmt: skip
_SLOTS = documented(
    """
    def $func(start, end, $days=7):
        $doc
        if $days < 1:
            raise ValueError(f"every {$days} days")
        if end < start:
            raise $error(f"{end} is before {start}")
        while start <= end:
            yield start
            start += timedelta(days=$days)
    """,
    "Days on which a $noun_0 comes again.",
    {"start": "the first date", "end": "the last date that may be given", "$days": "the distance of two dates, at least 1"},
    "Yield dates in rising order, the first one being ``start``",
    {"ValueError": "if the distance is below 1", "$error": "if ``end`` is before ``start``"},
    """
    >>> [day.day for day in $func(date($y, $m, 1), date($y, $m, 28))]
    [1, 8, 15, 22]
    >>> [day.isoformat() for day in $func(date($y, $m, 3), date($y, $m, 20), $days=$n)]
    $want0
    >>> list($func(date($y, $m, 2), date($y, $m, 1)))
    Traceback (most recent call last):
        ...
    $module.$error: $y-$mm-01 is before $y-$mm-02
    """,
)
_SPAN = documented(
    """
    class $owner:
        \"\"\"The days from one date to another, both included, in which a $noun_0 is open.\"\"\"

        def __init__(self, first, last):
            self.first = first
            self.last = last

        def $func(self, other, least=1):
            $doc
            if least < 1:
                raise ValueError(f"at least {least} days")
            first, last = max(self.first, other.first), min(self.last, other.last)
            days = (last - first).days + 1
            if days < least:
                raise $error(f"only {max(0, days)} days in common")
            return days
    """,
    "Count the days that two spans have in common.",
    {"other": "the span to compare with", "least": "how many common days there must be"},
    "Return the number of common days",
    {"ValueError": "if ``least`` is below 1", "$error": "if there are fewer common days than ``least``"},
    """
    >>> spring = $owner(date($y, $m, 1), date($y, $m, 20))
    >>> spring.$func($owner(date($y, $m, $n), date($y, $m, 27)))
    $want0
    >>> spring.$func(spring, least=5)
    20
    >>> spring.$func($owner(date($y, $m, 22), date($y, $m, 23)))
    Traceback (most recent call last):
        ...
    $module.$error: only 0 days in common
    """,
    target="$owner.$func",
)


def _derive(v: Values) -> Values:
    y, m, n = v["y"], v["m"], v["n"]
    start = date(y, m, 1)
    if v["case_code"] == _MONTHS["code"]:
        back = y * 12 + m - 1 - n
        wants: tuple[object, ...] = ((y + m // 12, m % 12 + 1), (back // 12, back % 12 + 1))
    elif v["case_code"] == _DUE["code"]:
        working = [day for at in range(60) if (day := start + timedelta(days=at)).weekday() < 5]
        wants = (working[0], working[n])
    elif v["case_code"] == _SLOTS["code"]:
        wants = ([date(y, m, day).isoformat() for day in range(3, 21, n)],)
    else:
        wants = (21 - n,)
    return undocumented(v, *wants) | {"mm": f"{m:02}"}


TEMPLATE = Template(
    kind=Kind.DOCGEN,
    domain="dates",
    instruction="$ask",
    parameters={
        "ask": DOC_ASKS,
        "style": STYLE,
        "case": rows(_MONTHS, _DUE, _SLOTS, _SPAN),
        "module": one_of("calendars", "dates", "planning", "deadlines", "periods", "terms", "seasons"),
        "func": name("verb", "quality", "things"),
        "error": class_name("quality", "thing", "error"),
        "owner": class_name("quality", "thing", "span"),
        "helper": name("verb", "thing"),
        "label": name("quality", "text"),
        "year": name("text", "year"),
        "month": name("text", "month"),
        "days": name("quality", "days"),
        "noun": nouns(2),
        "y": integers(1994, 2031),
        "m": integers(1, 12),
        "n": integers(4, 14),
    },
    derive=_derive,
    files={
        "$module.py": '''
            """When each $noun_0 and each $noun_1 takes place."""

            from datetime import date, timedelta


            class $error(Exception):
                """Dates of a $noun_0 that do not go together."""


            def $helper($label, $days=0):
                """The date that the text $label of a $noun_1 names, some days later."""
                return date.fromisoformat($label) + timedelta(days=$days)


            $case_code
        ''',
    },
    repair={"doc": "$written"},
    goal={"function": "$module.py:$case_target"},
    thoughts="Which ends are included, and what counts as a mistake, can only be seen in the code; the docstring says both.",
)
