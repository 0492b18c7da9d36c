"""A row of ``collect.py``: what a grammar of the state buys a model of a few million parameters that writes its edits itself."""

from __future__ import annotations

import builtins
import keyword
import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from swefuse.code.edit import Bug
from swefuse.collect import protocol
from swefuse.collect.actions import parse
from swefuse.collect.agent import Judge
from swefuse.collect.episode import Start, begin, step
from swefuse.errors import PatchError
from swefuse.learn.model import load, steady
from swefuse.learn.tokens import NanoCodec, codec_for
from swefuse.policy.action_syntax import literal
from swefuse.policy.masks import Vocabulary
from swefuse.policy.sampler import Sampling, sample
from swefuse.policy.syntax import problem_of
from swefuse.records import Action, Outcome, Step, Task
from swefuse.scale import ProcessExecutor
from swefuse.tasks.store import load_tasks
from swefuse.verify import Candidate, init_worker, verify_many
from swefuse.workspace import apply_edit

SAMPLES, LONGEST = 2, 80
MOST_TOKENS = 5  # of a line that are replaced
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")


def state_grammar(tasks: Path, model: Path, workers: int) -> dict[str, float]:
    """pass@1 on the held-out real functions, in per cent, of edits that are written under a grammar of the state and freely."""
    steady(0, workers)
    chosen = [task for task in load_tasks(tasks / "tasks.jsonl") if task.split == "real"]
    made, tokenizer = load(model)
    codec = codec_for(tokenizer)
    assert isinstance(codec, NanoCodec)
    vocabulary = Vocabulary(tokenizer, made.config.vocab_size, sorted(codec.stops))
    with ProcessExecutor(workers, init_worker) as executor:
        judge = Judge(lambda items: verify_many(items, executor))
        prompts = [_opening(task, judge) for task in chosen]
        passed = []
        for held in (None, vocabulary):
            files = _written(made, codec, chosen, prompts, held)
            items = [Candidate(task, state) for task, state in files if state is not None]
            passed.append(sum(one.outcome is Outcome.PASSED for one in verify_many(items, executor)))
            said = f"{len(items)} of {len(files)} messages apply, {passed[-1]} pass"
            print(f"{'under a grammar' if held else 'freely'}: {said}", file=sys.stderr)
    count = SAMPLES * len(chosen)
    free, guided = (100 * number / count for number in passed)
    return {"state_grammar_x": guided / max(free, 100 / count), "pass_1_written_freely": free, "pass_1_under_grammar": guided}


def _opening(task: Task, judge: Judge) -> tuple[Step, ...]:
    """The file and the tests, as the agent sees them before its edit."""
    episode = begin(Start(task))
    judge.ensure([episode])
    for _ in range(2):
        (choice,) = protocol.choices(task, episode.files, episode.steps)
        step(episode, choice.thought, choice.action, judge.of)
    return tuple(episode.steps)


def _written(
    model: Any, codec: NanoCodec, tasks: Sequence[Task], openings: Sequence[tuple[Step, ...]], vocabulary: Vocabulary | None
) -> list[tuple[Task, dict[str, str] | None]]:
    """For each sample its task and the state that the message leads to; None where it is no edit that applies."""
    found: list[tuple[Task, dict[str, str] | None]] = []
    for at in range(0, len(tasks), 16):
        group = tasks[at : at + 16]
        rows = [codec.row(task, steps, prompt=True).ids for task, steps in zip(group, openings[at : at + 16], strict=True)]
        draws = [
            Sampling(
                number, random.Random(f"{task.id}-{k}"), LONGEST, stops=codec.stops,
                masker=vocabulary.matcher(grammar(codec, task)) if vocabulary else None,
                guard=_guard(codec, task) if vocabulary else None, ended=_whole(codec),
            )
            for number, task in enumerate(group) for k in range(SAMPLES)
        ]  # fmt: skip
        for draw, one in zip(draws, sample(model, rows, draws), strict=True):
            task = group[draw.prompt]
            found.append((task, _state(codec, task, codec.text(one.ids))))
    return found


