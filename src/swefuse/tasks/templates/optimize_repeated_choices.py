"""Recursive functions that work the same smaller case out again and again."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows

APART = """
def $step(at):
    if at >= len($items):
        return 0
    return max($step(at + 1), $items[at] + $step(at + 2))

return $step(0)
"""
APART_FAST = """
$best, before = 0, 0
for $item in $items:
    $best, before = max($best, before + $item), $best
return $best
"""
COMMON = """
def $step(one, two):
    if one == len($items) or two == len($others):
        return 0
    if $items[one] == $others[two]:
        return 1 + $step(one + 1, two + 1)
    return max($step(one + 1, two), $step(one, two + 1))

return $step(0, 0)
"""
COMMON_FAST = """
$best = [0] * (len($others) + 1)
for $item in $items:
    before = 0
    for at, other in enumerate($others):
        before, $best[at + 1] = $best[at + 1], before + 1 if $item == other else max($best[at], $best[at + 1])
return $best[-1]
"""
ROUTES = """
def $step(row, column):
    if row >= len($items) or column >= len($items[row]) or $items[row][column] == "$wall":
        return 0
    if row == len($items) - 1 and column == len($items[row]) - 1:
        return 1
    return $step(row + 1, column) + $step(row, column + 1)

return $step(0, 0)
"""
ROUTES_FAST = """
$best = {}
for row in range(len($items) - 1, -1, -1):
    for column in range(len($items[row]) - 1, -1, -1):
        if $items[row][column] == "$wall":
            continue
        last = row == len($items) - 1 and column == len($items[row]) - 1
        $best[row, column] = 1 if last else $best.get((row + 1, column), 0) + $best.get((row, column + 1), 0)
return $best.get((0, 0), 0)
"""
SUMS = """
def $step(at, rest):
    if at == len($items):
        return 1 if rest == 0 else 0
    return $step(at + 1, rest) + $step(at + 1, rest - $items[at])

return $step(0, $goal)
"""
SUMS_FAST = """
$best = {0: 1}
for $item in $items:
    grown = dict($best)
    for total, ways in $best.items():
        grown[total + $item] = grown.get(total + $item, 0) + ways
    $best = grown
return $best.get($goal, 0)
"""
EDITS = """
def $step(one, two):
    if one == len($items) or two == len($others):
        return len($items) - one + len($others) - two
    changed = 0 if $items[one] == $others[two] else 1
    return min(changed + $step(one + 1, two + 1), 1 + $step(one + 1, two), 1 + $step(one, two + 1))

return $step(0, 0)
"""
EDITS_FAST = """
$best = list(range(len($others) + 1))
for number, $item in enumerate($items, 1):
    before, $best[0] = $best[0], number
    for at, other in enumerate($others, 1):
        changed = before + ($item != other)
        before, $best[at] = $best[at], min(changed, 1 + $best[at], 1 + $best[at - 1])
return $best[-1]
"""
PIECES = """
def $step(length):
    if length == 0:
        return 0
    $best = 0
    for piece in range(1, length + 1):
        $best = max($best, $items[piece - 1] + $step(length - piece))
    return $best

return $step(len($items))
"""
PIECES_FAST = """
$best = [0]
for length in range(1, len($items) + 1):
    $best.append(max(0, *($items[piece - 1] + $best[length - piece] for piece in range(1, length + 1))))
return $best[-1]
"""


def _row(slow: str, fast: str, takes: str, doc: str, make: str) -> Values:
    return {"slow": f"\n{slow.strip()}", "fast": fast.strip(), "takes": takes, "doc": doc, "make": make}


def _calls(v: Values) -> Values:
    """Calls whose numbers of cases grow so far that the slow function just ends in time."""
    rng, wall = random.Random(v["seed"]), v["wall"]
    found = {"code": "$do_slow"}
    for at, size in enumerate((4, 6, 8)):
        made = {
            "numbers": f"({[rng.randrange(1, 30) for _ in range(2 * size)]},)",
            "choices": f"({[rng.randrange(1, 9) for _ in range(size + 3)]}, {rng.randrange(8, 30)})",
            "texts": repr(("".join(rng.choices("abcd", k=size)), "".join(rng.choices("abcd", k=size)))),
            "words": repr(("".join(rng.choices("abcd", k=size - 3)), "".join(rng.choices("abcd", k=size - 3)))),
            "grid": f"({['.' * size, *(''.join(rng.choices('.....' + wall, k=size)) for _ in range(size - 2)), '.' * size]},)",
            "prices": f"({[rng.randrange(1, 5) + 3 * length for length in range(size + 2)]},)",
        }
        found[f"call{at}"] = made[v["do_make"]]
    return found


TEMPLATE = Template(
    kind=Kind.OPTIMIZE,
    domain="algorithms",
    instruction="$ask",
    parameters={
        "module": one_of("choices", "planning", "search", "ways", "puzzle", "solver", "counting"),
        "op": name("verb", "quality", "things"),
        "step": name("from", "thing"),
        "items": name("quality", "list"),
        "others": name("other", "list"),
        "item": name("thing", "part"),
        "best": name("best", "number"),
        "goal": name("quality", "goal"),
        "cls": class_name("thing", "solver"),
        "asked": name("asked", "things"),
        "wall": one_of("#", "x", "o", "=", "@"),
        "seed": integers(0, 10**6),
        "ask": one_of(
            "`$op` of $module.py answers small cases at once and does not end for inputs of thirty. Every further element doubles "
            "its "
            "time or worse. The answers are right and must stay.",
            "Each element more that is passed to `$op` in $module.py multiplies its time. Change this, so that inputs of some "
            "hundreds "
            "can be answered.",
            "`$cls` of $module.py hangs for real inputs, and it always is within `$op`. Make `$op` so fast that it need not be "
            "avoided; "
            "results stay as they are.",
        ),
        "do": rows(
            _row(APART, APART_FAST, "$items", "The highest sum of numbers of which no two are neighbours.", "numbers"),
            _row(COMMON, COMMON_FAST, "$items, $others", "How many letters two texts have in common in the same order.", "texts"),
            _row(ROUTES, ROUTES_FAST, "$items", "How many ways lead right and down to the last place, around every $wall.", "grid"),
            _row(SUMS, SUMS_FAST, "$items, $goal", "In how many ways some of the numbers add up to a number.", "choices"),
            _row(EDITS, EDITS_FAST, "$items, $others", "How many letters must be changed, added or taken away.", "words"),
            _row(PIECES, PIECES_FAST, "$items", "The best price for something cut into pieces, by prices of lengths 1, 2, ...",
                 "prices"),
        ),
    },
    derive=_calls,
    files={
        "$module.py": '''
            """Finds the best of many choices, or counts them."""


            def $op($do_takes):
                """$do_doc"""
                $code


            class $cls:
                """Remembers what was asked."""

                def __init__(self):
                    self.$asked = []

                def ask(self, *arguments):
                    """What $op says, and that it was asked."""
                    self.$asked.append(arguments)
                    return $op(*arguments)

                def highest(self, $items):
                    """The highest answer for several tuples of arguments; None without any."""
                    return max((self.ask(*one) for one in $items), default=None)
        ''',
    },
    repair={"code": "$do_fast"},
    entry="$module.py:$op",
    calls=("$call0", "$call1", "$call2"),
    thoughts="`$op` solves the same rest again for every way that leads to it. Each rest has to be solved only once, smallest "
    "first.",
)  # fmt: skip
