from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from learn_samples import TASKS, episodes, model, tokenizer, verdict
from swefuse.errors import DataError
from swefuse.learn.assess import Assessor
from swefuse.learn.learnt import Learnt
from swefuse.learn.model import save
from swefuse.learn.rollouts import Rollouts, choice_group, describe
from swefuse.learn.settings import RlvrSettings, ValueSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.value import ResidualHead
from swefuse.policy.local import LocalPolicy
from swefuse.records import Trajectory, Verdict
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

CODEC = codec_for(tokenizer())
SETTINGS = RlvrSettings(micro_batch=2)


def half(items: Sequence[Candidate]) -> list[Verdict]:
    """About every second state passes, always the same ones."""
    return [verdict(int(ref(item.files), 16) % 2 == 0) for item in items]


def learnt() -> Learnt:
    torch.manual_seed(0)
    head = ResidualHead(64)
    with torch.no_grad():
        head.numbers.weight.copy_(torch.tensor([[0.5, 0.2, 0.1]]))
    return Learnt(head, ResidualHead(64, use_hidden=False), ValueSettings(noise="fixed"))


def groups(samples: int) -> list[list[Trajectory]]:
    flat = episodes(LocalPolicy(model(), CODEC, "m"), verify=half, samples=samples)
    return [flat[n * samples : (n + 1) * samples] for n in range(len(TASKS))]


def test_scores_do_not_depend_on_which_tasks_are_scored_together() -> None:
    assessor = Assessor(learnt(), model(), CODEC, SETTINGS)
    members = groups(4)
    together = assessor.choose(TASKS, members)
    assert [len(row) for row in together] == [4] * len(TASKS) and len({score for row in together for score in row}) > 4
    for task, own, scores in zip(TASKS, members, together, strict=True):
        assert assessor.choose([task], [own])[0] == pytest.approx(scores, abs=1e-6)


def test_scores_are_those_of_the_head_on_the_references_description() -> None:
    assessor = Assessor(learnt(), model(), CODEC, SETTINGS)
    own = groups(3)[0]
    group = choice_group(TASKS[0], own, CODEC)
    assert group is not None
    data = Rollouts((TASKS[0],), (tuple(own),), (group,))
    assert assessor.choose(TASKS[:1], [own])[0] == pytest.approx(learnt().head.scores(describe(model(), data, 8, 0)))


def test_a_task_in_which_nothing_was_chosen_scores_nought_and_leaves_the_others_alone() -> None:
    assessor = Assessor(learnt(), model(), CODEC, SETTINGS)
    members = groups(2)
    forced = [t.model_copy(update={"steps": tuple(s.model_copy(update={"trace": None}) for s in t.steps)}) for t in members[1]]
    scores = assessor.choose(TASKS[:3], [members[0], forced, members[2]])
    assert scores[1] == [0.0, 0.0]
    assert [scores[0], scores[2]] == assessor.choose([TASKS[0], TASKS[2]], [members[0], members[2]])
    assert assessor.choose(TASKS[:1], [forced]) == [[0.0, 0.0]]


def test_what_stage_2_wrote_is_measured_beside_its_baselines(tmp_path: Path) -> None:
    save(model().float(), tokenizer(), tmp_path / "sft")
    learnt().save(tmp_path / "value.pt")
    assessor = Assessor.load(tmp_path / "value.pt", tmp_path / "sft", SETTINGS)
    with pytest.raises(DataError, match="no candidate"):
        assessor.measure()
    members = groups(4)
    assessor.choose(TASKS[:1], members[:1])
    assessor.choose(TASKS[1:], members[1:])
    found = assessor.measure()
    assert set(found) == {"head", "platt", "logprob"}
    assert all(figures["n"] == len(TASKS) * 6 and 0 <= figures["three_way"] <= 1 for figures in found.values()), "pairs of 4"
    assert len({figures["majority"] for figures in found.values()}) == 1, "they are judged on the same pairs"
