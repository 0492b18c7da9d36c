"""Candidates from real models: a tiny one that chooses, and rules that write."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from function_task import BUGGY
from learn_samples import model, tokenizer
from swefuse.collect.dialects import DIALECTS
from swefuse.collect.episode import How, Limits
from swefuse.errors import UserError
from swefuse.evaluate.solve.localise import Failing, localise
from swefuse.evaluate.solve.propose import Chooser, Work, Writer, agent_task, by_chance
from swefuse.learn.assess import Assessor
from swefuse.learn.learnt import Learnt
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.value import sum_only
from swefuse.policy.base import Reply, Request
from swefuse.policy.local import LocalPolicy
from swefuse.records import Kind, PolicyIdentity, Provenance, Suite, Task, Verdict
from swefuse.verify.many import Candidate

FILES = {
    "pkg/m.py": f"class C:\n    def big(self, n):\n        if n > 3:\n            return 1\n        return n\n\n\n{BUGGY}",
    "tests/test_m.py": "SECRET = 1\n\n\ndef test_it():\n    assert 0\n",
}
ISSUE = "`double` gives 0, and `C.big` too"


def work(hidden: bool = False, details: dict[str, str] | None = None) -> Work:
    suites = (Suite(form="pytest", files=("tests/test_m.py",), fail_to_pass=("tests/test_m.py::test_it",)),)
    task = Task.make(
        Kind.BUGFIX, instruction="", files=FILES, editable=("pkg/m.py",), protected=("tests/test_m.py",), suites=suites,
        provenance=Provenance(source="solve"),
    )  # fmt: skip
    return Work(task, localise(FILES, Failing(), ISSUE), ISSUE, details or {}, hidden)


def nobody(items: Sequence[Candidate]) -> list[Verdict]:
    raise AssertionError("a model that chooses needs no test")


@cache
def policy() -> LocalPolicy:
    return LocalPolicy(model(), codec_for(tokenizer()), "tiny")


def test_the_most_probable_edits_of_several_functions_each_once() -> None:
    found = Chooser(policy()).propose(work(), 16, nobody)
    assert len(found) == 16 and len({one.files["pkg/m.py"] for one in found}) == 16
    chances = [one.chance for one in found]
    assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1
    assert {one.did.partition(" in ")[2].partition(" ")[0] for one in found} == {"double", "C.big"}
    assert found[:4] == Chooser(policy()).propose(work(), 4, nobody), "fewer are the first of more"


def test_chances_are_those_of_the_policy_times_the_share_of_the_function() -> None:
    suspects = work().suspects
    top = Chooser(policy()).propose(work(), 1, nobody)[0]
    share = next(one.score for one in suspects if f" in {one.name} " in top.did)
    origin = top.origin
    request = Request(origin.view.task, origin.view.steps, origin.view.choices, greedy=True)
    reply = policy().act([request])[0]
    assert reply.choice == origin.reply.choice and top.chance <= share
    assert reply.trace is not None and sum(reply.trace.logprobs) == pytest.approx(top.logprob)


def test_what_tests_say_reaches_the_model_only_where_it_may() -> None:
    details = {"tests/test_m.py::test_it": "AssertionError: assert 0 == 4\n +  where 0 = double(2)"}
    shown = Chooser(policy()).propose(work(details=details), 1, nobody)[0].origin.view
    hidden = Chooser(policy()).propose(work(True, details), 1, nobody)[0].origin.view
    assert "gave 0, expected 4" in shown.steps[1].observation and "gave" not in hidden.steps[1].observation


def test_a_function_without_edits_or_longer_than_the_model_reads_gives_none() -> None:
    long = "def double(x):\n" + "    x = x + 1\n" * 140 + "    return x\n"
    task = work().task.model_copy(update={"files": {"pkg/m.py": long}})
    few = LocalPolicy(model(), codec_for(tokenizer()), "tiny")
    few.model.config.max_position_embeddings = 64
    assert Chooser(few).propose(Work(task, localise(task.files, Failing(), ISSUE), ISSUE), 4, nobody) == []


def test_a_value_model_scores_and_compares_candidates_of_different_functions(tmp_path: Path) -> None:
    made = model()
    head = sum_only(made.config.hidden_size)
    learnt = Learnt(head, head, RlvrSettings().value)
    chooser = Chooser(policy(), Assessor(learnt, made, codec_for(tokenizer()), RlvrSettings()))
    found = chooser.propose(work(), 6, nobody)
    scores = chooser.scores(found)
    assert scores is not None and len(scores) == 6 and all(0 <= score <= 1 for score in scores)
    pairs = [(0, 1), (1, 0), (2, 5)]
    verdicts = chooser.verdicts(found, pairs)
    assert verdicts[0] == pytest.approx((verdicts[1][1], verdicts[1][0], verdicts[1][2]))
    a, b = scores[2], scores[5]
    assert verdicts[2] == pytest.approx((a * (1 - b), b * (1 - a), a * b + (1 - a) * (1 - b)), abs=1e-5)
    assert Chooser(policy()).scores(found) is None and Chooser(policy()).verdicts(found, pairs) == by_chance(found, pairs)


class Scribe:
    """Writes by a rule: a look, one of two edits by the seed, and that is it. Keeps what it was asked with."""

    def __init__(self, problem: str = "") -> None:
        self.problem, self.asked = problem, list[str]()

    @property
    def identity(self) -> PolicyIdentity:
        return PolicyIdentity(model="scribe")

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        return [self._one(request) for request in requests]

    def _one(self, request: Request) -> Reply:
        assert request.freedom is not None
        self.asked.append("\n".join(message.content for message in request.freedom.messages))
        if self.problem:
            return Reply(None, problem=self.problem)
        acts = [f"@edit pkg/m.py:10\n-x - x\n+x {'+*'[request.seed % 3 == 1]} x\n", "@test\n", "@submit\n"]
        done = sum(step.action is not None and step.action.name != "view" for step in request.steps)
        return Reply(None, text=acts[min(done, 2)])


def failed(items: Sequence[Candidate]) -> list[Verdict]:
    from swefuse.records import Outcome, TestResult

    tests = {"tests/test_m.py::test_it": TestResult(outcome="failed", detail="assert 0 == 4")}
    return [Verdict(outcome=Outcome.FAILED, form="pytest", tests=tests) for _ in items]


def test_a_writing_model_works_as_an_agent_and_equal_ends_are_one_candidate() -> None:
    scribe = Scribe()
    found = Writer(scribe, How(DIALECTS["compact"], Limits())).propose(work(), 4, failed)
    texts = [one.files["pkg/m.py"] for one in found]
    assert [("x + x" in text, "x * x" in text) for text in texts] == [(True, False), (False, True)]
    assert [one.chance for one in found] == [0.75, 0.25] and "3 steps (submit)" in found[0].did
    assert "test_it" in scribe.asked[-1] and ISSUE in scribe.asked[-1]


def test_hidden_tests_reach_no_prompt() -> None:
    scribe = Scribe()
    writer = Writer(scribe, How(DIALECTS["compact"], Limits()))
    found = writer.propose(work(True, {"tests/test_m.py::test_it": "assert 0 == 4"}), 2, failed)
    assert len(found) == 2 and writer.scores(found) is None
    assert not [text for text in scribe.asked if "test_m" in text or "test_it" in text or "0 == 4" in text]
    assert "there are no tests to show" in scribe.asked[-1] and "tests/test_m.py" not in agent_task(work(True)).files


def test_a_model_that_answers_nothing_says_why() -> None:
    with pytest.raises(UserError, match="out of credit"):
        Writer(Scribe("out of credit"), How(DIALECTS["compact"])).propose(work(), 2, failed)
