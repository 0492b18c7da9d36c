"""Between transcripts of other projects and entries of the library, in both directions.

What comes in is believed in nothing: where its task is known, its patch is verified as anybody's, and the gate decides; where it is
not, the trajectory is kept as refused, ``unverified``, unless the caller says that he trusts it. What was read is kept exactly, in
the policy's parameters of the trajectory, so that writing it in its own format gives it back.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from swefuse.collect.dialects import CONVERSATION, DIALECTS, called, conversation, dialect, meaning
from swefuse.errors import DataError, PatchError
from swefuse.library.checks.basic import UNVERIFIED
from swefuse.library.coherence import replay
from swefuse.library.context import Context
from swefuse.library.formats.transcript import Call, Trace, Transcript, Turn, merged, with_calls
from swefuse.library.gate import gate
from swefuse.library.store import Entry
from swefuse.policy.base import Message
from swefuse.records import (
    Decision,
    Kind,
    Outcome,
    PolicyIdentity,
    Provenance,
    Step,
    Task,
    Trajectory,
    Verdict,
    content_hash,
)
from swefuse.scale import Executor
from swefuse.verify import Candidate, Patched, verify_many
from swefuse.verify.kinds import RULES
from swefuse.verify.patch import apply_patch, make_patch
from swefuse.workspace import ref

TRANSCRIPT = "transcript"  # a key of PolicyIdentity.parameters
TRUSTED = "trusted when it was imported"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A trajectory that is to be decided on.

    ``candidate``: what is to be verified; None where it cannot be, for the reason ``why``. ``trusted``: somebody said that he
    believes it although nobody can verify it.
    """

    task: Task
    trajectory: Trajectory
    candidate: Candidate | Patched | None
    why: str
    trusted: bool = False


def known_by(tasks: Iterable[Task]) -> dict[str, Task]:
    """Tasks by the names that transcripts may have for them: id, and the instance of the row that they were made of."""
    found: dict[str, Task] = {}
    for task in tasks:
        found |= {name: task for name in (task.id, task.provenance.parameters.get("instance", "")) if name}
    return found


def adopt(transcript: Transcript, name: str, known: Mapping[str, Task]) -> Incoming:
    """A transcript that was read from the format ``name``, as task and trajectory. Raises DataError for records that are none."""
    if transcript.entry is not None:
        return _own(transcript.entry)
    task = known.get(transcript.instance)
    kept = json.dumps({"format": name, **transcript.model_dump(exclude_defaults=True)})
    who = PolicyIdentity(model=transcript.model or transcript.agent or "unknown", parameters={TRANSCRIPT: kept})
    made = {"source": f"import:{name}", "policy": who, "stop_reason": transcript.stop or "end"}
    if task is not None and (steps := _in_our_actions(task, transcript)):
        files = {path: text for path, text in steps[1].items() if task.files.get(path) != text}
        one = _trajectory(task, steps[0], files, ref(steps[1]), made)
        return Incoming(_opening(task, transcript), one, Candidate(task, {**task.files, **files}, fresh=True), "")
    if task is None:
        task = _unknown(transcript, name)
        why = f"no task {transcript.instance!r} is given" if transcript.instance else "it does not say of which task it is"
        return Incoming(task, _trajectory(task, _steps(transcript, task), {}, ref(task.files), made), None, why)
    opened = _opening(task, transcript)
    files, final, why = {}, ref(task.files), "it holds no patch"
    if transcript.patch is not None:
        files, final, why = *_patched(task, transcript.patch), ""
    one = _trajectory(opened, _steps(transcript, task), files, final, made)
    patch = (transcript.patch or "").encode("utf-8", "surrogatepass")
    return Incoming(opened, one, None if why else Patched(opened, patch, fresh=True), why)


def _own(entry: Mapping[str, Any]) -> Incoming:
    """The library's own records, which are verified anew like all others."""
    try:
        task, one = Task.model_validate(entry["task"]), Trajectory.model_validate(entry["trajectory"])
        verdict = Verdict.model_validate(entry["verdict"]) if entry.get("verdict") else None
    except (KeyError, ValidationError) as error:
        raise DataError(f"the library's records in a transcript cannot be read: {error}") from error
    return again(task, one, verdict)


def again(task: Task, trajectory: Trajectory, verdict: Verdict | None, decision: Decision | None = None) -> Incoming:
    """What the library has or a collection wrote, to be verified anew in the form of the verdict, whatever that says.

    ``decision``: the one before; what was trusted in it stays so.
    """
    if task.suites or RULES[task.kind].alone:
        form = verdict.form if verdict else None
        return Incoming(task, trajectory, Candidate(task, {**task.files, **trajectory.files}, form or None, fresh=True), "")
    told = verdict.reason.removeprefix(f"{UNVERIFIED}: ") if verdict and verdict.reason.startswith(UNVERIFIED) else ""
    trusted = decision is not None and TRUSTED in decision.seen.get("verdict", "")
    return Incoming(task, trajectory, None, told or "its task has no tests", trusted)


