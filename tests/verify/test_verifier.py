"""The way from candidate to verdict: suites, cache, repeats, and what a broken sandbox means."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from small_task import RIGHT, WRONG, make_task

from swefuse.errors import DataError, SandboxError
from swefuse.records import Evidence, Outcome, Task
from swefuse.sandbox.base import Job, Output
from swefuse.sandbox.local import LocalSandbox
from swefuse.scale import InlineExecutor, ProcessExecutor
from swefuse.verify import Candidate, Patched, Verifier, init_worker, verify_many
from swefuse.verify.many import saved
from swefuse.verify.patch import make_patch
from swefuse.verify.tests import Limits


def changed(task: Task, source: str) -> Mapping[str, str]:
    return {**task.files, "m.py": source}


class Shaky(LocalSandbox):
    """Fails a set number of jobs and counts all."""

    def __init__(self) -> None:
        super().__init__()
        self.failures_left = 0
        self.jobs: list[Job] = []

    def run(self, job: Job) -> Output:
        self.jobs.append(job)
        if self.failures_left:
            self.failures_left -= 1
            raise SandboxError("out of order")
        return super().run(job)


@pytest.fixture
def shaky() -> Iterator[tuple[Verifier, Shaky]]:
    with Verifier(f"{__name__}:Shaky") as verifier:
        assert isinstance(verifier.sandbox, Shaky)
        yield verifier, verifier.sandbox


def test_one_failure_of_the_sandbox_is_retried_two_are_infra(shaky: tuple[Verifier, Shaky], task: Task) -> None:
    verifier, sandbox = shaky
    sandbox.failures_left = 1
    assert verifier.verify(task, changed(task, RIGHT)).outcome is Outcome.PASSED
    sandbox.failures_left = 2
    broken = verifier.verify(task, changed(task, WRONG + "#"))
    assert (broken.outcome, broken.outcome.graded, broken.reason) == (Outcome.INFRA, False, "out of order")
    assert verifier.verify(task, changed(task, WRONG + "#")).outcome is Outcome.FAILED  # INFRA was not cached


def test_a_worker_that_is_killed_costs_nothing_but_time(task: Task) -> None:
    with Verifier(cache=False) as verifier:
        assert isinstance(verifier.sandbox, LocalSandbox)
        for _ in range(2):
            verifier.sandbox.start()
            assert verifier.sandbox.pids
            os.kill(verifier.sandbox.pids["calls"], signal.SIGKILL)
            assert verifier.verify(task, changed(task, RIGHT)).outcome is Outcome.PASSED


def test_the_cache_answers_only_for_exactly_the_same_work(shaky: tuple[Verifier, Shaky], task: Task) -> None:
    verifier, sandbox = shaky
    first = verifier.verify(task, changed(task, RIGHT))
    assert verifier.verify(task, dict(reversed(list(changed(task, RIGHT).items())))) is first
    assert len(sandbox.jobs) == 1
    harder = task.suites[0].model_copy(
        update={"calls": (*task.suites[0].calls[:3], task.suites[0].calls[3].model_copy(update={"want": "7"}))}
    )
    for other, files, options in [
        (task, changed(task, RIGHT + "#"), {}),
        (task, changed(task, RIGHT), {"form": "pytest"}),
        (task, changed(task, RIGHT), {"visible_only": True}),
        (task, changed(task, RIGHT), {"repeats": 2}),
        (task.model_copy(update={"suites": (harder, task.suites[1])}), changed(task, RIGHT), {}),  # same id, other tests
        (task.model_copy(update={"protected": ("m.py",)}), changed(task, RIGHT), {}),
    ]:
        assert verifier.verify(other, files, **options) is not first  # type: ignore[arg-type]


def test_a_fresh_verdict_is_run_and_more_repeats_serve_for_fewer(shaky: tuple[Verifier, Shaky], task: Task) -> None:
    verifier, sandbox = shaky
    thrice = verifier.verify(task, changed(task, RIGHT), repeats=3)
    assert len(sandbox.jobs) == 3
    assert (
        verifier.verify(task, changed(task, RIGHT)) is thrice and verifier.verify(task, changed(task, RIGHT), repeats=2) is thrice
    )
    once = verifier.verify(task, changed(task, RIGHT), fresh=True)
    assert len(sandbox.jobs) == 4 and once.repeats == 1 and once.outcome is thrice.outcome
    assert verifier.verify(task, changed(task, RIGHT)) is thrice, "the verdict from more runs is kept"
    assert verifier.verify(task, changed(task, RIGHT), repeats=4).repeats == 4 and len(sandbox.jobs) == 8


def test_the_cache_file_serves_the_next_verifier(tmp_path: Path, task: Task) -> None:
    with Verifier(cache_path=tmp_path / "v.sqlite") as one:
        first = one.verify(task, changed(task, RIGHT))
    with (
        Verifier(f"{__name__}:Shaky", cache_path=tmp_path / "v.sqlite") as other,
        Verifier(cache_path=tmp_path / "v.sqlite") as same,
    ):
        assert other.verify(task, changed(task, RIGHT)).outcome is Outcome.PASSED
        assert isinstance(other.sandbox, Shaky)
        assert len(other.sandbox.jobs) == 1  # another sandbox, another key
        assert same.verify(task, changed(task, RIGHT)) == first
        assert isinstance(same.sandbox, LocalSandbox)
        assert not same.sandbox.pids  # it never had to start a worker


def test_repeats_that_disagree_are_flaky(verifier: Verifier, task: Task) -> None:
    moody = (
        "import os\ndef f(x):\n    if x < 0:\n        raise ValueError(x)\n    return 2 * x + (x == 3 and os.urandom(1)[0] % 2)\n"
    )
    verdict = verifier.verify(task, changed(task, moody), repeats=30)
    assert (verdict.outcome, verdict.score, verdict.repeats) == (Outcome.FLAKY, 0.0, 30)
    assert verdict.reason == "30 runs disagree on t3"
    both = moody.replace("2 * x", "2 * x + (x == 0)")  # FAILED every time, but not alike
    failing = verifier.verify(task, changed(task, both), repeats=30)
    assert (failing.outcome, failing.reason) == (Outcome.FAILED, "the runs fail in different ways"), "it never passed"
    assert set(failing.matrix) == {"t3"}
    assert verifier.verify(task, changed(task, RIGHT), repeats=3).outcome is Outcome.PASSED


def test_visible_only_runs_what_an_agent_may_see(shaky: tuple[Verifier, Shaky], task: Task) -> None:
    verifier, sandbox = shaky
    verdict = verifier.verify(task, changed(task, WRONG + "#"), visible_only=True)
    assert (verdict.outcome, list(verdict.tests)) == (Outcome.PASSED, ["t0", "t1"])
    assert [id_ for id_, _ in sandbox.jobs[0].calls] == ["t0", "t1"]


def test_calls_form_ships_no_expected_value(shaky: tuple[Verifier, Shaky], task: Task) -> None:
    verifier, sandbox = shaky
    verifier.verify(task, changed(task, RIGHT))
    assert sandbox.jobs[0].files.keys() == {"m.py"}


def test_the_unchanged_state_scores_nothing(verifier: Verifier, task: Task) -> None:
    verdict = verifier.verify(task, task.files)
    assert (verdict.outcome, verdict.score, verdict.parts) == (Outcome.FAILED, 0.0, {"pass_rate": 0.75})
    assert verifier.verify(task, changed(task, WRONG + "#")).score == 0.75


def test_a_task_at_odds_with_itself_is_an_error_of_the_data(verifier: Verifier, task: Task) -> None:
    calls = task.suites[0]
    twice = {"calls": (*calls.calls, calls.calls[0]), "fail_to_pass": (*calls.fail_to_pass, calls.calls[0].id)}
    for suite, form in [
        (calls.model_copy(update=twice), "calls"),
        (calls, "command"),
        (calls.model_copy(update={"fail_to_pass": ("nowhere",)}), "calls"),
        (calls.model_copy(update={"calls": (*calls.calls, calls.calls[0])}), "calls"),
        (calls.model_copy(update={"calls": (*calls.calls[1:], calls.calls[0].model_copy(update={"args": "0"}))}), "calls"),
    ]:
        with pytest.raises(DataError):
            verifier.verify(task.model_copy(update={"suites": (suite,)}), changed(task, RIGHT), form=form)


def test_other_modules_of_the_state_can_be_imported(verifier: Verifier) -> None:
    files = {
        "src/p/b.py": "def g(x):\n    return x + 1\n",
        "src/p/a.py": "from p.b import g\nfrom . import b\n\ndef f(x):\n    return g(x) + b.g(x)\n",
    }
    task = make_task([("(1,)", "4", None)], entry="src/p/a.py:f", files=files)
    assert verifier.verify(task, {**task.files, "src/p/a.py": files["src/p/a.py"] + "\n"}).outcome is Outcome.PASSED


def test_many_in_order_inline_and_in_processes(task: Task) -> None:
    sources = [RIGHT, WRONG + "#", "def f(:", "while True: pass\n", RIGHT + "#"]
    expected = [Outcome.PASSED, Outcome.FAILED, Outcome.UNPARSED, Outcome.TIMEOUT, Outcome.PASSED]
    items = [Candidate(task, changed(task, source)) for source in sources]
    inline = [verdict.outcome for verdict in verify_many(items, InlineExecutor(init_worker))]
    with ProcessExecutor(2, init_worker, ("local", False), chunk=2) as executor:
        parallel = [verdict.outcome for verdict in verify_many(items, executor)]
    assert inline == parallel == expected
    init_worker().close()


def test_patches_are_judged_like_states_and_none_is_left_out(task: Task) -> None:
    right = make_patch(task.files, changed(task, RIGHT))
    test = make_patch(task.files, {**task.files, "tests/test_m.py": "def test_t3(): pass\n"})
    patches = [
        right,
        right.replace(b"\n", b"\r\n"),
        make_patch(task.files, changed(task, "x = (\n")),
        test,
        b"@@ -1 +1 @@\n",
        b" \n",
    ]
    executor = InlineExecutor(init_worker)
    verdicts = list(verify_many((Patched(task, patch) for patch in patches), executor))
    assert [verdict.outcome for verdict in verdicts] == [
        Outcome.PASSED, Outcome.PASSED, Outcome.UNPARSED, Outcome.TAMPERED, Outcome.UNPARSED, Outcome.FAILED,
    ]  # fmt: skip
    assert verdicts[0].tests == next(iter(verify_many([Candidate(task, changed(task, RIGHT))], executor))).tests
    assert verdicts[4].reason.startswith("line 1 of the patch: a hunk without")
    assert verdicts[5].reason == "the patch is empty" and all(verdict.score == 0 for verdict in verdicts[2:])
    (whole,) = verify_many([Patched(task, right, "pytest", repeats=2)], executor)
    assert (whole.outcome, whole.form, whole.repeats) == (Outcome.PASSED, "pytest", 2)


def test_what_was_done_and_saved_is_counted(task: Task) -> None:
    items = [
        Candidate(task, changed(task, RIGHT)), Candidate(task, changed(task, RIGHT)), Candidate(task, changed(task, WRONG + "#")),
        Patched(task, b" "), Patched(task, b"@@ -1 +1 @@\n"), Patched(task, make_patch(task.files, changed(task, RIGHT))),
        Candidate(task, {**task.files, "conftest.py": ""}),
    ]  # fmt: skip
    inline: Counter[str] = Counter()
    assert len(list(verify_many(items, InlineExecutor(init_worker), inline))) == 7
    assert inline == {"candidates": 7, "known": 2, "refused": 3, "runs": 2}
    processes: Counter[str] = Counter()
    with ProcessExecutor(1, init_worker) as executor:
        list(verify_many(items, executor, processes))
    assert processes == inline
    assert saved(inline) == "7 candidates, 2 runs; 2 known already; 3 refused before any run"
    init_worker().close()


def test_a_fast_verdict_and_a_retry_are_counted(shaky: tuple[Verifier, Shaky], task: Task) -> None:
    verifier, sandbox = shaky
    sandbox.failures_left = 1
    whole = task.model_copy(update={"reference": dict(changed(task, RIGHT))})
    verifier.verify(whole, changed(task, WRONG + "#"), "pytest", fail_fast=True)
    assert verifier.tally == {"candidates": 1, "stopped_early": 1, "runs": 2, "retries": 1}


class Slow(LocalSandbox):
    """Tells that every job takes three seconds, which those with less to spend do not live to see."""

    def __init__(self) -> None:
        super().__init__()
        self.allowed: list[float] = []

    def run(self, job: Job) -> Output:
        self.allowed.append(job.cpu_s)
        return Output("", "cpu", job.cpu_s) if job.cpu_s < 3 else dataclasses.replace(super().run(job), cpu_s=3.0)


def test_a_candidate_that_hangs_is_given_up_as_early_as_its_reference_lets(task: Task) -> None:
    whole = task.model_copy(update={"reference": dict(changed(task, RIGHT))})
    with Verifier(f"{__name__}:Slow", cache=False, cold_share=0.0) as verifier:
        assert isinstance(verifier.sandbox, Slow)
        assert verifier.verify(whole, changed(task, RIGHT), "pytest").outcome is Outcome.PASSED
        # the first two seconds, the reference, the candidate; then its canaries and those of the reference
        assert verifier.sandbox.allowed[:3] == [2.0, 20.0, 20.0]
    with Verifier(f"{__name__}:Shaky", cache=False) as verifier:
        assert isinstance(verifier.sandbox, Shaky)
        assert verifier.verify(whole, changed(task, "while True: pass\n"), "pytest").outcome is Outcome.TIMEOUT
        assert [job.cpu_s for job in verifier.sandbox.jobs] == [2.0, 20.0], "a try and the quick reference, no second try"
        assert verifier.verify(whole, changed(task, "while 1: pass\n"), "pytest").outcome is Outcome.TIMEOUT
        assert len(verifier.sandbox.jobs) == 3, "what the reference takes is known"
    with Verifier(f"{__name__}:Shaky", cache=False, limits=Limits(pytest_cpu_s=1.0)) as verifier:
        assert isinstance(verifier.sandbox, Shaky)
        verifier.verify(task, changed(task, "while True: pass\n"), "pytest")
        assert [job.cpu_s for job in verifier.sandbox.jobs] == [1.0]


def test_a_task_that_is_known_to_need_it_runs_cold(shaky: tuple[Verifier, Shaky], task: Task) -> None:
    verifier, sandbox = shaky
    evidence = Evidence(repeats=3, reference_passes=True, null_fails=True, cold="measured")
    assert verifier.verify(task.model_copy(update={"evidence": evidence}), changed(task, RIGHT), "pytest").outcome is Outcome.PASSED
    assert [job.fresh_process for job in sandbox.jobs] == [True]


def test_every_run_for_a_cold_task_is_cold_and_each_reference_has_its_own(task: Task) -> None:
    evidence = Evidence(repeats=3, reference_passes=True, null_fails=True, cold="measured")
    first = task.model_copy(update={"evidence": evidence, "reference": dict(changed(task, RIGHT))})
    with Verifier(f"{__name__}:Shaky", measure=("cost",)) as verifier:
        assert isinstance(verifier.sandbox, Shaky)
        found = verifier.verify(first, changed(task, RIGHT + "# a"), "pytest")
        assert found.parts["speed"] == 1.0 and {job.fresh_process for job in verifier.sandbox.jobs} == {True}
        counted = sum(job.count_lines for job in verifier.sandbox.jobs)
        other = first.model_copy(update={"reference": dict(changed(task, RIGHT + "# other"))})
        verifier.verify(other, changed(task, RIGHT + "# b"), "pytest")
        again = sum(job.count_lines for job in verifier.sandbox.jobs) - counted
        assert (counted, again) == (2, 2), "candidate and reference each: another reference under the same id is counted anew"


def test_who_passes_only_warm_is_told_aloud_and_does_not_slow_its_task(task: Task) -> None:
    loads = task.model_copy(update={"files": {**task.files, "other.py": "import colorsys\n"}})
    source = RIGHT.replace("2 * x", "2 * x if 'colorsys' in sys.modules else 0")
    with Verifier(f"{__name__}:Shaky", cold_share=1.0) as verifier:
        assert isinstance(verifier.sandbox, Shaky)
        found = verifier.verify(loads, {**loads.files, "m.py": f"import sys\n{source}"}, "pytest")
        assert found.outcome is Outcome.FLAKY and verifier.tally["cold_disagreed"] == 1
        assert "PASSED WARM AND NOT COLD" in saved(verifier.tally)
        verifier.verify(loads, {**loads.files, "m.py": WRONG + "#"}, "pytest")
        assert [job.fresh_process for job in verifier.sandbox.jobs] == [False, True, False]


def test_a_verdict_is_not_known_for_another_reference_or_another_way_to_run(shaky: tuple[Verifier, Shaky], task: Task) -> None:
    verifier, sandbox = shaky
    evidence = Evidence(repeats=3, reference_passes=True, null_fails=True, cold="measured")
    for changes in ({}, {"reference": dict(changed(task, RIGHT + "#"))}, {"evidence": evidence}):
        before = len(sandbox.jobs)
        verifier.verify(task.model_copy(update=changes), changed(task, RIGHT), "pytest")
        assert len(sandbox.jobs) > before, changes


def test_tests_that_wait_may_take_as_long_as_for_the_reference(task: Task) -> None:
    whole = task.model_copy(update={"reference": dict(changed(task, RIGHT))})
    with Verifier(f"{__name__}:Waiting", cache=False, cold_share=0.0) as verifier:
        assert verifier.verify(whole, changed(task, RIGHT), "pytest").outcome is Outcome.PASSED


class Waiting(LocalSandbox):
    """Tells that every job takes twelve elapsed seconds, which those with less to spend do not live to see."""

    def run(self, job: Job) -> Output:
        if job.wall_limit < 12:
            return Output("", "wall", 0.03, job.wall_limit)
        return dataclasses.replace(super().run(job), wall_s=12.0)


def test_other_packages_are_another_environment() -> None:
    text = "import sys\nfrom swefuse.verify.cache import environment_lock\nprint(environment_lock())"
    mine = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    other = f"import sys\nsys.version += 'x'\n{text}"
    assert len(mine.strip()) == 64
    assert mine != subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=True).stdout
    assert mine == subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
