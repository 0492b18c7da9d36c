"""Exact pass@1 of a policy that chooses."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from learn_samples import TASKS, model, tokenizer, verdict
from swefuse.errors import DataError, InfraError
from swefuse.learn.board import choices, exact_pass, load_board, make_board, save_board
from swefuse.learn.tokens import codec_for
from swefuse.policy.base import Request
from swefuse.policy.local import LocalPolicy
from swefuse.verify import Verifier


def test_the_exact_chance_is_the_share_of_samples_that_solve() -> None:
    codec, learner = codec_for(tokenizer()), model()
    with Verifier() as verifier:
        board = make_board(TASKS[:3], lambda items: [verifier.verify(item.task, item.files) for item in items])
    assert all(place.good for place in board)
    chances = exact_pass(learner, codec, board)
    assert all(0 < chance < 1 for chance in chances) and learner.training, "its mode is left as it was"
    place, open_ = board[0], choices(board[0])
    policy = LocalPolicy(learner, codec, "m")
    drawn = [reply.choice for reply in policy.act([Request(place.task, place.steps, open_, seed) for seed in range(600)])]
    messages = dict(zip(open_, codec.messages(place.task, open_), strict=True))
    solving = {messages[open_[at]] for at in place.good}
    share = sum(messages[choice] in solving for choice in drawn if choice) / 600
    assert share == pytest.approx(chances[0], abs=4 * (chances[0] * (1 - chances[0]) / 600) ** 0.5)
    warm = LocalPolicy(learner, codec, "m", temperature=0.5)
    drawn = [reply.choice for reply in warm.act([Request(place.task, place.steps, open_, seed) for seed in range(600)])]
    share, (chance,) = (
        sum(messages[choice] in solving for choice in drawn if choice) / 600,
        exact_pass(learner, codec, board[:1], 0.5),
    )
    assert share == pytest.approx(chance, abs=4 * (chance * (1 - chance) / 600) ** 0.5) and abs(chance - chances[0]) > 1e-4
    assert exact_pass(learner, codec, board[::-1]) == pytest.approx(chances[::-1], abs=1e-9)


def test_a_task_that_nothing_solves_counts_nought_and_what_cannot_be_graded_is_told() -> None:
    board = make_board(TASKS[:1], lambda items: [verdict(False) for _ in items])
    assert board[0].good == () and exact_pass(model(), codec_for(tokenizer()), board) == [0.0]
    with pytest.raises(InfraError, match="could not be graded"):
        make_board(TASKS[:1], lambda items: [verdict(None) for _ in items])


def test_a_board_comes_back_for_its_tasks_alone(tmp_path: Path) -> None:
    board = make_board(TASKS[:2], lambda items: [verdict(n % 3 == 0) for n, _ in enumerate(items)])
    save_board(tmp_path / "board.jsonl", board)
    assert load_board(tmp_path / "board.jsonl", TASKS[:2]) == board
    for tasks in (TASKS[:1], TASKS[1::-1]):
        with pytest.raises(DataError, match="is no board of these"):
            load_board(tmp_path / "board.jsonl", tasks)
    assert torch.is_grad_enabled()
