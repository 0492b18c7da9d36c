"""Composed corpus: loop shapes x conditions x expressions x guards, each combination a small function of its own.

The held-out split ``recombined`` takes whole combinations out of training: their parts are known there, the combination is not.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

SHAPES: dict[str, str] = {
    "total": """
def {name}(items: list[int], limit: int) -> int:
    \"\"\"{doc}\"\"\"
{guard}    total = 0
    for item in items:
        if {cond}:
            total += {expr}
    return total
""",
    "collect": """
def {name}(items: list[int], limit: int) -> list[int]:
    \"\"\"{doc}\"\"\"
{guard}    kept = []
    for item in items:
        if {cond}:
            value = {expr}
            kept.append(value)
    return kept
""",
    "count": """
def {name}(items: list[int], limit: int) -> int:
    \"\"\"{doc}\"\"\"
{guard}    count = 0
    step = 1
    for item in items:
        value = {expr}
        if {cond} and value > 0:
            count += step
    return count
""",
    "first": """
def {name}(items: list[int], limit: int) -> int:
    \"\"\"{doc}\"\"\"
{guard}    for index, item in enumerate(items):
        if {cond}:
            return index + ({expr})
    return -1
""",
    "last": """
def {name}(items: list[int], limit: int) -> int:
    \"\"\"{doc}\"\"\"
{guard}    found = -1
    index = 0
    while index < len(items):
        item = items[index]
        if {cond}:
            found = {expr}
        index += 1
    return found
""",
    "best": """
def {name}(items: list[int], limit: int) -> int:
    \"\"\"{doc}\"\"\"
{guard}    best = 0
    for item in items:
        value = {expr}
        if {cond} and value > best:
            best = value
    return best
""",
    "run": """
def {name}(items: list[int], limit: int) -> int:
    \"\"\"{doc}\"\"\"
{guard}    longest = 0
    length = 0
    for item in items:
        if {cond}:
            length += 1
            longest = max(longest, length)
        else:
            length = 0
    return longest + ({expr_limit})
""",
    "until": """
def {name}(items: list[int], limit: int) -> int:
    \"\"\"{doc}\"\"\"
{guard}    total = 0
    for item in items:
        if not ({cond}):
            break
        total = total + {expr}
    return total
""",
    "skip": """
def {name}(items: list[int], limit: int) -> list[int]:
    \"\"\"{doc}\"\"\"
{guard}    kept = []
    for index in range(len(items)):
        item = items[index]
        if {cond}:
            continue
        kept.append({expr})
    return kept
""",
    "steps": """
def {name}(items: list[int], limit: int) -> int:
    \"\"\"{doc}\"\"\"
{guard}    changes = 0
    for index in range(1, len(items)):
        item = items[index] - items[index - 1]
        if {cond}:
            changes += {expr}
    return changes
""",
}
# each part with the words that stand for it in the function's name
CONDITIONS = {
    "item > limit": "above_limit", "item <= limit": "up_to_limit", "item % 2 == 0": "even", "item < 0": "negative",
    "item % 3 == 1": "one_more_than_threes", "item != limit": "not_limit", "item * 2 >= limit": "double_reaching_limit",
    "abs(item) < limit": "size_below_limit", "limit > item + 1": "well_below_limit", "0 <= item < limit": "within_limit",
}  # fmt: skip
EXPRESSIONS = {
    "item": "plain", "item * item": "squares", "item + limit": "plus_limit", "limit - item": "limit_less", "abs(item)": "sizes",
    "item // 2": "halves", "item * 2 - 1": "doubles_less_one", "max(item, limit)": "at_least_limit", "item % 5": "rest_of_five",
    "item * limit": "times_limit",
}  # fmt: skip
GUARDS = {
    "": "",
    "empty": "    if not items:\n        return {empty}\n",
    "negative": "    if limit < 0:\n        raise ValueError(\"limit must not be negative\")\n",
    "zero": "    if limit == 0:\n        return {empty}\n",
}  # fmt: skip
GUARD_WORDS = {"": "", "empty": "_unless_empty", "negative": "_unless_limit_negative", "zero": "_unless_limit_zero"}


@dataclass(frozen=True)
class Composed:
    """One composed function: its text, its name and the parts it was made of."""

    name: str
    text: str
    parts: tuple[str, str, str, str]


def composed(count: int, seed: int = 0) -> list[Composed]:
    """``count`` different combinations in a fixed order for a seed. At most 4,000 exist; more cannot be asked for."""
    everything = list(itertools.product(SHAPES, CONDITIONS, EXPRESSIONS, GUARDS))
    if not 0 <= count <= len(everything):
        raise ValueError(f"count must lie in [0, {len(everything)}], not {count}")
    picked = random.Random(f"compose-{seed}").sample(everything, count)
    return [_compose(parts) for parts in picked]


def _compose(parts: tuple[str, str, str, str]) -> Composed:
    shape, condition, expression, guard = parts
    name = f"{shape}_{EXPRESSIONS[expression]}_where_{CONDITIONS[condition]}{GUARD_WORDS[guard]}"
    empty = "[]" if "-> list" in SHAPES[shape] else "0"
    text = SHAPES[shape].format(
        name=name,
        doc=f"{name.replace('_', ' ').capitalize()}.",
        guard=GUARDS[guard].format(empty=empty),
        cond=condition,
        expr=expression,
        expr_limit=expression.replace("item", "limit") if "item" in expression else expression,
    )
    return Composed(name, text.lstrip("\n"), parts)
