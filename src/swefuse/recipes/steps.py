"""The steps of the quickstart. Each reads what earlier ones wrote and writes its own; nothing is handed over in memory."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from swefuse.collect.agent import Verify
from swefuse.collect.stage import load_trajectories, replay, save_trajectories
from swefuse.errors import InfraError
from swefuse.evaluate.run import EvalConfig, evaluate, save_results
from swefuse.library.context import Context
from swefuse.library.evaluation import EvaluationSet
from swefuse.library.gate import gate
from swefuse.library.held import Held
from swefuse.library.settings import GateConfig
from swefuse.library.store import Entry, Library
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.recipes.config import QuickstartConfig
from swefuse.recipes.contamination import held_out
from swefuse.records import Task, Trajectory, content_hash
from swefuse.sandbox.choose import resolve
from swefuse.scale.executor import ProcessExecutor
from swefuse.tasks import build
from swefuse.tasks.splits import HELDOUT
from swefuse.tasks.store import load_tasks, save_lines
from swefuse.verify.many import Candidate, init_worker, verify_many

if TYPE_CHECKING:
    from swefuse.learn.batch import Example

Progress = Callable[[int, int], None]
GATE_BATCH = 1000
TOKENIZER_TEXTS = 3000
MODELS = ("base", "sft", "control", "rlvr")


class Run:
    """A run's folder, settings and verifier processes, which start when they are first needed."""

    def __init__(self, config: QuickstartConfig, out: Path) -> None:
        self.config, self.out = config, out
        self._executor: ProcessExecutor | None = None
        self.tally: Counter[str] = Counter()

    @property
    def verdicts(self) -> Path:
        """The file of verdicts that stages share: what was proven once is not run again."""
        return self.out / "verdicts.sqlite"

    @property
    def executor(self) -> ProcessExecutor:
        """Processes with a verifier each."""
        if self._executor is None:
            arguments = (resolve(self.config.tasks.sandbox), True, self.verdicts)
            self._executor = ProcessExecutor(self.config.workers, init_worker, arguments, chunk=8)
        return self._executor

    def verify(self) -> Verify:
        """Verdicts in the order of the candidates."""
        return lambda items: verify_many(items, self.executor, self.tally)

    def close(self) -> None:
        """End the processes."""
        if self._executor is not None:
            self._executor.close()
            self._executor = None

    @cached_property
    def tasks(self) -> list[Task]:
        """All proven tasks, of every split."""
        return load_tasks(self.out / "tasks" / "tasks.jsonl")

    def split(self, name: str) -> list[Task]:
        """Tasks of one split."""
        return [task for task in self.tasks if task.split == name]

    @cached_property
    def pools(self) -> tuple[list[Task], list[Task]]:
        """``(for SFT, for stage 2 and its control)``: the train tasks, shuffled and cut."""
        tasks = self.split("train")
        random.Random(f"pools-{self.config.seed}").shuffle(tasks)
        cut = len(tasks) - round(len(tasks) * self.config.rl_share)
        return tasks[:cut], tasks[cut:]

    def examples(self, pool: int) -> Path:
        """The encoded trajectories of one of the ``pools``."""
        return self.out / "examples" / ("sft.jsonl", "rlvr.jsonl")[pool]

    def model(self, name: str) -> Path:
        """Folder of a checkpoint."""
        return self.out / "models" / name


def step_tasks(run: Run, progress: Progress) -> None:
    """Make and prove tasks."""
    build.run(run.config.tasks, run.out / "tasks", progress, run.verdicts)


def step_collect(run: Run, progress: Progress) -> None:
    """Replay the reference edit of every train task as a multi-step trajectory."""
    found = replay(run.split("train"), run.executor, progress)
    save_trajectories(run.out / "trajectories.jsonl", found)


def step_gate(run: Run, progress: Progress) -> None:
    """Judge every trajectory by a verdict of its own and store it, accepted or refused."""
    tasks = {task.id: task for task in run.tasks}
    found = load_trajectories(run.out / "trajectories.jsonl")
    (run.out / "library.db").unlink(missing_ok=True)
    found.sort(key=lambda one: one.id)  # of near-duplicates the first one is kept
    with Library(run.out / "library.db", create=True) as library:
        settings = GateConfig()
        own = EvaluationSet.of("held out by this run", held_out(run.config.tasks), settings.words)
        context = Context(settings, (own,), Held(lambda id_: library.get(id_).trajectory))
        for at in range(0, len(found), GATE_BATCH):
            part = found[at : at + GATE_BATCH]
            states = [{**tasks[t.task_id].files, **t.files} for t in part]
            items = [Candidate(tasks[t.task_id], state, fresh=True) for t, state in zip(part, states, strict=True)]
            verdicts = list(run.verify()(items))
            batch = [(tasks[t.task_id], t, verdict) for t, verdict in zip(part, verdicts, strict=True)]
            library.add_many(Entry(*item, decision) for item, decision in zip(batch, gate(batch, context=context), strict=True))
            context.held.stored()
            progress(at + len(part), len(found))