def _patched(task: Task, patch: str) -> tuple[dict[str, str], str]:
    """The files that a patch changes and the state that it leads to; none where it does not apply, which the verdict tells."""
    try:
        state = apply_patch(task.files, patch.encode("utf-8", "surrogatepass")).files if patch.strip() else dict(task.files)
    except PatchError:
        state = dict(task.files)
    return {path: text for path, text in state.items() if task.files.get(path) != text}, ref(state)


def _trajectory(task: Task, steps: Sequence[Step], files: dict[str, str], final: str, made: Mapping[str, Any]) -> Trajectory:
    if steps:
        steps = [*steps[:-1], steps[-1].model_copy(update={"after": final})]
    name = content_hash([task.id, made["source"], made["policy"].parameters])[:20]
    fields = {"task_id": task.id, "initial": ref(task.files), "steps": tuple(steps), "final": final, "files": files}
    return Trajectory(id=name, **fields, **made)


def _steps(transcript: Transcript, task: Task) -> list[Step]:
    """What the agent wrote, one step a turn, and what it saw; no states lie between, since nobody knows them."""
    start = ref(task.files)
    return [
        Step(
            thought=said.thinking, action=None, raw=_written(said), observation=merged(seen), before=start, after=start,
            keep=said.trained is not False,
        )
        for said, seen in transcript.steps()
    ]  # fmt: skip


def _written(turn: Turn) -> str:
    text = with_calls(turn)
    return f"<think>\n{turn.thinking}\n</think>\n\n{text}" if turn.thinking else text


def _in_our_actions(task: Task, transcript: Transcript) -> tuple[list[Step], dict[str, str]] | None:
    """Steps and final files, where every turn of the agent is one of our actions and the last one submits; else None."""
    drafts = []
    for said, seen in transcript.steps():
        text = with_calls(said)
        raw = text if called(text) or text.endswith("\n") else f"{text}\n"
        try:
            thought, action = meaning(raw)
        except PatchError:
            return None
        keep = said.trained is not False
        drafts.append(Step(thought=thought, action=action, raw=raw, observation=merged(seen), before="", after="", keep=keep))
    if not drafts or drafts[-1].action is None or drafts[-1].action.name != "submit":
        return None
    bare = Trajectory(
        id="", task_id=task.id, initial="", steps=tuple(drafts), final="", files={}, stop_reason="",
        policy=PolicyIdentity(model=""),
    )  # fmt: skip
    steps, state = [], dict(task.files)
    for _, step, before, after in replay(task, bare):
        steps.append(step.model_copy(update={"before": ref(before), "after": ref(after)}))
        state = dict(after)
    return steps, state


def _opening(task: Task, transcript: Transcript) -> Task:
    """The task, which opens as the transcript does unless that is how we open it ourselves."""
    turns = [(turn.role if turn.role == "system" else "user", turn.text) for turn in transcript.opening()]
    if not turns or any(turns == [("user", one.told(task))] for one in DIALECTS.values()):
        return task
    told = {"turns": [{"role": role, "content": text} for role, text in turns], "tools": list(transcript.tools)}
    parameters = {**task.provenance.parameters, CONVERSATION: json.dumps(told)}
    return task.model_copy(update={"provenance": task.provenance.model_copy(update={"parameters": parameters})})


def _unknown(transcript: Transcript, name: str) -> Task:
    """What stands for a task that nobody has given: words, without files and tests."""
    told = next((turn.text for turn in transcript.opening() if turn.role == "user"), "")
    goal = {"of": transcript.instance or content_hash([turn.model_dump() for turn in transcript.opening()])[:20]}
    origin = Provenance(source=f"import:{name}", parameters={"instance": transcript.instance} if transcript.instance else {})
    task = Task.make(
        Kind.BUGFIX, instruction=told, files={}, editable=(), suites=(), goal=goal, provenance=origin, split="train"
    )  # fmt: skip
    return _opening(task, transcript)


