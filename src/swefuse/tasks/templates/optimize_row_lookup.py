"""Functions that look through all rows again for every row, where an index or one pass is enough."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows, words

JOIN = """
$out = []
for $key, $amount in $left:
    for other, $field in $right:
        if other == $key:
            $out.append(($field, $amount))
            break
return $out
"""
JOIN_FAST = """
$index = {}
for other, $field in $right:
    $index.setdefault(other, $field)
return [($index[$key], $amount) for $key, $amount in $left if $key in $index]
"""
REPEATED = """
$out = []
for at, ($key, $amount) in enumerate($left):
    for before in range(at):
        if $left[before][0] == $key:
            $out.append((before, at))
            break
return $out
"""
REPEATED_FAST = """
$index, $out = {}, []
for at, ($key, $amount) in enumerate($left):
    if $key in $index:
        $out.append(($index[$key], at))
    else:
        $index[$key] = at
return $out
"""
TOTALS = """
$out = []
for $key, $field in $right:
    total = 0
    for other, $amount in $left:
        if other == $key:
            total += $amount
    $out.append(($field, total))
return $out
"""
TOTALS_FAST = """
$index = {}
for other, $amount in $left:
    $index[other] = $index.get(other, 0) + $amount
return [($field, $index.get($key, 0)) for $key, $field in $right]
"""
UNKNOWN = """
$out = []
for $key, $amount in $left:
    seen = False
    for other, $field in $right:
        if other == $key:
            seen = True
    if not seen and $amount >= $limit:
        $out.append($key)
return $out
"""
UNKNOWN_FAST = """
$index = {other for other, $field in $right}
return [$key for $key, $amount in $left if $amount >= $limit and $key not in $index]
"""
PAIRS = """
$out = 0
for first in range(len($left)):
    for second in range(first + 1, len($left)):
        if $left[first][1] + $left[second][1] == $wanted:
            $out += 1
return $out
"""
PAIRS_FAST = """
$index, $out = {}, 0
for $key, $amount in $left:
    $out += $index.get($wanted - $amount, 0)
    $index[$amount] = $index.get($amount, 0) + 1
return $out
"""
LATEST = """
$out = {}
for $key, $amount in $left:
    best = None
    for other, value in $left:
        if other == $key and (best is None or value > best):
            best = value
    $out[$key] = best
return $out
"""
LATEST_FAST = """
$out = {}
for $key, $amount in $left:
    if $key not in $out or $amount > $out[$key]:
        $out[$key] = $amount
return $out
"""


def _row(slow: str, fast: str, takes: str, keys: str, doc: str) -> Values:
    return {"slow": slow.strip(), "fast": fast.strip(), "takes": takes, "keys": keys, "doc": doc}


def _calls(v: Values) -> Values:
    """Calls with 6, 60 and 140 rows, in which few keys are shared, few are not, or all are the same few; answers stay short."""
    rng = random.Random(v["seed"])
    found = {"code": "$do_slow"}
    for at, count in enumerate((6, 60, 140)):
        many = [f"k{number}" for number in rng.sample(range(999), count)]
        keys = rng.choices(many[:6], k=count) if v["do_keys"] == "same" else many
        if v["do_keys"] == "other":
            keys[-4:] = keys[:4]
        known = {"same": many[:9], "other": [f"n{key}" for key in many[5:]] + many[:5], "known": many[3:]}[v["do_keys"]]
        texts = {
            "$left": repr([(key, rng.randrange(1, 40)) for key in keys]), "$wanted": str(rng.randrange(20, 60)),
            "$right": repr([(key, f"{v['labels_0'][:3]} {key[1:]}") for key in rng.sample(known, len(known))]),
        }  # fmt: skip
        found[f"call{at}"] = f"({', '.join(texts[one] for one in v['do_takes'].split(', '))},)"
    return found


TEMPLATE = Template(
    kind=Kind.OPTIMIZE,
    domain="data handling",
    instruction="$ask",
    parameters={
        "module": one_of("tables", "matching", "rows", "records", "joins", "lookup", "ledger"),
        "op": name("verb", "quality", "things"),
        "report": class_name("thing", "report"),
        "left": name("quality", "list"),
        "right": name("thing", "list"),
        "key": name("thing", "key"),
        "amount": name("number"),
        "field": name("text"),
        "index": name("known", "list"),
        "out": one_of("result", "found", "answer", "collected", "gathered"),
        "wanted": one_of("wanted", "target", "goal", "whole"),
        "labels": words("thing", 2),
        "limit": integers(2, 12),
        "seed": integers(0, 10**6),
        "ask": one_of(
            "`$op` in $module.py is fine for a hundred rows and hopeless for a hundred thousand: twice as many take four times as "
            "long. It has to give the same answers with far less work.",
            "The nightly run spends nearly all of its time in `$op` ($module.py). Make it faster; callers rely on the results, "
            "including their order.",
            "Profiling shows that `$op` of $module.py executes its innermost lines millions of times for a few thousand rows. "
            "Reduce "
            "this, with the same results for every input.",
        ),
        "do": rows(
            _row(JOIN, JOIN_FAST, "$left, $right", "other", "The $field, from its first row, and the $amount of each row whose "
                 "$key has "
                 "one."),
            _row(REPEATED, REPEATED_FAST, "$left", "other", "Positions (first, again) of rows whose $key came before."),
            _row(TOTALS, TOTALS_FAST, "$left, $right", "same", "Each $field with the sum of $amount of its rows."),
            _row(UNKNOWN, UNKNOWN_FAST, "$left, $right", "known",
                 "Every $key that no $field is known for, of rows with $amount from "
                 "$limit on."),
            _row(PAIRS, PAIRS_FAST, "$left, $wanted", "other",
                 "How many pairs of rows have $amount values that add up to a number."),
            _row(LATEST, LATEST_FAST, "$left", "same", "The highest $amount for each $key, in the order of first rows."),
        ),
    },
    where=lambda v: v["amount"] not in ("value", "total", "limit"),
    derive=_calls,
    files={
        "$module.py": '''
            """Works on rows ($key, $amount) of $labels_0 and rows ($key, $field) of $labels_1."""


            def $op($do_takes):
                """$do_doc"""
                $code


            class $report:
                """Rows of several sources, for one report."""

                def __init__(self):
                    self.$left = []

                def add(self, $left):
                    """Take over the rows of a source."""
                    self.$left.extend($left)

                def result(self, *more):
                    """What $op says about all rows."""
                    return $op(self.$left, *more)
        ''',
    },
    repair={"code": "$do_fast"},
    entry="$module.py:$op",
    calls=("$call0", "$call1", "$call2"),
    thoughts="`$op` goes through all rows again for every single row. A dict or set that is filled once answers the same at once.",
)  # fmt: skip
