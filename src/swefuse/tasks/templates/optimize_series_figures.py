"""Figures of a series of whole numbers that go through the same stretches again and again."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows

WIDTH = "if $width < 1 or $width > len($series):\n    return None\n"
SUM = """
$best = None
for start in range(len($series) - $width + 1):
    $total = 0
    for at in range(start, start + $width):
        $total += $series[at]
    if $best is None or $total > $best:
        $best = $total
return $best
"""
SUM_FAST = """
$best = $total = sum($series[:$width])
for at in range($width, len($series)):
    $total += $series[at] - $series[at - $width]
    if $total > $best:
        $best = $total
return $best
"""
PEAK = """
$best = None
for start in range(len($series) - $width + 1):
    peak = $series[start]
    for at in range(start, start + $width):
        if $series[at] > peak:
            peak = $series[at]
    if $best is None or peak < $best:
        $best = peak
return $best
"""
PEAK_FAST = """
$best, $queue = None, deque()
for at, $item in enumerate($series):
    while $queue and $series[$queue[-1]] <= $item:
        $queue.pop()
    $queue.append(at)
    if $queue[0] <= at - $width:
        $queue.popleft()
    if at >= $width - 1 and ($best is None or $series[$queue[0]] < $best):
        $best = $series[$queue[0]]
return $best
"""
SPANS = """
$queue = []
for first, last in $spans:
    $total = 0
    for at, $item in enumerate($series):
        if first <= at < last:
            $total += $item
    $queue.append($total)
return $queue
"""
SPANS_FAST = """
$queue = [0, *accumulate($series)]
size = len($series)
ends = [(min(max(first, 0), size), min(max(last, 0), size)) for first, last in $spans]
return [$queue[last] - $queue[first] if first < last else 0 for first, last in ends]
"""
DROP = """
$best = 0
for at, $item in enumerate($series):
    for later in $series[at + 1 :]:
        if $item - later > $best:
            $best = $item - later
return $best
"""
DROP_FAST = """
$best = 0
peak = $series[0] if $series else 0
for $item in $series:
    if $item > peak:
        peak = $item
    elif peak - $item > $best:
        $best = peak - $item
return $best
"""
STRETCH = """
$best = 0
for start in range(len($series)):
    $total = 0
    for $item in $series[start:]:
        $total += $item
        if $total > $best:
            $best = $total
return $best
"""
STRETCH_FAST = """
$best = $total = 0
for $item in $series:
    $total = max(0, $total + $item)
    if $total > $best:
        $best = $total
return $best
"""
EQUAL = """
$best = 0
for start in range(len($series)):
    $total = 0
    for $item in $series[start:]:
        $total += $item
        if $total == $wanted:
            $best += 1
return $best
"""
EQUAL_FAST = """
$best = $total = 0
$queue = {0: 1}
for $item in $series:
    $total += $item
    $best += $queue.get($total - $wanted, 0)
    $queue[$total] = $queue.get($total, 0) + 1
return $best
"""
SWAPPED = """
$best = 0
for at in range(len($series)):
    for later in range(at + 1, len($series)):
        if $series[at] > $series[later]:
            $best += 1
return $best
"""
SWAPPED_FAST = """
$best, $queue = 0, []
for $item in $series:
    place = bisect_right($queue, $item)
    $best += len($queue) - place
    $queue.insert(place, $item)
return $best
"""


def _row(slow: str, fast: str, takes: str, doc: str, needs: str = "") -> Values:
    guard = WIDTH if "stretch of $width" in doc else ""
    return {"slow": guard + slow.strip(), "fast": guard + fast.strip(), "takes": takes, "doc": doc, "needs": needs}


def _calls(v: Values) -> Values:
    rng = random.Random(v["seed"])
    found = {"code": "$do_slow", "needs": ""}
    for at, count in enumerate((8, 60, 200)):
        texts = {
            "$series": repr([rng.randrange(-20, 40) for _ in range(count)]), "$width": str(rng.randrange(3, max(5, count // 3))),
            "$wanted": str(rng.randrange(5, 40)),
            "$spans": repr([tuple(sorted(rng.sample(range(count + 1), 2))) for _ in range(min(16, count))]),
        }  # fmt: skip
        found[f"call{at}"] = f"({', '.join(texts[one] for one in v['do_takes'].split(', '))},)"
    return found | {"imports": f"\n\n{v['do_needs']}" if v["do_needs"] else ""}


TEMPLATE = Template(
    kind=Kind.OPTIMIZE,
    domain="numerics",
    instruction="$ask",
    parameters={
        "module": one_of("figures", "series", "measure", "statistics_tools", "signals", "curves", "meters"),
        "op": name("verb", "quality", "number"),
        "change": name("steps", "of", "things"),
        "cls": class_name("quality", "series"),
        "series": name("thing", "list"),
        "width": name("thing", "length"),
        "wanted": name("wanted", "number"),
        "spans": name("quality", "spans"),
        "best": name("best", "number"),
        "total": name("running", "number"),
        "item": name("thing", "value"),
        "queue": name("quality", "list"),
        "seed": integers(0, 10**6),
        "ask": one_of(
            "`$op` of $module.py cannot keep up with the sensors: for a series of some ten thousand values it takes minutes. "
            "Speed it "
            "up; its results are right.",
            "We call `$op` ($module.py) for ever longer series, and its time grows much faster than they do. It should need "
            "little more "
            "than one look at each value.",
            "Make `$op` in $module.py cheaper. It does the same work over and over; no result may change, for odd arguments "
            "either.",
        ),
        "do": rows(
            _row(SUM, SUM_FAST, "$series, $width", "The highest sum of a stretch of $width values; None if there is none."),
            _row(PEAK, PEAK_FAST, "$series, $width", "The lowest maximum of a stretch of $width values; None if there is none.",
                 "from collections import deque"),
            _row(SPANS, SPANS_FAST, "$series, $spans", "The sums of the values from one position up to before another.",
                 "from itertools import accumulate"),
            _row(DROP, DROP_FAST, "$series", "The deepest fall from a value to a later one."),
            _row(STRETCH, STRETCH_FAST, "$series", "The highest sum of any stretch, which may be empty."),
            _row(EQUAL, EQUAL_FAST, "$series, $wanted", "How many stretches, none of them empty, add up to $wanted."),
            _row(SWAPPED, SWAPPED_FAST, "$series", "How many pairs of values stand in falling order.",
                 "from bisect import bisect_right"),
        ),
    },
    derive=_calls,
    files={
        "$module.py": '''
            """Figures of a series of whole numbers."""$needs


            def $op($do_takes):
                """$do_doc"""
                $code


            def $change($series):
                """The differences of neighbours."""
                return [$series[at + 1] - $series[at] for at in range(len($series) - 1)]


            class $cls:
                """A series that grows."""

                def __init__(self, $series=()):
                    self.$series = list($series)

                def add(self, $item):
                    """One more value at the end."""
                    self.$series.append($item)

                def figure(self, *more):
                    """What $op says about the series so far."""
                    return $op(self.$series, *more)
        ''',
    },
    repair={"code": "$do_fast", "needs": "$imports"},
    entry="$module.py:$op",
    calls=("$call0", "$call1", "$call2"),
    thoughts="For every start `$op` goes over values that it has seen already. What is known of the last stretch gives the next "
    "one.",
)  # fmt: skip
