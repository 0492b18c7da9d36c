"""Questions about booked days that are answered by looking at every booking for every day."""

import random
from datetime import date, timedelta

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows

BUSY = """
$best = 0
$day = min(first for first, last in $spans)
while $day <= max(last for first, last in $spans):
    $count = 0
    for first, last in $spans:
        if first <= $day <= last:
            $count += 1
    $best = max($best, $count)
    $day += ONE
return $best
"""
BUSY_FAST = """
$count = {}
for first, last in $spans:
    $count[first] = $count.get(first, 0) + 1
    $count[last + ONE] = $count.get(last + ONE, 0) - 1
$best = now = 0
for $day in sorted($count):
    now += $count[$day]
    $best = max($best, now)
return $best
"""
FREE = """
$count = 0
$day, end = $spans[0][0], $spans[0][1]
for first, last in $spans:
    $day, end = min($day, first), max(end, last)
while $day <= end:
    taken = False
    for first, last in $spans:
        if first <= $day <= last:
            taken = True
    if not taken:
        $count += 1
    $day += ONE
return $count
"""
FREE_FAST = """
$count, end = 0, None
for first, last in sorted($spans):
    if end is not None and first > end + ONE:
        $count += (first - end).days - 1
    end = last if end is None else max(end, last)
return $count
"""
CLASH = """
$count = 0
for at, (first, last) in enumerate($spans):
    for other_first, other_last in $spans[at + 1 :]:
        if first <= other_last and other_first <= last:
            $count += 1
return $count
"""
CLASH_FAST = """
starts = sorted(first for first, last in $spans)
ends = sorted(last for first, last in $spans)
$count = done = 0
for at, first in enumerate(starts):
    while ends[done] < first:
        done += 1
    $count += at - done
return $count
"""
TAKEN = """
$count = set()
for first, last in $spans:
    $day = first
    while $day <= last:
        $count.add($day)
        $day += ONE
return len($count)
"""
TAKEN_FAST = """
$count, end = 0, None
for first, last in sorted($spans):
    if end is None or first > end:
        $count, end = $count + (last - first).days + 1, last
    elif last > end:
        $count, end = $count + (last - end).days, last
return $count
"""
WEEKDAYS = """
$count = 0
for first, last in $spans:
    $day = first
    while $day <= last:
        if $day.weekday() < 5:
            $count += 1
        $day += ONE
return $count
"""
WEEKDAYS_FAST = """
$count = 0
for first, last in $spans:
    weeks, rest = divmod((last - first).days + 1, 7)
    start = first.weekday()
    weekend = max(0, min(start + rest, 7) - max(start, 5)) + max(0, start + rest - 12)
    $count += 5 * weeks + rest - weekend
return $count
"""


def _row(slow: str, fast: str, doc: str, why: str, longest: int = 6) -> Values:
    return {"slow": slow.strip(), "fast": fast.strip(), "doc": doc, "why": why, "longest": longest}


def _calls(v: Values) -> Values:
    rng, start = random.Random(v["seed"]), date(v["year"], 1, 1)
    found: Values = {"code": "$do_slow"}
    for at, (count, days) in enumerate(((4, 20), (20, 60), (60, 200))):
        made = []
        for _ in range(count):
            first = start + timedelta(rng.randrange(days))
            made.append((first.isoformat(), (first + timedelta(rng.randrange(v["do_longest"]))).isoformat()))
        found[f"call{at}"] = f"({made},)"
    return found


TEMPLATE = Template(
    kind=Kind.OPTIMIZE,
    domain="dates",
    instruction="$ask",
    parameters={
        "module": one_of("calendar_rows", "bookings", "stays", "planner", "occupancy", "dates", "absences"),
        "op": name("verb", "quality", "days"),
        "parse": name("read", "things"),
        "rows": name("quality", "list"),
        "spans": name("thing", "spans"),
        "day": name("quality", "day"),
        "count": name("number", "found"),
        "best": name("best", "number"),
        "cls": class_name("thing", "calendar"),
        "label": name("text"),
        "year": integers(2015, 2030),
        "seed": integers(0, 10**6),
        "ask": one_of(
            "`$op` of $module.py takes a minute for the bookings of ten years. What it answers is right; it only has to get there "
            "with much less work.",
            "The page that calls `$op` ($module.py) times out as soon as there are many rows or long ones. Please make it quick; "
            "the "
            "results are relied on.",
            "Reduce the work that `$op` in $module.py does: its time grows with the number of rows times that of days, or faster.",
        ),
        "do": rows(
            _row(BUSY, BUSY_FAST, "How many rows the busiest day has.", "Only where a row starts or ends does the number change."),
            _row(FREE, FREE_FAST, "How many days between the first and the last one are in no row.",
                 "In order of their starts, rows show every gap when one looks at the latest end so far.", 5),
            _row(CLASH, CLASH_FAST, "How many pairs of rows share a day.",
                 "A row shares a day with all that started before it and have not ended, which sorted starts and ends count.", 9),
            _row(TAKEN, TAKEN_FAST, "How many days are in any row.",
                 "In order of their starts, each row adds just the days behind the latest end so far.", 90),
            _row(WEEKDAYS, WEEKDAYS_FAST, "How many days of the rows, each counted by itself, are no Saturday or Sunday.",
                 "Whole weeks have five such days; only the rest of a row needs a look at its weekday.", 120),
        ),
    },
    derive=_calls,
    files={
        "$module.py": '''
            """Answers about days that are taken, from rows (first day, last day) of texts such as 2024-02-29."""

            from datetime import date, timedelta

            ONE = timedelta(days=1)


            def $parse($rows):
                """The rows as dates. ValueError for a row that ends before it starts."""
                $spans = [(date.fromisoformat(first), date.fromisoformat(last)) for first, last in $rows]
                if any(last < first for first, last in $spans):
                    raise ValueError("a row ends before it starts")
                return $spans


            def $op($rows):
                """$do_doc 0 without rows."""
                $spans = $parse($rows)
                if not $spans:
                    return 0
                $code


            class $cls:
                """Rows of one $label."""

                def __init__(self, $label):
                    self.$label, self.$rows = $label, []

                def add(self, first, last=None):
                    """One more row, of a single day if no last one is given."""
                    self.$rows.append((first, last or first))

                def answer(self):
                    """What $op gives for all rows, with the $label."""
                    return f"{self.$label}: {$op(self.$rows)}"
        ''',
    },
    repair={"code": "$do_fast"},
    entry="$module.py:$op",
    calls=("$call0", "$call1", "$call2"),
    thoughts="`$op` goes through everything day by day or pair by pair. $do_why",
)  # fmt: skip
