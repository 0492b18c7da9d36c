"""What stage 2 refuses, each thing by name: before the first step what can never work, in a round what must not be learnt."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from swefuse.collect import protocol
from swefuse.errors import ConfigError, DataError
from swefuse.learn.rollouts import Rollouts
from swefuse.learn.tokens import DIALECT, NanoCodec
from swefuse.learn.value import Candidates
from swefuse.records import Task

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def teachable(tasks: Sequence[Task], needed: int) -> list[Task]:
    """The tasks that leave a choice of two edits or more.

    Raises DataError for a task without tests by calls and where no task leaves a choice, ConfigError where fewer than ``needed``
    do.
    """
    for task in tasks:
        if task.suite("calls") is None:
            raise DataError(
                f"task {task.id} has no tests by calls, so what is open in it cannot be listed; leave it out of stage 2"
            )
    found = [task for task in tasks if len(protocol.open_edits(task)) > 1]
    closed = len(tasks) - len(found)
    if tasks and not found:
        raise DataError(
            f"none of the {len(tasks)} tasks leaves a choice: in each, one edit is open or none, so nothing can be learnt"
        )
    if len(found) < needed:
        left = f"; {closed} more leave no choice" if closed else ""
        raise ConfigError(f"{len(found)} tasks are fewer than one round needs ({needed}){left}: lower rlvr.tasks or add tasks")
    return found


def check_rewards(data: Rollouts) -> None:
    """Raises DataError for a graded candidate whose score is not a number in [0, 1]: one such reward would spoil the round."""
    for trajectory in data.flat:
        verdict = trajectory.verdict
        if verdict is not None and verdict.outcome.graded and not 0 <= verdict.score <= 1:
            raise DataError(
                f"a candidate of task {trajectory.task_id} was given the score {verdict.score}; a reward is a number in [0, 1]. "
                "Leave the task out or repair its verifier"
            )


def check_tokenizers(policy: PreTrainedTokenizerBase, reference: PreTrainedTokenizerBase, name: str) -> None:
    """Raises ConfigError for a reference that reads other ids than the policy writes: their log-probs cannot be compared."""
    what = ""
    if policy.get_vocab() != reference.get_vocab():
        what = f"{len(reference)} tokens, of which {len(_shared(policy, reference))} are the policy's (it has {len(policy)})"
    elif _merges(policy) != _merges(reference):
        what = "the same tokens and cuts text into others of them"
    elif _dialect(policy) != _dialect(reference):
        what = f"the dialect {_dialect(reference)!r}, and the policy's has {_dialect(policy)!r}"
    if what:
        raise ConfigError(f"--reference {name}: its tokenizer has {what}; a reference must read what the policy writes")


def _shared(one: PreTrainedTokenizerBase, other: PreTrainedTokenizerBase) -> set[tuple[str, int]]:
    return set(one.get_vocab().items()) & set(other.get_vocab().items())


def _merges(tokenizer: PreTrainedTokenizerBase) -> str:
    """How text is cut, as far as the tokenizer tells; empty where it does not."""
    core = getattr(tokenizer, "backend_tokenizer", None)
    told = json.loads(core.to_str()) if core is not None else {}
    return json.dumps([told.get(name) for name in ("normalizer", "pre_tokenizer", "model")], sort_keys=True)


def _dialect(tokenizer: PreTrainedTokenizerBase) -> str:
    return str(tokenizer.init_kwargs.get(DIALECT, NanoCodec.dialect))


def both_classes(known: Candidates) -> bool:
    """Whether candidates that passed and candidates that did not were seen: of one class alone nothing can be told apart."""
    return len(torch.unique(known.passed[known.graded])) > 1