def grammar(codec: NanoCodec, task: Task) -> str:
    """One edit as the small model writes it: a kind, a line that is there as it stands, and that line with one run of it changed.

    What is new is made of the words in reach: those of the function, keywords, builtins, numbers, short texts and signs.
    """
    lens = codec.lens(task)
    rows = {number: lens.row(world) for world, number in lens.shown.items() if world <= len(lens.rows)}
    changes = [f"line{number}" for number, row in rows.items() if row]
    rules = [f'line{number}: "{number}\\n-" {literal(row)} "\\n+" ({_changed(row)})' for number, row in rows.items() if row]
    words = {word for row in rows.values() for word in _WORD.findall(row)}
    words |= {word for word in keyword.kwlist} | {word for word in dir(builtins) if word.islower()}
    kinds = " | ".join(f'"{kind.value}"' for kind in Bug)
    return "\n".join(
        [
            r"%llguidance {}",
            f'start: "#" ({kinds}) "\\n@edit f:" ({" | ".join(changes)}) "\\n"',
            *rules,
            f"piece: {' | '.join(['WORD', 'NUMBER', 'STRING', 'SIGN', 'SPACE'])}",
            "new: piece piece? piece? piece? piece?",
            f"WORD: /{'|'.join(sorted(map(re.escape, words)))}/",
            r"NUMBER: /[0-9]+(\.[0-9]+)?/",
            r"""STRING: /'[^'\n\\]{0,12}'|"[^"\n\\]{0,12}"/""",
            r"SIGN: /[-+*\/%&|^=<>!()\[\]{}.,:@~]/",
            'SPACE: " "',
        ]
    )


def _changed(row: str) -> str:
    """Ways to change one run of at most MOST_TOKENS tokens of a line: what stands before it, the new text, what stands behind."""
    tokens, ways = _TOKEN.findall(row), []
    for start in range(len(tokens) + 1):
        ends = range(start, min(len(tokens), start + MOST_TOKENS) + 1)
        behind = {literal("".join(tokens[end:])) for end in ends if end < len(tokens)}
        tail = f"({' | '.join(sorted(behind))}){'?' if len(tokens) in ends else ''}" if behind else ""
        head = literal("".join(tokens[:start])) if start else ""
        ways.append(f"{head} new {tail}".strip())
    return " | ".join(ways)


def _state(codec: NanoCodec, task: Task, text: str) -> dict[str, str] | None:
    try:
        return apply_edit(task.files, read(codec, task, text))
    except PatchError:
        return None


def read(codec: NanoCodec, task: Task, text: str) -> Action:
    """What a message means in the task's own file. Raises PatchError where it means nothing."""
    lens, path = codec.lens(task), protocol.entry(task)[0]
    action = parse(text if text.endswith("\n") else f"{text}\n")[1]
    world = next((line for line, number in lens.shown.items() if number == action.line and line <= len(lens.rows)), None)
    if action.name != "edit" or world is None or action.old != lens.row(world):
        raise PatchError("it is no edit of a line that is there")
    back = {shown: own for own, shown in lens.names.items()}
    new = _WORD.sub(lambda match: back.get(match.group(), match.group()), action.new)
    return Action(name="edit", path=path, line=world, old=lens.rows[world - 1].strip(), new=new)


def _whole(codec: NanoCodec) -> Callable[[Sequence[int]], bool]:
    """Whether a message is complete: rows end with the edit, so that the model has not learnt to end it."""

    def whole(ids: Sequence[int]) -> bool:
        text = codec.text(ids)
        if not text.endswith("\n"):
            return False
        try:
            parse(text)
        except PatchError:
            return False
        return "\n+" in text

    return whole


def _guard(codec: NanoCodec, task: Task) -> Callable[[Sequence[int]], int]:
    """Takes the new line back where the edit does not apply or the file does not parse with it."""
    path, whole = protocol.entry(task)[0], _whole(codec)

    def guard(ids: Sequence[int]) -> int:
        if not whole(ids):
            return 0
        text = codec.text(ids)
        state = _state(codec, task, text)
        if state is not None and not problem_of(state[path]):
            return 0
        keep = text.rindex("\n+") + 2
        return next(back for back in range(1, len(ids) + 1) if len(codec.text(ids[:-back])) <= keep)

    return guard
