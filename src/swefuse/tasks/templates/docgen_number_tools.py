"""The docstring of a numeric helper: grids, moving averages, shares and tables of bands."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows
from swefuse.tasks.templates._parts import DOC_ASKS, STYLE, documented, nouns, undocumented

_GRID = documented(
    """
    def $func($value, step, low=0, high=None):
        $doc
        if step <= 0:
            raise ValueError(f"step {step}")
        nearest = ($value + step // 2) // step * step
        if high is not None and low > high:
            raise $error(f"{low} is above {high}")
        nearest = max(low, nearest)
        return nearest if high is None else min(high, nearest)
    """,
    "Round the $noun_0 of a $noun_1 to a multiple of a step, within bounds.",
    {"$value": "the integer to round; a half goes up", "step": "the distance of two allowed results, above 0",
     "low": "the least result", "high": "the greatest result, or None for no bound"},
    "Return the nearest multiple, or the bound that it would pass",
    {"ValueError": "if ``step`` is not above 0", "$error": "if ``low`` is above ``high``"},
    """
    >>> $func($large, $small)
    $want0
    >>> $func($large, $small, high=10)
    10
    >>> $func($large, 0)
    Traceback (most recent call last):
        ...
    ValueError: step 0
    """,
)  # fmt: skip
_MOVING = documented(
    """
    def $func($many, width, weight=1):
        $doc
        if not 1 <= width <= len($many):
            raise $error(f"width {width} of {len($many)}")
        sums = [sum($many[:width])]
        for at in range(width, len($many)):
            sums.append(sums[-1] + $many[at] - $many[at - width])
        return [weight * one / width for one in sums]
    """,
    "Moving averages of the $noun_0 numbers of a $noun_1.",
    {"$many": "a list of numbers in their order", "width": "how many numbers each average is of",
     "weight": "a factor for all averages"},
    "Return a list of averages, ``width - 1`` shorter than the numbers",
    {"$error": "if ``width`` is below 1 or above the count of numbers"},
    """
    >>> $func([$small, $large, $small, $large], 2)
    $want0
    >>> $func([$small], 1, weight=4)
    $want1
    >>> $func([$small, $large], 3)
    Traceback (most recent call last):
        ...
    $module.$error: width 3 of 2
    """,
)  # fmt: skip
_SHARES = documented(
    """
    def $func($many, whole=100):
        $doc
        total = sum($many.values())
        if any(one < 0 for one in $many.values()):
            raise ValueError("below 0")
        if total == 0:
            raise $error("nothing to share by")
        shares = {key: whole * one // total for key, one in $many.items()}
        rest = whole - sum(shares.values())
        for key in sorted($many, key=lambda key: -(whole * $many[key] % total))[:rest]:
            shares[key] += 1
        return shares
    """,
    "Divide a whole among the ${noun_0} entries so that nothing is lost by rounding.",
    {"$many": "a dict from names to integers, none below 0", "whole": "the integer to divide"},
    "Return a dict of integer shares whose sum is the whole; the largest remainders are rounded up",
    {"ValueError": "if a number is below 0", "$error": "if all numbers are 0"},
    """
    >>> $func({"$noun_0": 1, "$noun_1": 2})
    {'$noun_0': 33, '$noun_1': 67}
    >>> $func({"$noun_0": $small, "$noun_1": $large}, whole=$small + $large)
    $want0
    >>> $func({"$noun_1": 0})
    Traceback (most recent call last):
        ...
    $module.$error: nothing to share by
    """,
)
_BANDS = documented(
    """
    class $owner:
        \"\"\"Prices of a $noun_0 by bands: pairs of an upper bound and a rate, bounds rising.\"\"\"

        def __init__(self, bands):
            self.bands = bands

        def $func(self, $value, extra=0):
            $doc
            if $value < 0:
                raise ValueError(f"{$value} is below 0")
            total, below = extra, 0
            for bound, rate in self.bands:
                total += max(0, min($value, bound) - below) * rate
                below = bound
            if $value > below:
                raise $error(f"no band for {$value}")
            return total
    """,
    "Price of an amount, each part of it at the rate of its own band.",
    {"$value": "the amount, not below 0", "extra": "what is added in any case"},
    "Return the sum over all bands that the amount reaches into",
    {"ValueError": "if the amount is below 0", "$error": "if it is above the last bound"},
    """
    >>> prices = $owner([(10, $small), (100, 1)])
    >>> prices.$func(8)
    $want0
    >>> prices.$func($large, extra=5)
    $want1
    >>> prices.$func(101)
    Traceback (most recent call last):
        ...
    $module.$error: no band for 101
    """,
    target="$owner.$func",
)


def _derive(v: Values) -> Values:
    one, two, small, large = v["noun_0"], v["noun_1"], v["small"], v["large"]
    if v["case_code"] == _GRID["code"]:
        return undocumented(v, (large + small // 2) // small * small)
    if v["case_code"] == _MOVING["code"]:
        return undocumented(v, [(small + large) / 2] * 3, [4.0 * small])
    if v["case_code"] == _SHARES["code"]:
        return undocumented(v, {one: small, two: large})
    return undocumented(v, 8 * small, 5 + 10 * small + large - 10)


TEMPLATE = Template(
    kind=Kind.DOCGEN,
    domain="numerics",
    instruction="$ask",
    parameters={
        "ask": DOC_ASKS,
        "style": STYLE,
        "case": rows(_GRID, _MOVING, _SHARES, _BANDS),
        "module": one_of("totals", "figures", "rounding", "rates", "amounts", "scales", "measures"),
        "func": name("verb", "quality", "number"),
        "error": class_name("quality", "number", "error"),
        "owner": class_name("quality", "thing", "prices"),
        "helper": name("verb", "numbers"),
        "value": name("quality", "number"),
        "many": name("quality", "list"),
        "noun": nouns(2),
        "small": integers(2, 9),
        "large": integers(21, 99),
    },
    derive=_derive,
    files={
        "$module.py": '''
            """Numbers about each $noun_0 and each $noun_1."""


            class $error(Exception):
                """Numbers of a $noun_0 that do not go together."""


            def $helper($many):
                """Least and greatest of the ${noun_1} numbers in $many; both are 0 where there are none."""
                return min($many, default=0), max($many, default=0)


            $case_code
        ''',
    },
    repair={"doc": "$written"},
    goal={"function": "$module.py:$case_target"},
    thoughts="The code tells which numbers it refuses and how it rounds; the docstring says both, with worked examples.",
)