def judged(incoming: Sequence[Incoming], executor: Executor, context: Context | None = None, trust: bool = False) -> list[Entry]:
    """An entry for each, verified now. What cannot be verified is refused as ``unverified``; where it is trusted, or ``trust`` is
    given, the other checks decide on it.
    """
    context = Context() if context is None else context
    verdicts = iter(verify_many([one.candidate for one in incoming if one.candidate is not None], executor))
    items = [(one.task, one.trajectory, next(verdicts) if one.candidate else _untried(one)) for one in incoming]
    believed = [one.candidate is None and (trust or one.trusted) for one in incoming]
    every = context.settings.checks
    decisions: dict[int, Decision] = {}
    for checks, wanted in ((every, False), (tuple(name for name in every if name != "verdict"), True)):
        at = [place for place, one in enumerate(believed) if one is wanted]
        found = gate([items[place] for place in at], checks, context=context) if at else []
        decisions |= dict(zip(at, found, strict=True))
    for place, one in enumerate(incoming):
        if believed[place]:
            seen = {**decisions[place].seen, "verdict": f"{UNVERIFIED}: {one.why}; {TRUSTED}"}
            decisions[place] = decisions[place].model_copy(update={"seen": seen})
    return [Entry(*item, decisions[place]) for place, item in enumerate(items)]


def _untried(one: Incoming) -> Verdict:
    return Verdict(outcome=Outcome.INFRA, form="", reason=f"{UNVERIFIED}: {one.why}")


def stored(trajectory: Trajectory) -> tuple[str, Transcript] | None:
    """The format and the transcript that a trajectory was imported from; None for our own. Raises DataError for a damaged one."""
    text = trajectory.policy.parameters.get(TRANSCRIPT)
    if text is None:
        return None
    try:
        found = json.loads(str(text))
        return found.pop("format"), Transcript.model_validate(found)
    except (ValueError, KeyError, AttributeError) as error:
        raise DataError(f"trajectory {trajectory.id}: its transcript cannot be read: {error}") from error


def transcribed(entry: Entry, records: bool = True) -> Transcript:
    """An entry as a transcript. One that was imported is what it was; a turn is trained on if its step is kept."""
    task, one = entry.task, entry.trajectory
    own = {name: getattr(entry, name).model_dump(mode="json") for name in ("task", "trajectory", "verdict", "decision")}
    kept = stored(one)
    if kept is not None:
        made = kept[1]
        flags = iter([step.keep for step in one.steps])
        turns = tuple(_flagged(turn, next(flags, True)) if turn.role == "assistant" else turn for turn in made.turns)
        return made.model_copy(update={"turns": turns, **({"entry": own} if records else {})})
    passed = entry.verdict.outcome is Outcome.PASSED
    after = {**task.files, **one.files}
    return Transcript(
        id=one.id, instance=task.provenance.parameters.get("instance") or task.id, agent="swefuse", model=one.policy.model,
        stop=one.stop_reason, turns=tuple(_talk(task, one)), tools=_tools(task, one), reward=entry.verdict.score,
        patch=make_patch(task.files, after).decode("utf-8", "surrogateescape"),
        resolved=passed if entry.verdict.outcome.graded else None, entry=own if records else None,
    )  # fmt: skip


def _flagged(turn: Turn, keep: bool) -> Turn:
    """Whether the turn is trained on, said only where it is not as it was."""
    return turn if keep == (turn.trained is not False) else turn.model_copy(update={"trained": keep})


def _dialect(one: Trajectory) -> str:
    return "tools" if any(called(step.raw) for step in one.steps) else "compact"


def _tools(task: Task, one: Trajectory) -> tuple[dict[str, Any], ...]:
    brought = conversation(task)
    return dialect(_dialect(one)).tools if brought is None else brought[1]


def _talk(task: Task, one: Trajectory) -> Iterator[Turn]:
    told = dialect(_dialect(one)).messages(task, one.steps)
    brought = conversation(task)
    for message in (*(told[:1] if brought is None else brought[0]),):
        yield Turn(role=message.role, text=message.content)
    steps = iter(one.steps)
    for message in told[1:]:
        yield _turn(message, next(steps) if message.role == "assistant" else None)


def _turn(message: Message, step: Step | None) -> Turn:
    calls = tuple(Call(id=call.id, name=call.name, arguments=call.arguments) for call in message.tool_calls)
    trace = step.trace if step else None
    return Turn(
        role=message.role, text=message.content, calls=calls, answers=message.call, trained=step.keep if step else None,
        trace=Trace(ids=trace.token_ids, logprobs=trace.logprobs) if trace else None,
    )  # fmt: skip


def preferences(entries: Iterable[Entry]) -> Iterator[Transcript]:
    """For each task, accepted trajectories with such as failed: the better answer and the rejected one, each used once."""
    good: dict[str, list[Entry]] = defaultdict(list)
    bad: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.decision.accepted:
            good[entry.task.id].append(entry)
        elif entry.verdict.outcome.graded and entry.verdict.outcome is not Outcome.PASSED and entry.trajectory.steps:
            bad[entry.task.id].append(entry)
    for name, found in good.items():
        for one, other in zip(found, bad[name], strict=False):
            best, worse = transcribed(one, False), transcribed(other, False)
            if best.opening() == worse.opening():
                at = len(best.opening())
                yield best.model_copy(update={"split": at, "rejected": worse.turns[at:]})
