"""Which guards and statements may be inserted where."""

from __future__ import annotations

from swefuse.code.operators import Bug, edits


def inserted(text: str, kind: Bug) -> set[tuple[int, str]]:
    return {(edit.line, edit.new) for edit in edits(text, "f") if edit.kind is kind and not edit.old}


def test_a_name_without_a_first_value_may_get_one() -> None:
    broken = "def f(items: list[int]) -> int:\n    for item in items:\n        total += item * item\n    return total\n"
    assert {(2, "    total = 0"), (2, "    total = 1"), (3, "        total = 0")} <= inserted(broken, Bug.STATEMENT)
    sound = broken.replace("    for", "    total = 0\n    for", 1)
    assert not [text for _, text in inserted(sound, Bug.STATEMENT) if text.strip() == "total = 0"]


def test_first_values_follow_the_use() -> None:
    broken = "def f(items: list[int]) -> list[int]:\n    for item in items:\n        out.append(item)\n    return out\n"
    assert (2, "    out = []") in inserted(broken, Bug.STATEMENT)
    assert (2, "    out = 0") not in inserted(broken, Bug.STATEMENT)


def test_names_of_the_module_need_no_first_value() -> None:
    text = "import math\n\n\ndef g():\n    pass\n\n\ndef f(n: int) -> int:\n    return g(math.sqrt(n))\n"
    assert not [new for _, new in inserted(text, Bug.STATEMENT) if new.split()[0] in ("math", "g")]


def test_guards_stand_at_starts_behind_guards_and_behind_what_they_test() -> None:
    text = (
        "def f(items: list[int], n: int) -> int:\n"
        "    if not items:\n        return 0\n"
        "    top = max(items)\n"
        "    for item in items:\n        n += item\n"
        "    return n - top\n"
    )
    guards = inserted(text, Bug.GUARD)
    assert {(2, "    if n < 0:\n        raise ValueError"), (4, "    if n <= 0:\n        return 0")} <= guards
    assert (6, "        if item == 0:\n            continue") in guards
    assert not [line for line, _ in guards if line == 7]
    assert not [new for line, new in guards if line == 5 and "n " in new.split(":")[0].replace("return", "")]


def test_a_loop_may_get_the_statement_that_brings_it_on() -> None:
    broken = "def f(n: int) -> int:\n    count = 0\n    while n > 0:\n        count += 1\n    return count\n"
    assert {(5, "        n //= 10"), (5, "        n -= 1"), (4, "        n >>= 1")} <= inserted(broken, Bug.STATEMENT)
