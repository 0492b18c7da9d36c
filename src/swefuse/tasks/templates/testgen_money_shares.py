"""Tests for sums of money: an amount shared out to the cent, or a price that is built up in tiers."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, drawn, integers, name, one_of, rows, words

SHARES = '''
def $helper($amount, $parts_0):
    """The share of each part, rounded down, and what is left over of each as a numerator over the sum of all parts."""
    whole = sum($parts_0)
    if whole <= 0 or min($parts_0) < 0:
        raise $error("parts must be positive")
    return [($amount * one // whole, $amount * one % whole) for one in $parts_0]


def $entry($amount, $parts_0, least=0):
    """Share out an amount in cents by weights, the rest to the $pick_name; shares below ``least`` are paid as 0."""
    $found_0 = $helper($amount, $parts_0)
    result = [share for share, _ in $found_0]
    left = $amount - sum(result)
    order = sorted(range(len($found_0)), key=lambda at: $pick_key)
    for at in order[:left]:
        result[at] += 1
    return [share if share >= least else 0 for share in result]
'''
SHARES_TESTS = """
def test_shares_are_rounded_down():
    assert $helper(100, [1, 2]) == [(33, 1), (66, 2)]
    assert $helper(7, [7, 0]) == [(7, 0), (0, 0)]


def test_nothing_gets_lost_and_no_part_is_negative():
    for $parts_0 in ([0, 0], [0], [2, -1]):
        with pytest.raises($error):
            $entry(10, $parts_0)
    for $amount in range(${limit}00, ${limit}20):
        assert sum($entry($amount, [3, 3, 1, 5])) == $amount


def test_who_gets_what_is_left_over():
    assert $entry(100, [1, 1, 1]) == [34, 33, 33]
    assert $entry(100, [1, 2, 3]) == $pick_three
    assert $entry(11, [1, 5, 3]) == $pick_odd


def test_small_shares_are_dropped():
    assert $entry(100, [$limit, 100 - $limit], $limit) == [$limit, 100 - $limit]
    assert $entry(100, [$limit, 100 - $limit], $limit + 1) == [0, 100 - $limit]
"""
TIERS = '''
TIERS = [($limit, $first), ($limit * 3, $second), (None, $third)]


def $helper(count, low, high):
    """How many of ``count`` lie above ``low`` and up to ``high``; None is no end."""
    if high is not None and count > high:
        count = high
    return max(0, count - low)


def $entry(count, $amount=None, least=$least):
    """The price in cents of so many units by the tiers, or by a flat price if that costs less, and at least ``least``."""
    if count < 0:
        raise $error(f"{count} units")
    total, low = 0, 0
    for $found_0, price in TIERS:
        total += $helper(count, low, $found_0) * price
        if $found_0 is None or count <= $found_0:
            break
        low = $found_0
    if $amount is not None:
        total = min(total, count * $amount)
    return max(total, least) if count else 0
'''
TIERS_TESTS = """
def test_a_tier_has_two_ends():
    assert [$helper(count, 3, 5) for count in (2, 3, 4, 5, 6)] == [0, 0, 1, 2, 2]
    assert $helper(9, 3, None) == 6


def test_prices():
    prices = [$entry(count, least=0) for count in ($limit, $limit + 1, $limit * 3, $limit * 3 + 2)]
    full = $limit * ($first + 2 * $second)
    assert prices == [$limit * $first, $limit * $first + $second, full, full + 2 * $third]


def test_there_is_a_least_price():
    assert ($entry(0), $entry(1)) == (0, max($first, $least))
    assert $entry(1, least=$first + 1) == $first + 1


def test_a_flat_price_counts_where_it_costs_less():
    assert $entry($limit, $first - 1, 0) == $limit * ($first - 1)
    assert $entry($limit, $first + 1, 0) == $limit * $first
    with pytest.raises($error):
        $entry(-1)
"""

TEMPLATE = Template(
    kind=Kind.TESTGEN,
    domain="numerics",
    instruction="$ask It is about `$entry` and `$helper` of $module.py, which $shape_about; the tests belong in test_$module.py. "
    "They should look at $shape_edges, and at what ends with `$error`.",
    parameters={
        "module": one_of("shares", "prices", "amounts", "money", "costs", "sums", "cents", "split", "charges"),
        "entry": name("bill", "quality", "thing"),
        "helper": name("part", "of", "thing"),
        "error": class_name("number", "error"),
        "amount": one_of("amount", "flat", "cents", "given", "money", "rate"),
        "parts": words("list", 1),
        "found": words("text", 1),
        "limit": integers(4, 40),
        "first": integers(60, 99),
        "second": integers(35, 59),
        "third": integers(10, 34),
        "least": drawn(lambda rng: rng.choice((40, 75, 150, 250))),
        "ask": one_of(
            "An audit found a cent too much, and our tests had been silent.",
            "We want tests that notice any small change of these numbers.",
            "Please pin down how we calculate today before the rules are changed.",
        ),
        "pick": rows(
            {"name": "largest remainders", "key": "(-$found_0[at][1], at)", "three": "[17, 33, 50]", "odd": "[1, 6, 4]"},
            {"name": "first parts", "key": "at", "three": "[17, 33, 50]", "odd": "[2, 6, 3]"},
            {"name": "largest parts", "key": "(-$parts_0[at], at)", "three": "[16, 33, 51]", "odd": "[1, 7, 3]"},
        ),
        "shape": rows(
            {
                "code": SHARES.strip(),
                "tests": SHARES_TESTS.strip(),
                "about": "share out an amount by weights",
                "edges": "cents that are left over and shares that are just large enough",
            },
            {
                "code": TIERS.strip(),
                "tests": TIERS_TESTS.strip(),
                "about": "work out a price in tiers",
                "edges": "the units on either side of each tier's end, the least price and flat prices",
            },
        ),
    },
    where=lambda values: values["parts_0"] != values["amount"],
    files={
        "$module.py": '"""Sums in cents."""\n\n\nclass $error(ValueError):\n    """It does not add up."""\n\n\n$shape_code\n',
        "test_$module.py": "from $module import $error, $entry, $helper\n",
    },
    goal={"module": "$module.py", "tests": "test_$module.py"},
    solution={"test_$module.py": "import pytest\nfrom $module import $error, $entry, $helper\n\n\n$shape_tests\n"},
    thoughts="Numbers just below, at and just above each limit tell a right sum from one that is nearly right.",
)