def accepted(run: Run) -> dict[str, Trajectory]:
    """Accepted trajectories by task id. Raises InfraError when the gate let nothing through."""
    with Library(run.out / "library.db") as library:
        found = {entry.task.id: entry.trajectory for entry in library.iter_accepted()}
    if not found:
        raise InfraError("the gate accepted no trajectory; 'swefuse library stats' shows the reasons")
    return found


def step_base(run: Run, progress: Progress) -> None:
    """The model to start from: nano, pretrained or from scratch, or what the settings name."""
    from swefuse.learn import model as models
    from swefuse.learn.tokens import nano_text

    models.steady(run.config.seed, run.config.threads)
    if run.config.base == "smollm2":
        models.convert_smollm2(run.model("base"))
    elif run.config.base == "nano" and not run.config.scratch:
        models.save(*models.load(models.pretrained_nano()), run.model("base"))
    elif run.config.base == "nano":
        chosen = accepted(run)
        tasks = [task for task in run.pools[0] if task.id in chosen][:TOKENIZER_TEXTS]
        tokenizer = models.train_tokenizer(nano_text(task, chosen[task.id].steps) for task in tasks)
        models.save(models.make_nano(tokenizer, seed=run.config.seed), tokenizer, run.model("base"))
    else:
        models.save(*models.load(run.config.base), run.model("base"))
    progress(1, 1)


def step_encode(run: Run, progress: Progress) -> None:
    """The accepted trajectories as rows of token ids, with what was open at each choice: once, for every stage that trains."""
    from swefuse.learn.examples import init_codec, make_examples, save_examples
    from swefuse.learn.mix import chosen as mixed

    run.close()  # the verifiers' memory and cores are wanted elsewhere now
    chosen = accepted(run)
    items = [[(task, chosen[task.id]) for task in pool if task.id in chosen] for pool in run.pools]
    items = [mixed(part, run.config.sft.mix, run.config.seed) for part in items]
    total = sum(map(len, items))
    with ProcessExecutor(run.config.workers, init_codec, (run.model("base"),), chunk=8) as executor:
        for number, part in enumerate(items):
            shown = partial(_shifted, progress, len(items[0]) * number, total)
            run.examples(number).parent.mkdir(exist_ok=True)
            save_examples(run.examples(number), make_examples(part, executor, shown))


def step_sft(run: Run, progress: Progress) -> None:
    """Stage 1 on the accepted trajectories."""
    from swefuse.learn import manifest
    from swefuse.learn import model as models
    from swefuse.learn.checkpoint import fingerprint
    from swefuse.learn.examples import load_examples
    from swefuse.learn.sft import fine_tune, trained_rows

    examples = load_examples(run.examples(0))
    models.steady(run.config.seed, run.config.threads)
    model, tokenizer = models.load(run.model("base"))
    names = content_hash([example.name for example in examples])
    told = {
        "base": fingerprint(model),
        "trajectories": names,
        "library": manifest.library(run.out / "library.db"),
        "split": ["train"],
    }
    fine_tune(model, tokenizer, examples, run.config.sft, run.out / "sft", progress)
    models.save(model, tokenizer, run.model("sft"))
    manifest.write(run.out / "sft", "sft", run.config.sft, {**told, "policy": fingerprint(model)})
    lengths = [len(example.ids) for example in trained_rows(examples, run.config.sft)]
    save_lines(run.out / "sft" / "data.json", [json.dumps({"examples": len(examples), "tokens": sum(lengths)})])


