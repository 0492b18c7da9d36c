"""Numbers are smoothed, interpolated, rounded and summed up, wrong at an edge or for negative ones."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, drawn, integers, one_of, plural, rows, words

GOOD = {
    "drop": "len(window) > $width",
    "mean": "$total / len(window)",
    "known": "$points = sorted($points)",
    "left": "if x <= $points[0][0]:",
    "slope": "(y1 - y0) / (x1 - x0)",
    "half": "math.floor(abs($ratio) + 0.5)",
    "sign": "math.copysign($steps, $ratio) * $grain",
    "free": "len($values) - 1",
}
# fmt: off
BUGS = (
    ("drop", "len(window) >= $width",
     "With a window of $width_0, the running mean is taken over one $noun too few, and a window of 1 even fails.",
     "A number has to leave only when the window holds more than its width."),
    ("drop", "len(window) > $width + 1",
     "The running mean with a window of $width_0 covers $width_1 $nouns.",
     "The oldest number leaves one step too late."),
    ("mean", "$total / $width",
     "The first few means are far too small, as if $nouns of 0 had come before.",
     "At the start the window is not full, so the sum has to be divided by how many numbers there are."),
    ("known", "$points = list($points)",
     "The table gives wrong values in between when its points are not listed in order.",
     "The search for the two neighbours relies on sorted points."),
    ("left", "if x < $points[0][0] or len($points) < 2:",
     "`$between` fails for an x that is exactly that of the first point.",
     "An x on the first point lies in no interval that is open to the left, so it must be answered before."),
    ("slope", "(x1 - x0) / (y1 - y0)",
     "Values between two points of the table are off, and where both are equal there is a ZeroDivisionError.",
     "The slope is the step in y for each step in x, not the other way round."),
    ("half", "round(abs($ratio))",
     "`$snap` takes a number halfway between two steps sometimes up and sometimes down.",
     "round goes to the even neighbour for halves, where away from zero is asked for."),
    ("sign", "$steps * $grain",
     "`$snap` loses the sign of negative numbers.",
     "Steps are counted without the sign, which has to be put back."),
    ("free", "len($values)",
     "The deviation that `$spread` gives is a little smaller than that of our other tools, most of all for short lists.",
     "For a sample the squares are divided by one less than the number of values."),
)
# fmt: on

TEMPLATE = Template(
    kind=Kind.BUGFIX,
    domain="numerics",
    instruction="$bug_complaint $place",
    parameters={
        "what": words("number", 2),
        "module": one_of("series", "${noun}_series", "smoothing", "${noun}_numbers", "curves"),
        "smooth": one_of("running_mean", "smooth", "moving_average", "smooth_${nouns}", "mean_${noun}"),
        "between": one_of("interpolate", "between", "${other}_at", "value_at", "look_up_${other}"),
        "snap": one_of("round_to", "snap", "to_step", "round_${noun}", "nearest_step"),
        "spread": one_of("deviation", "spread", "sample_deviation", "${noun}_spread", "scatter"),
        "values": one_of("values", "numbers", "samples", "${nouns}"),
        "points": one_of("points", "table", "curve", "knots"),
        "total": one_of("total", "running", "inside", "added"),
        "ratio": one_of("ratio", "quotient", "parts", "exact"),
        "steps": one_of("steps", "whole", "count", "units"),
        "grain": one_of("step", "grain", "unit_size", "grid"),
        "width": one_of("width", "size", "length", "span_of"),
        "width_0": integers(3, 4),
        "middle": one_of(
            "sum($values) / len($values)", "math.fsum($values) / len($values)", "sum(value for value in $values) / len($values)"
        ),
        "root": one_of("math.sqrt(squares / ($bug_free))", "(squares / ($bug_free)) ** 0.5"),
        "y": drawn(lambda rng: {str(at): rng.randint(2, 60) * 4 for at in range(3)}),
        "place": one_of(
            "The functions are in `$module.py`.", "It is `$module.py` that does this.", "Our charts call `$module.py` for it."
        ),
        "bug": rows(*({**GOOD, place: text, "complaint": said, "why": why} for place, text, said, why in BUGS)),
    },
    where=lambda v: v["y_0"] != v["y_1"] != v["y_2"],
    derive=lambda v: {
        "noun": v["what_0"],
        "nouns": plural(v["what_0"]),
        "other": v["what_1"],
        "width_1": v["width_0"] + 1,
    },
    files={
        "$module.py": '''
            """What is shown of every measured $noun and $other."""

            import math
            from collections import deque


            def $smooth($values, $width=$width_0):
                """The mean of each number and those before it, at most `$width` in all."""
                window, $total, means = deque(), 0.0, []
                for value in $values:
                    window.append(value)
                    $total += value
                    if $bug_drop:
                        $total -= window.popleft()
                    means.append($bug_mean)
                return means


            def $between($points, x):
                """The $other at x, on straight lines between points (x, $other); beyond the ends that of the nearest point."""
                $bug_known
                $bug_left
                    return $points[0][1]
                for (x0, y0), (x1, y1) in zip($points, $points[1:]):
                    if x0 < x <= x1:
                        return y0 + (x - x0) * $bug_slope
                if x < $points[-1][0]:
                    raise ValueError(f"nothing is known at {x}")
                return $points[-1][1]


            def $snap(number, $grain):
                """The nearest multiple of a step; halves go away from zero."""
                $ratio = number / $grain
                $steps = $bug_half
                return $bug_sign


            def $spread($values):
                """The standard deviation of a sample; 0 for fewer than two numbers."""
                if len($values) < 2:
                    return 0.0
                mean = $middle
                squares = sum((value - mean) ** 2 for value in $values)
                return $root
        ''',
    },
    repair={f"bug_{place}": text for place, text in GOOD.items()},
    tests={
        "test_$module.py": """
            import pytest

            from $module import $between, $smooth, $snap, $spread

            POINTS = [(4, $y_1), (0, $y_0), (8, $y_2)]


            def test_means_of_a_short_start_and_a_full_window():
                means = $smooth([1, 3, 5, 7, 9, 11])
                assert means[:3] == [1, 2, 3]
                assert means[-1] == pytest.approx(sum([1, 3, 5, 7, 9, 11][-$width_0:]) / $width_0)
                assert $smooth([$y_0, $y_1], 1) == [$y_0, $y_1]


            @pytest.mark.parametrize(("x", "value"), [
                (-1, $y_0), (0, $y_0), (1, $y_0 + ($y_1 - $y_0) / 4), (4, $y_1), (6, ($y_1 + $y_2) / 2), (8, $y_2), (9, $y_2),
            ])
            def test_points_in_any_order(x, value):
                assert $between(POINTS, x) == pytest.approx(value)


            def test_flat_lines():
                assert $between([(0, $y_0), (2, $y_0)], 1) == $y_0
                assert $between([(3, $y_1)], 5) == $y_1


            @pytest.mark.parametrize(("number", "step", "near"), [
                (2.5, 1, 3), (3.5, 1, 4), (-2.5, 1, -3), (-7, 4, -8), (6, 4, 8), (10, 4, 12), (0.3, 0.25, 0.25), (0, 5, 0),
            ])
            def test_halves_go_away_from_zero(number, step, near):
                assert $snap(number, step) == pytest.approx(near)


            def test_deviation_of_a_sample():
                assert $spread([$y_0, $y_0 + 2]) == pytest.approx(2 ** 0.5)
                assert $spread([$y_1]) == 0
        """,
    },
    thoughts="$bug_why",
)
