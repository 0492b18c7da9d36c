"""The tests of a function task, in both forms, made from what the reference answers."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence

from swefuse.records import Call, Suite
from swefuse.tasks.humaneval import check_file
from swefuse.tasks.observe import Observed
from swefuse.tasks.spec import MODULE, TEST_MODULE, FunctionSpec

MOST_CALLS = 16
FEWEST_CALLS = 2
VISIBLE = 6
CHECK_ID = f"{TEST_MODULE}::test_check"


def choose_calls(spec: FunctionSpec, answers: Sequence[tuple[str, Observed]], rng: random.Random) -> tuple[Call, ...]:
    """At most MOST_CALLS of ``answers`` (arguments and what came) as calls with readable ids, none of them visible yet.

    The function's own arguments come first, then those whose answer is new, in random order. Answers with a trouble are left out.
    """
    own = set(spec.arguments)
    rest = [answer for answer in answers if answer[0] not in own]
    rng.shuffle(rest)
    ordered = [answer for answer in answers if answer[0] in own] + rest
    seen: set[tuple[str | None, str | None]] = set()
    fresh: list[tuple[str, Observed]] = []
    again: list[tuple[str, Observed]] = []
    for arguments, got in ordered:
        if not got.trouble:
            known = (got.want, got.raises) in seen and arguments not in own
            (again if known else fresh).append((arguments, got))
            seen.add((got.want, got.raises))
    taken: set[str] = set()
    calls = []
    for arguments, got in (fresh + again)[:MOST_CALLS]:
        calls.append(Call(id=_readable(arguments, taken), args=arguments, want=got.want, raises=got.raises))
        taken.add(calls[-1].id)
    return tuple(calls)


def _readable(arguments: str, taken: Collection[str]) -> str:
    """An id made from the text of the arguments: letters, digits and a few signs that neither pytest nor a shell minds."""
    slug = re.sub(r"[^\w.+-]+", "_", arguments, flags=re.ASCII).strip("_")[:40] or "empty"
    if slug not in taken:
        return slug
    return next(name for number in range(2, len(taken) + 3) if (name := f"{slug}__{number}") not in taken)


def show(calls: Sequence[Call], failing: Collection[str]) -> tuple[Call, ...]:
    """The calls with VISIBLE of them (at most half) shown: short ones, among them two that fail if as many do."""
    by_size = sorted(calls, key=lambda call: (len(call.args) + len(call.want or call.raises or ""), call.id))
    shown = [call.id for call in by_size if call.id in failing][:2]
    shown += [call.id for call in by_size if call.id not in shown]
    shown = shown[: max(2, min(VISIBLE, (len(calls) + 1) // 2))]
    return tuple(call.model_copy(update={"visible": call.id in shown}) for call in calls)


def module_of_tests(spec: FunctionSpec) -> str:
    """Text of the test file: the source's own check where there is one, else one parametrised test per kind of outcome."""
    if spec.tests:
        return check_file(spec)
    rows = [f'    pytest.param({call.args}, {call.want}, id="{call.id}"),' for call in spec.calls if call.want is not None]
    errors = [f'    pytest.param({call.args}, {call.raises}, id="{call.id}"),' for call in spec.calls if call.raises is not None]
    parts = [f"import pytest\nfrom {MODULE.removesuffix('.py')} import {spec.name}\n"]
    if rows:
        table = "\n".join(rows)
        parts.append(
            f'@pytest.mark.parametrize(("arguments", "want"), [\n{table}\n])\n'
            f"def test_{spec.name}(arguments, want):\n    assert {spec.name}(*arguments) == want\n"
        )
    if errors:
        table = "\n".join(errors)
        parts.append(
            f'@pytest.mark.parametrize(("arguments", "error"), [\n{table}\n])\n'
            f"def test_{spec.name}_raises(arguments, error):\n    with pytest.raises(error):\n        {spec.name}(*arguments)\n"
        )
    return "\n\n".join(parts)


def node_ids(name: str, calls: Sequence[Call]) -> dict[str, str]:
    """Call id -> pytest id of the same test in the test file."""
    return {call.id: f"{TEST_MODULE}::test_{name}{'_raises' if call.raises is not None else ''}[{call.id}]" for call in calls}


def make_suites(spec: FunctionSpec, failing: Collection[str]) -> tuple[Suite, Suite]:
    """The ``calls`` suite and the ``pytest`` suite of a broken version in which the calls with the ids ``failing`` do not pass."""
    failed = tuple(call.id for call in spec.calls if call.id in failing)
    held = tuple(call.id for call in spec.calls if call.id not in failing)
    calls = Suite(
        form="calls", entry=f"{MODULE}:{spec.name}", calls=show(spec.calls, failing),
        fail_to_pass=failed, pass_to_pass=held,
    )  # fmt: skip
    if spec.tests:
        return calls, Suite(form="pytest", files=(TEST_MODULE,), fail_to_pass=(CHECK_ID,))
    nodes = node_ids(spec.name, spec.calls)
    pytest = Suite(
        form="pytest", files=(TEST_MODULE,),
        fail_to_pass=tuple(nodes[id_] for id_ in failed), pass_to_pass=tuple(nodes[id_] for id_ in held),
    )  # fmt: skip
    return calls, pytest
