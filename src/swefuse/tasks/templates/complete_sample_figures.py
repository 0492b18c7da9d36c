"""One figure about a sample of numbers is to be worked out: a percentile, a weighted median, a trend or a histogram."""

from textwrap import dedent

from swefuse.records import Kind
from swefuse.tasks.template import Template, drawn, integers, one_of, plural, rows, words


def _row(call: str, takes: str, why: str, text: str) -> dict[str, str]:
    doc, body, tests = (part.strip("\n") for part in dedent(text).split("---\n"))
    return {"call": call, "takes": takes, "why": why, "doc": f'"""{doc}\n"""', "body": body, "tests": tests}


FIGURES = (
    _row("percentile", "$values, share",
         "The share is stretched over the places of the sorted numbers, and what is between two of them is a line.", """
        The number below which a share (0 to 1) of the $nouns lies, on a straight line between the two nearest.

        The lowest of them stands at share 0 and the highest at 1. No $nouns, or a share beyond these, raise ValueError.
        ---
        if not $values or not 0 <= share <= 1:
            raise ValueError(f"no $noun percentile {share} of {len($values)}")
        $ordered = sorted($values)
        position = share * (len($ordered) - 1)
        low = int(position)
        high = min(low + 1, len($ordered) - 1)
        return $ordered[low] + (position - low) * ($ordered[high] - $ordered[low])
        ---
        ([$d, $a, $b, $c], 0, $a), ([$d, $a, $b, $c], 1, $d), ([$c, $a, $b], 0.5, $b), ([$b, $a], 0.25, $a + ($b - $a) / 4),
        ([$a], 0.9, $a), ([$d, $a, $b, $c], 0.5, ($b + $c) / 2), ([], 0.5, None), ([$a], 1.1, None), ([$a], -0.1, None),
    """),
    _row("weighted_median", "$values, weights", "I go up the sorted pairs until half of the weight is reached.", """
        The smallest of the $nouns that, with all smaller ones, has at least half of all weight.

        Each has a weight of 0 or more at the same place of the other list. Unequal lengths, a negative weight and a total
        weight of 0 raise ValueError.
        ---
        if len($values) != len(weights) or min(weights, default=0) < 0 or sum(weights) == 0:
            raise ValueError("the weights do not fit the $nouns")
        $ordered = sorted(zip($values, weights))
        reached, half = 0, sum(weights) / 2
        for value, weight in $ordered:
            reached += weight
            if reached >= half:
                break
        return value
        ---
        ([$c, $a, $b], [1, 1, 1], $b), ([$a, $b, $c], [5, 1, 1], $a), ([$a, $b], [1, 1], $a), ([$b, $a], [3, 2], $b),
        ([$a, $b, $c], [0, 2, 2], $b), ([$d], [0.5], $d),
        ([$a], [0], None), ([$a, $b], [1], None), ([$a, $b], [2, -1], None), ([], [], None),
    """),
    _row("trend", "$values, places", "With both sides centred on their means, the slope is one sum over another.", """
        Slope and start of the straight line through the $nouns at some places that leaves the least squares.

        A single place, however often it comes, has slope 0 and starts at the mean. Unequal lengths and empty lists raise
        ValueError.
        ---
        if not $values or len($values) != len(places):
            raise ValueError("each $noun needs a place")
        middle, mean = sum(places) / len(places), sum($values) / len($values)
        $ordered = [(place - middle, value - mean) for place, value in zip(places, $values)]
        across = sum(x * x for x, y in $ordered)
        slope = sum(x * y for x, y in $ordered) / across if across else 0.0
        return slope, mean - slope * middle
        ---
        ([$a, $b], [0, 1], ($b - $a, $a)), ([$a, $a, $a], [1, 2, 5], (0, $a)), ([$c, $a], [4, 2], (($c - $a) / 2, 2 * $a - $c)),
        ([0, 2, 1], [0, 1, 2], (0.5, 0.5)), ([$a, $b], [3, 3], (0, ($a + $b) / 2)),
        ([$d], [7], (0, $d)), ([], [], None), ([$a], [1, 2], None),
    """),
    _row("bins", "$values, edges", "Only the last interval has its upper edge, so that edge needs a condition of its own.", """
        How many of the $nouns lie in each interval between two neighbouring edges.

        An interval holds its lower edge and not its upper one, but the last holds both; what lies outside counts nowhere. Fewer
        than two edges, or edges that do not rise, raise ValueError.
        ---
        if len(edges) < 2 or any(low >= high for low, high in zip(edges, edges[1:])):
            raise ValueError("the edges of $noun intervals have to rise")
        $ordered = [0] * (len(edges) - 1)
        for value in $values:
            for place, (low, high) in enumerate(zip(edges, edges[1:])):
                if low <= value < high or value == high == edges[-1]:
                    $ordered[place] += 1
        return $ordered
        ---
        ([$a, $b, $c, $d], [$a, $c, $d], [2, 2]), ([$c, $c, $d + 1, $a - 1], [$a, $c, $d], [0, 2]),
        ([], [0, 1], [0]), ([$d], [$a, $d], [1]), ([$b, $b, $b], [$a, $b, $c, $d], [0, 3, 0]),
        ([$a], [1], None), ([$a], [], None), ([$a], [$b, $a], None), ([$a], [$a, $a], None),
    """),
)  # fmt: skip