def step_rlvr(run: Run, progress: Progress) -> None:
    """Stage 2 on the tasks that stage 1 has not seen."""
    from swefuse.learn import manifest
    from swefuse.learn import model as models
    from swefuse.learn.checkpoint import fingerprint
    from swefuse.learn.examples import load_examples
    from swefuse.learn.rlvr import identity, train
    from swefuse.learn.tokens import codec_for
    from swefuse.learn.update import Models

    models.steady(run.config.seed, run.config.threads)
    policy, tokenizer = models.load(run.model("sft"))
    both = Models(policy, models.load(run.model("sft"))[0], codec_for(tokenizer))
    gold = cache(lambda: load_examples(run.examples(1)))
    told = {**identity(both, run.pools[1], run.config.rlvr), "split": "train", "task_count": len(run.pools[1])}
    learnt = train(both, run.pools[1], run.verify(), run.config.rlvr, run.out / "rlvr", progress, gold)
    learnt.save(run.out / "rlvr" / "value.pt")
    models.save(policy, tokenizer, run.model("rlvr"))
    manifest.write(run.out / "rlvr", "rlvr", run.config.rlvr, {**told, "policy": fingerprint(policy)})


def step_control(run: Run, progress: Progress) -> None:
    """More SFT for as many processed tokens as stage 2 took, on the same tasks, with their reference trajectories."""
    from swefuse.learn import model as models
    from swefuse.learn.examples import load_examples
    from swefuse.learn.sft import fine_tune, trained_rows

    run.close()
    examples = trained_rows(load_examples(run.examples(1)), run.config.sft)
    models.steady(run.config.seed, run.config.threads)
    model, tokenizer = models.load(run.model("sft"))
    steps = control_steps(run, examples)
    settings = run.config.sft.model_copy(
        update={"steps": steps, "lr": run.config.rlvr.lr, "warmup": min(10, steps), "prompt_loss": 0.0}
    )
    fine_tune(model, tokenizer, examples, settings, run.out / "control", progress)
    models.save(model, tokenizer, run.model("control"))


def control_steps(run: Run, examples: Sequence[Example]) -> int:
    """Steps that process as many tokens as stage 2 did, a token with its backward pass counting as three forward ones."""
    rows = [json.loads(line) for line in (run.out / "rlvr" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    spent: float = sum(row["forward_tokens"] + 3 * row["trained_tokens"] for row in rows)
    if not examples:
        raise InfraError("no trajectory of stage 2's tasks was accepted, so there is nothing for the control to train on")
    mean = sum(len(example.ids) for example in examples) / len(examples)
    return max(1, round(spent / (3 * mean * run.config.sft.batch)))


def step_evaluate(run: Run, progress: Progress) -> None:
    """Every model and both scripted policies on every held-out split, and the value model on what the reference policy sampled."""
    from swefuse.learn import model as models
    from swefuse.learn.assess import Assessor
    from swefuse.policy.local import LocalPolicy

    models.steady(run.config.seed, run.config.threads)
    value = Assessor.load(run.out / "rlvr" / "value.pt", run.model("sft"), run.config.rlvr)
    config = EvalConfig(samples=run.config.eval_samples, seed=run.config.seed)
    names = ["random", "rule", *MODELS]
    for number, name in enumerate(names):
        file = run.out / "eval" / f"{name}.jsonl"
        file.parent.mkdir(exist_ok=True)
        if file.exists():
            continue
        policy = ScriptedPolicy(name) if name not in MODELS else LocalPolicy(models.load(run.model(name))[0], value.codec, name)
        heldout = [task for split in HELDOUT.values() for task in run.split(split)]
        base = number * len(heldout)
        shown = partial(_shifted, progress, base, len(heldout) * len(names))
        value.seen.clear()
        results = evaluate(policy, heldout, run.verify(), config, value.choose if name in MODELS else None, shown)
        if name == "sft":  # candidates of other policies are none that the value model is made for
            save_lines(run.out / "eval" / "value.json", [json.dumps(value.measure(), indent=1)])
        save_results(file, results)


def _shifted(progress: Progress, base: int, total: int, done: int, _: int) -> None:
    progress(base + done, total)


def step_report(run: Run, progress: Progress) -> None:
    """Figures, findings and the page."""
    from swefuse.recipes.story import tell

    tell(run)
    progress(1, 1)


STEPS: dict[str, Callable[[Run, Progress], None]] = {
    "tasks": step_tasks,
    "collect": step_collect,
    "gate": step_gate,
    "base": step_base,
    "encode": step_encode,
    "sft": step_sft,
    "rlvr": step_rlvr,
    "control": step_control,
    "evaluate": step_evaluate,
    "report": step_report,
}
