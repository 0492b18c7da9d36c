"""The parts of the score beside the tests: lines that run, findings that are new."""

from __future__ import annotations

import pytest
from small_task import RIGHT, make_task

from swefuse.records import Evidence, Outcome, Task
from swefuse.sandbox.base import Job
from swefuse.verify import Verifier
from swefuse.verify.measure import lines_run, new_findings, seconds_run
from swefuse.verify.tests import Limits

SLOW = (
    "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    total = 0\n    for _ in range(x):\n        total += 2\n"
    "    return total\n"
)
ROWS: list[tuple[str, str | None, str | None]] = [("(0,)", "0", None), ("(-1,)", None, "ValueError"), ("(50,)", "100", None)]


@pytest.fixture(scope="module")
def solved() -> Task:
    task = make_task(ROWS)
    return task.model_copy(update={"reference": {**task.files, "m.py": RIGHT}})


def test_lines_are_counted_exactly_and_alike(solved: Task) -> None:
    suite = solved.suite("calls")
    assert suite is not None
    with Verifier(cache=False) as verifier:

        def cost(source: str) -> int | None:
            return lines_run(verifier.sandbox, solved, suite, {**solved.files, "m.py": source}, Limits())

        # f(0) and f(50): the test and the return; f(-1): the test and the raise
        assert cost(RIGHT) == 6
        # f(0): if, total, for, return; f(-1): if, raise; f(50): if, total, 51 times for, 50 times the sum, return
        assert cost(SLOW) == 4 + 2 + (2 + 51 + 50 + 1)
        assert cost(SLOW) == cost(SLOW)
        assert cost("import os\ndef f(x):\n    os._exit(0)\n") is None, "a count that does not come to its end is none"


def test_lines_of_tests_are_counted_alike_warm_and_cold(solved: Task) -> None:
    suite = solved.suite("pytest")
    assert suite is not None
    evidence = Evidence(repeats=1, reference_passes=True, null_fails=True, cold="to compare")

    def cost(verifier: Verifier, source: str, task: Task = solved) -> int | None:
        return lines_run(verifier.sandbox, task, suite, {**task.files, "m.py": source}, Limits())

    with Verifier(cache=False) as warm:
        right = cost(warm, RIGHT)
        assert right is not None and right == cost(warm, RIGHT) > 6, "the tests' own lines count too, the same for all"
        assert cost(warm, SLOW) == right + 104, "110 lines instead of 6, as in the calls form"
        assert cost(warm, "import os\ndef f(x):\n    os._exit(0)\n") is None
        output = warm.sandbox.run(
            Job(
                "pytest",
                {**solved.files, "m.py": RIGHT},
                tests=suite.expected,
                count_lines=True,
                fresh_process=True,
                cpu_s=20.0,
            )
        )
        assert f'"lines": {right}' in output.records
    with Verifier(measure=("cost",), cold_share=0.0) as verifier:
        slow = verifier.verify(solved.model_copy(update={"evidence": evidence}), {**solved.files, "m.py": SLOW}, "pytest")
        assert slow.parts["speed"] == pytest.approx(right / (right + 104))


def test_where_lines_cannot_be_counted_time_is_compared(solved: Task) -> None:
    suite = solved.suite("pytest")
    assert suite is not None and solved.reference is not None
    busy = "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    sum(range(9_000_000))\n    return 2 * x\n"
    with Verifier(cache=False, measure=("cost",), cold_share=0.0) as verifier:
        both = seconds_run(verifier.sandbox, solved, suite, {**solved.files, "m.py": busy}, solved.reference, Limits())
        assert both is not None and both[0] > 2 * both[1] > 0
        wrong = {**solved.files, "m.py": "def f(x):\n    return 7\n"}
        assert seconds_run(verifier.sandbox, solved, suite, wrong, solved.reference, Limits()) is None
        blind = "import sys\nprint = sys.exit\n" + RIGHT.replace("return 2 * x", "sys.settrace(None)\n    return 2 * x")
        verdict = verifier.verify(solved, {**solved.files, "m.py": blind}, "pytest")
        assert 0 < verdict.parts["cost"] < 1, "who stops the count is timed, for no line of it can be believed"


def test_only_new_findings_count() -> None:
    task = make_task(ROWS, source="import os\n" + RIGHT)
    files = {**task.files, "m.py": "import os\nimport sys\n" + RIGHT.replace("return 2 * x", "return eval('2 * x')")}
    assert new_findings(task, files, ("m.py",)) == 2, "an unused import and a call of eval; the other import was there before"
    assert new_findings(task, task.files, ("m.py",)) == 0
    assert new_findings(task, {}, ("m.py",)) == 0, "a file that is deleted has none"


def test_speed_and_style_are_parts_of_the_score_and_buy_back_no_failing_test(solved: Task) -> None:
    with Verifier(cache=False, measure=("cost", "style")) as verifier:
        slow = verifier.verify(solved, {**solved.files, "m.py": "import os\n" + SLOW}, "calls")
        assert slow.parts["reference_cost"] == 6 and slow.parts["cost"] == 110 and slow.parts["speed"] == pytest.approx(6 / 110)
        assert slow.parts["findings"] == 1 and slow.parts["style"] == 0.5
        assert slow.score == pytest.approx(0.9 + 0.05 * 6 / 110 + 0.05 * 0.5)
        right = verifier.verify(solved, {**solved.files, "m.py": RIGHT}, "calls")
        assert right.score == 1.0 and right.parts["speed"] == right.parts["style"] == 1.0
        wrong = verifier.verify(solved, {**solved.files, "m.py": RIGHT.replace("2 * x", "x")}, "calls")
        assert not {"speed", "style"} & wrong.parts.keys() and wrong.score == pytest.approx(2 / 3)
    with Verifier(cache=False) as plain:
        assert plain.verify(solved, {**solved.files, "m.py": SLOW}, "calls").score == 1.0, "what is not measured has no weight"


def test_one_part_alone_has_its_own_weight(solved: Task) -> None:
    with Verifier(measure=("style",)) as verifier:
        verdict = verifier.verify(solved, {**solved.files, "m.py": "import os\n" + SLOW}, "calls")
        assert "speed" not in verdict.parts and verdict.score == pytest.approx(0.95 + 0.05 * 0.5)


@pytest.mark.parametrize("form", ["calls", "pytest"])
def test_a_count_that_a_candidate_makes_up_counts_for_nothing(solved: Task, form: str) -> None:
    forger = RIGHT.replace("def f(x):\n", "import os, sys\ndef f(x):\n    if sys.gettrace():\n        %s\n")
    huge = "os.write(3, b'{\"lines\": 1' + b'0' * 400 + b'}\\n'); os._exit(0)"
    with Verifier(measure=("cost",), cold_share=0.0) as verifier:
        for forged in (huge, "os.write(3, b'{\"lines\": 1}\\n'); os._exit(0)"):
            verdict = verifier.verify(solved, {**solved.files, "m.py": forger % forged}, form)
            assert verdict.outcome is Outcome.PASSED, "the plain run passes"
            assert form == "pytest" or not {"cost", "speed"} & verdict.parts.keys()
            assert verdict.parts.get("speed", 0.0) < 1 or verdict.parts["cost"] < 10, "at most the time that it took"