TEMPLATE = Template(
    kind=Kind.COMPLETE,
    domain="numerics",
    instruction="$ask",
    parameters={
        "what": rows(*FIGURES),
        "number": words("number", 1),
        "things": words("thing", 1),
        "module": one_of("${noun}_figures", "figures", "sample", "${thing}_${noun}", "measures"),
        "figure": one_of("${what_call}", "${noun}_${what_call}", "${what_call}_of", "get_${what_call}", "${thing}_${what_call}"),
        "every": one_of("per_${thing}", "by_${thing}", "for_each_${thing}", "all_${things}", "table_of_${things}"),
        "clean": one_of("known", "without_gaps", "usable", "only_numbers", "known_${nouns}"),
        "values": one_of("values", "numbers", "sample", "${nouns}", "data"),
        "ordered": one_of("ordered", "sorted_${nouns}", "pairs", "counted", "work"),
        "group": one_of("${thing}", "name", "key", "label"),
        "points": drawn(lambda rng: dict(zip("abcd", sorted(rng.sample(range(3, 99), 4)), strict=True))),
        "near": integers(6, 9),
        "ask": one_of(
            "Write `$figure` in `$module.py` as its docstring describes it; the standard library is enough.",
            "The table of $things is empty because `$figure` in `$module.py` has not been written. Do that.",
            "`$every` ($module.py) calls `$figure` for the $nouns of each $thing, but that has no body. Please add it.",
        ),
    },
    where=lambda v: v["things_0"] != "test",
    derive=lambda v: {
        "noun": v["number_0"],
        "nouns": plural(v["number_0"]),
        "thing": v["things_0"],
        "things": plural(v["things_0"]),
        "body": "raise NotImplemented" + "Error",
        **{key: v[f"points_{key}"] for key in "abcd"},
    },
    files={
        "$module.py": '''
            """Figures about the $nouns of $things."""

            import math


            def $clean($values):
                """The $nouns that are neither None nor NaN."""
                return [value for value in $values if value is not None and not math.isnan(value)]


            def $figure($what_takes):
                $what_doc
                $body


            def $every(rows, other):
                """For each $thing what `$figure` gives for its $nouns, or None where there is no answer.

                Rows are pairs of a $thing and a list of $nouns; `other` is the second argument for all of them.
                """
                found = {}
                for $group, $values in rows:
                    try:
                        found[$group] = $figure($clean($values), other)
                    except ValueError:
                        found[$group] = None
                return found
        ''',
    },
    repair={"body": "$what_body"},
    tests={
        "test_$module.py": """
            import pytest

            from $module import $every, $figure

            CASES = [
                $what_tests
            ]


            @pytest.mark.parametrize(("numbers", "other", "want"), [case for case in CASES if case[2] is not None])
            def test_value(numbers, other, want):
                kept = list(numbers)
                assert $figure(numbers, other) == pytest.approx(want, abs=1e-$near)
                assert numbers == kept


            @pytest.mark.parametrize(("numbers", "other", "want"), [case for case in CASES if case[2] is None])
            def test_no_value(numbers, other, want):
                with pytest.raises(ValueError):
                    $figure(numbers, other)


            def test_groups():
                numbers, other, want = CASES[0]
                found = $every([("x", [None, *numbers, float("nan")]), ("y", numbers)], other)
                assert found["x"] == found["y"] == pytest.approx(want)
        """,
    },
    thoughts="$what_why",
)
