"""Stage 2: reinforcement learning from verified rewards, with pairs weighed by the entropy of the value model's verdict.

The whole loop stands in ``train``: sample K candidates a task, verify, pair, ask the lagged value model, weigh, update the
value model, update the policy. Formulas live in ``losses``, ``entropy``, ``pairs`` and ``value``, the policy's step in ``update``;
docs/algorithm.md section 6 is this loop in words.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import torch

from swefuse.collect.agent import Verify
from swefuse.errors import InfraError
from swefuse.learn import manifest, pair_log, winners
from swefuse.learn.backbone import ValueModel, make_value, make_value_optimizer, noise, opened
from swefuse.learn.batch import Example
from swefuse.learn.checkpoint import check_same, fingerprint, keep_lines, load_state, save_state
from swefuse.learn.draws import Draws
from swefuse.learn.entropy import Known, Weigher, effective_size, kept_below, moved, normalised_entropy
from swefuse.learn.gather import check_fresh, gather
from swefuse.learn.guards import both_classes, check_tokenizers
from swefuse.learn.keeper import Keeper
from swefuse.learn.learnt import Learnt
from swefuse.learn.model import give_back, load, save, steady
from swefuse.learn.monitor import Watch, event
from swefuse.learn.optimizers import make_optimizer
from swefuse.learn.pairs import label, make_pairs
from swefuse.learn.phases import Phases
from swefuse.learn.rollouts import Rollouts, described, repeated
from swefuse.learn.settings import RlvrSettings, ValueSettings, WeightSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Models, Round, fall_back, update
from swefuse.learn.value import Candidates, Head, fit_baseline, measure, sum_only
from swefuse.library.snapshots import refuse_writing
from swefuse.records import Pair, Task, Verdict, content_hash
from swefuse.sandbox.choose import AUTO, resolve
from swefuse.scale.executor import ProcessExecutor
from swefuse.tasks.store import load_tasks
from swefuse.verify.many import init_worker, verify_many

Progress = Callable[[int, int], None]
STATE = "state.pt"


@dataclass(slots=True)
class State:
    """Everything that a round leaves to the next, beside the policy: the value model, what it learns from, what is watched, and
    which tasks come next."""

    head: ValueModel
    optimizer: torch.optim.Optimizer
    head_optimizer: torch.optim.Optimizer
    watch: Watch
    draws: Draws
    memory: list[Candidates] = field(default_factory=list)
    quiet: int = 0
    done: int = 0

    @classmethod
    def begin(cls, models: Models, settings: RlvrSettings, tasks: Sequence[Task]) -> State:
        """Before the first round."""
        head = make_value(settings.value, models.reference, settings.micro_batch)
        optimizer = make_optimizer(models.policy, settings.optimizer, settings.lr, weight_decay=0.0)
        head_optimizer = make_value_optimizer(head, settings.value)
        return cls(head, optimizer, head_optimizer, Watch.begin(settings.watch), Draws(tasks, settings))

    def dump(self, models: Models) -> dict[str, Any]:
        """As ``save_state`` takes it."""
        return {
            "policy": models.policy.state_dict(), "optimizer": self.optimizer.state_dict(), "head": self.head.state_dict(),
            "head_optimizer": self.head_optimizer.state_dict(), "watch": self.watch.state(), "quiet": self.quiet, "done": self.done,
            "memory": [[one.numbers, one.hidden, one.passed, one.graded, list(one.task), one.written] for one in self.memory],
            "draws": self.draws.state(),
        }  # fmt: skip

    def resume(self, models: Models, state: Mapping[str, Any]) -> None:
        """Go on from what ``dump`` gave."""
        models.policy.load_state_dict(state["policy"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.head.load_state_dict(state["head"])
        self.head_optimizer.load_state_dict(state["head_optimizer"])
        self.watch.resume(state["watch"])
        self.draws.resume(state["draws"])
        self.memory = [
            Candidates(numbers, hidden, passed, graded, tuple(task), written)
            for numbers, hidden, passed, graded, task, written in state["memory"]
        ]
        self.quiet, self.done = state["quiet"], state["done"]


def train(
    models: Models,
    tasks: Sequence[Task],
    verify: Verify,
    settings: RlvrSettings,
    out: Path,
    progress: Progress = lambda done, total: None,
    gold: Callable[[], Sequence[Example]] = lambda: (),
) -> Learnt:
    """Train the policy against the reference and return the value head and its baseline.

    After an alarm the policy takes steps on the ``gold`` examples only, for ``watch.fallback`` rounds; the value head keeps
    learning. ``out`` gets metrics.jsonl, events.jsonl, pairs.jsonl and the state from which a stopped call goes on, to the same
    end. Raises ConfigError for fewer tasks than one round needs and for a folder that holds another run, and InfraError when too
    many candidates could not be graded or a gradient is not finite.
    """
    keeper = Keeper.begin(models, tasks, verify, settings)
    out.mkdir(parents=True, exist_ok=True)
    this = identity(models, tasks, settings)
    state = _begun(models, settings, keeper, this, out)
    logs = (_log(out / name, state.done) for name in ("metrics.jsonl", "events.jsonl", pair_log.FILE))
    with next(logs) as metrics, next(logs) as events, next(logs) as looked:
        for number in range(state.done, settings.rounds):
            phases = Phases()
            data = gather(models, state.draws, keeper.verify, settings, number, phases)
            seen = keeper.accept(look(models, data, state.head, settings, number, phases), number)
            _write(looked, *pair_log.rows(seen, number, settings))
            with phases("value"):
                cooled = keeper.calibrated(state.head, seen)
                state.memory = [*state.memory, keeper.lessons(seen, number)][-settings.value.memory :]
                head_loss = keeper.teach(state.head, Candidates.join(state.memory), state.head_optimizer, settings.seed + number)
            mean_h = sum(pair.h for pair in seen.pairs) / max(1, len(seen.pairs))
            if state.watch.rings(mean_h) and seen.weighted:
                state.quiet = settings.watch.fallback
                _write(events, event(number + 1, "alarm", mean_h, state.watch.alarm.mean))
            with phases("update"):
                if state.quiet:
                    done = fall_back(models, state.optimizer, gold(), number)
                else:
                    done = update(models, state.optimizer, seen, settings, number)
            state.quiet = max(0, state.quiet - 1)
            counts = token_counts(seen.data, done.get("read_groups", done["useful_groups"]), settings.off_policy.is_cap > 0)
            figures = {**counts, **done, **cooled, "head_loss": head_loss, "mean_h": mean_h, "tasks": len(state.draws.taken)}
            row = describe_round(number, seen, {**figures, **keeper.figures(seen, state.head, number)})
            _write(metrics, {**row, "seconds": phases.seconds()})
            check_finite(done, seen, out, events, number)
            for raised in [*state.watch.events(row), *keeper.calibrate(row, state.head, out)]:
                _write(events, raised)
            state.done = settings.rounds if keeper.ended else number + 1
            if state.done % settings.save_every == 0 and state.done < settings.rounds:
                save_state(out / STATE, {**this, **state.dump(models), **keeper.dump()})
            give_back()
            progress(state.done, settings.rounds)
            if keeper.ended:
                break
        for raised in keeper.close(out):
            _write(events, raised)
    save_state(out / STATE, {**this, **state.dump(models), **keeper.dump()})
    return learnt(models, state, settings.value)


def identity(models: Models, tasks: Sequence[Task], settings: RlvrSettings) -> dict[str, Any]:
    """What a state must agree with to be gone on with."""
    bases = {"base": fingerprint(models.reference), "start": fingerprint(models.policy)}
    return {"settings": settings.model_dump(mode="json"), "tasks": content_hash([task.id for task in tasks]), **bases}


def _begun(models: Models, settings: RlvrSettings, keeper: Keeper, this: Mapping[str, Any], out: Path) -> State:
    """The state in ``out``, or a new one. Raises ConfigError for that of another run."""
    state = State.begin(models, settings, keeper.tasks)
    begun = load_state(out / STATE)
    if begun is not None:
        for key, now in this.items():
            check_same(out / STATE, begun, key, now)
        state.resume(models, begun)
        keeper.resume(begun)
    return state


def learnt(models: Models, state: State, value: ValueSettings) -> Learnt:
    """The value model after the last round, with the baseline that is fitted on the same candidates."""
    rates = (value.false_pass, value.false_fail)
    baseline = fit_baseline(Candidates.join(state.memory), rates, value.noise == "learned")
    return Learnt(state.head, baseline, value)


def _log(path: Path, done: int) -> IO[str]:
    """A log to go on with after ``done`` rounds."""
    keep_lines(path, "round", done)
    return path.open("a", encoding="utf-8")


def _write(file: IO[str], *rows: Mapping[str, Any]) -> None:
    file.write("".join(json.dumps(row) + "\n" for row in rows))
    file.flush()


def look(models: Models, data: Rollouts, value: ValueModel, settings: RlvrSettings, number: int, phases: Phases) -> Round:
    """Describe a round's candidates by the reference, pair them, and weigh the pairs by the value model as the last round left it.

    Raises InfraError when more than ``watch.max_infra`` of the candidates could not be graded, and DataError for one that is stale.
    """
    check_infra([t.verdict is not None and t.verdict.outcome.graded for t in data.flat], settings.watch.max_infra)
    check_fresh(data, number, settings.off_policy.max_stale)
    with phases("describe"):
        known, reference = described(models.reference, data, settings.micro_batch, models.pad)
    with phases("value"):
        head, known = opened(value, known)
    weigher = weigher_at(settings, number, head)
    pairs = weigh(data, known, head, (weigher, keep_at(settings, number)), settings)
    return Round(data, known, pairs, weigher.mode != "off", reference, judged(head, known), weigher)


def judged(head: Head, known: Candidates) -> dict[str, float]:
    """How good a value model's verdicts on a round's candidates are, which it has not learnt from, beside the sum of log-probs.

    Nothing where all had the same outcome.
    """
    if not both_classes(known):
        return {}
    own, plain = measure(head, known), measure(sum_only(known.hidden.shape[-1]), known)
    return {
        "value_accuracy": own.three_way, "value_majority": own.majority, "value_auc": own.auc, "value_ece": own.ece,
        "logprob_decisive": plain.decisive, "logprob_auc": plain.auc,
    }  # fmt: skip


def weigher_at(settings: RlvrSettings, number: int, head: Head) -> Weigher:
    """How pairs are weighed in round ``number``, counted from 0: not at all before the warm-up is over."""
    weight = settings.weight
    if number < weight.warmup or weight.mode == "off":
        return Weigher("off")
    done = _course(settings, number)
    lam, tau = moved(weight.lam, weight.lam_end, done, weight.course), moved(weight.tau, weight.tau_end, done, weight.course)
    return Weigher(weight.mode, lam, tau, *noise(head), normalise=weight.normalise)


def keep_at(settings: RlvrSettings, number: int) -> float:
    """The share of pairs that ``hard`` keeps in a round, whatever its ``tau``; 0 where ``tau`` decides."""
    weight: WeightSettings = settings.weight
    return weight.keep + ((weight.keep_end or weight.keep) - weight.keep) * _course(settings, number)


def _course(settings: RlvrSettings, number: int) -> float:
    """How far round ``number`` is on the way from the first round in which weights act (0) to the last (1)."""
    return max(0, number - settings.weight.warmup) / max(1, settings.rounds - 1 - settings.weight.warmup)


def weigh(data: Rollouts, known: Candidates, head: Head, how: tuple[Weigher, float], settings: RlvrSettings) -> list[Pair]:
    """All pairs with P, h and weight; pair positions count over the whole round.

    ``how``: the weigher, and the share of pairs that ``hard`` is to keep instead of its own ``tau`` (0: as it is).
    """
    found: list[Pair] = []
    verdicts: list[Verdict | None] = [t.verdict for t in data.flat]
    start = 0
    for task, members in zip(data.tasks, data.trajectories, strict=True):
        judged = [t.verdict for t in members if t.verdict is not None]
        for pair in make_pairs(task, judged, settings.reward):
            found.append(pair.model_copy(update={"a": pair.a + start, "b": pair.b + start}))
        start += len(members)
    places = known.graded.nonzero().flatten().tolist()
    q = dict(zip(places, head.scores(known.only(known.graded)), strict=True))
    priors = head.verdicts(known, [(pair.a, pair.b) for pair in found])
    entropies = [normalised_entropy(p) for p in priors]
    weigher, keep = how
    if keep and weigher.mode == "hard":
        weigher = Weigher("hard", weigher.lam, kept_below(entropies, keep), normalise=weigher.normalise)
    recorded = [bool(x) for x in known.passed]
    rows = [
        Known(prior, (q[p.a], q[p.b]), (recorded[p.a], recorded[p.b]), p.label, *_repeated(verdicts[p.a], verdicts[p.b]))
        for p, prior in zip(found, priors, strict=True)
    ]
    weights = weigher.weights(rows, settings.seed)
    return [
        pair.model_copy(update={"p": row.prior, "q": row.q, "h": h, "weight": w, "expected": weigher.expected(row)})
        for pair, row, h, w in zip(found, rows, entropies, weights, strict=True)
    ]


def _repeated(a: Verdict | None, b: Verdict | None) -> tuple[float, str]:
    """Agreement of repeated verifications of both, and the true label where ``verify.noise`` made the verdicts and tells it."""
    parts = [verdict.parts if verdict is not None else {} for verdict in (a, b)]
    agreed = parts[0].get("agreement", 1.0) * parts[1].get("agreement", 1.0)
    return agreed, label(parts[0]["truth"], parts[1]["truth"], 0.0) if "truth" in parts[0] and "truth" in parts[1] else ""


def token_counts(data: Rollouts, useful: float, reread: bool = False) -> dict[str, float]:
    """Tokens that a round put through the model: forward only (sampling, description, and where it is ``reread`` what is trained
    on) and with a backward pass (the update)."""
    packed = sum(group.size for group in data.groups)
    return {"forward_tokens": (2 + useful * reread) * packed, "trained_tokens": packed * useful}


def check_infra(graded: Sequence[bool], most: float) -> None:
    """Raise InfraError when more than a share ``most`` of candidates could not be graded: the sandbox, not the policy, is at
    fault."""
    lost = graded.count(False)
    if lost > most * len(graded):
        raise InfraError(
            f"{lost} of {len(graded)} candidates could not be graded (FLAKY or INFRA); run 'swefuse doctor' and resume"
        )


def check_finite(done: Mapping[str, float], seen: Round, out: Path, events: IO[str], number: int) -> None:
    """Raise InfraError when a gradient was not finite, after leaving what it came from in ``bad_batch.json``."""
    norm = done.get("grad_norm", 0.0)
    if math.isfinite(norm):
        return
    batch = [[t.task_id, [step.raw for step in t.steps], t.verdict.outcome.value if t.verdict else ""] for t in seen.data.flat]
    (out / "bad_batch.json").write_text(json.dumps({"round": number + 1, "candidates": batch}, indent=1), encoding="utf-8")
    _write(events, event(number + 1, "not_finite", norm, 0.0))
    raise InfraError("the policy's gradient is not finite; that step was not applied. Lower the learning rate (rlvr.lr).")


def describe_round(number: int, seen: Round, figures: Mapping[str, Any]) -> dict[str, Any]:
    """One line of metrics.jsonl; see docs/algorithm.md for the figures."""
    flat = seen.data.flat
    verdicts = [t.verdict for t in flat if t.verdict is not None]
    traces = [step.trace for t in flat for step in t.steps if step.trace is not None]
    decisive = [p for p in seen.pairs if p.label != "tie"]
    right = [(p.p[0] > p.p[1]) == (p.label == "A") for p in decisive]
    outcomes = Counter(verdict.outcome.value for verdict in verdicts)
    bins = Counter(min(9, int(pair.h * 10)) for pair in seen.pairs)
    own = [sum(sum(step.trace.logprobs) for step in t.steps if step.trace is not None) for t in flat]
    apart = [value - reference for value, reference in zip(own, seen.known.numbers[:, 0].tolist(), strict=True)]
    won = [gain for gain, passed in zip(apart, seen.known.passed.tolist(), strict=True) if passed]
    graded = sum(verdict.outcome.graded for verdict in verdicts)
    return {
        "round": number + 1,
        "pass_rate": outcomes["PASSED"] / max(1, graded),
        "policy_entropy": sum(sum(trace.entropies) for trace in traces) / max(1, len(traces)),
        "kl": sum(apart) / max(1, len(apart)),
        "winner_gain": sum(won) / len(won) if won else None,
        "length": sum(len(trace.token_ids) for trace in traces) / max(1, len(traces)),
        "broken": sum(outcomes[name] for name in ("UNPARSED", "TAMPERED", "TIMEOUT")) / max(1, graded),
        "repeated": repeated(seen.data),
        "ungraded": 1 - graded / max(1, len(flat)),
        "decisive_share": len(decisive) / max(1, len(seen.pairs)),
        "decisive_accuracy": sum(right) / len(right) if right else None,
        "effective_share": effective_size([p.weight for p in seen.pairs]) / max(1, len(seen.pairs)),
        "weights_on": seen.weighted,
        "h_bins": [bins[k] for k in range(10)],
        "outcomes": dict(outcomes),
        **seen.judged,
        **figures,
    }


def run(
    settings: RlvrSettings, model: Path, tasks: Path, out: Path, progress: Progress = lambda done, total: None,
    reference: Path | None = None, library: Path | None = None,
) -> Path:  # fmt: skip
    """Stage 2 from a stage-1 model folder on the train tasks of a tasks folder; ``out/model`` loads with ``from_pretrained``.

    A call that was stopped goes on where its last state was written, and ends with the same model. ``reference``: the model folder
    that the policy is held against, by default its own start. Raises ConfigError where its tokenizer is another. ``library``: what
    passed goes through the gate into it at the end.
    """
    if library is not None:
        refuse_writing(library)
        settings = settings.model_copy(update={"winners": True})
    steady(settings.seed, 1)
    policy, tokenizer = load(model)
    frozen, other = load(reference or model)
    check_tokenizers(tokenizer, other, str(reference))
    both = Models(policy, frozen, codec_for(tokenizer))
    chosen = [task for task in load_tasks(tasks / "tasks.jsonl") if task.split == "train"]
    told = {**identity(both, chosen, settings), "split": "train", "task_count": len(chosen)}
    with ProcessExecutor(2, init_worker, (resolve(AUTO),), chunk=8) as executor:
        learnt = train(both, chosen, lambda items: verify_many(items, executor), settings, out, progress)
        if library is not None:
            grown = winners.grow(library, out / winners.FILE, chosen, lambda items: verify_many(items, executor))
            told["library"] = {**grown._asdict(), **manifest.library(library)}
    learnt.save(out / "value.pt")
    save(policy, tokenizer, out / "model")
    manifest.write(out, "rlvr", settings, {**told, "policy": fingerprint(policy)})
    return out
