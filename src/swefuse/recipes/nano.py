"""``swefuse train nano``: pretrain the small model that the quickstart starts from.

Exercises of repair in functions of the standard library and other installed packages, without tests, and tasks of the shipped
functions, with tests that ran. Whatever looks like a function that figures are made on is left out, and ``contamination.json``
says what was.
"""

from __future__ import annotations

import json
import platform
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from swefuse.collect.pretext import exercises
from swefuse.collect.stage import replay_one
from swefuse.config import OnlyWhen, changed, dump
from swefuse.errors import ConfigError
from swefuse.learn.sft import SftSettings
from swefuse.recipes.contamination import SEEN, evaluation_functions
from swefuse.records import Outcome, Task, Trajectory, content_hash
from swefuse.sandbox.choose import resolve
from swefuse.scale.executor import ProcessExecutor
from swefuse.tasks import installed
from swefuse.tasks.balance import Balance, make_tasks
from swefuse.tasks.build import TasksConfig, sources
from swefuse.tasks.prepare import prepare
from swefuse.tasks.spec import FunctionSpec
from swefuse.tasks.splits import Evaluation
from swefuse.tasks.store import save_lines
from swefuse.tasks.workers import init_worker

if TYPE_CHECKING:
    from swefuse.learn.batch import Example

Progress = Callable[[int, int], None]
Bars = Callable[[str], AbstractContextManager[Progress]]
FILES = 16  # of a package, read by one call
SETTINGS = "nano.toml"
TEXTS = 4000  # rows that the tokenizer is made from
_evaluation: Evaluation | None = None


class PretrainSettings(SftSettings):
    """Settings of the training itself, as in stage 1."""

    steps: int = Field(6000, ge=1, description="optimizer steps")
    warmup: int = Field(100, ge=0, description="steps of linear warm-up")
    prompt_loss: float = Field(0.3, ge=0, description="share of the cross-entropy of observations")
    short_first: float = Field(0.1, ge=0, le=1, description="share of the steps that see only the shorter half of the data")

    @model_validator(mode="after")
    def _nothing_idle(self) -> Self:
        for key in ("check_tasks", "patience", "dialect"):
            if getattr(self, key) != type(self).model_fields[key].default:
                raise ValueError(f"{key} has no effect in pretraining")
        return self


class NanoConfig(BaseModel):
    """Settings of the pretraining."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    packages: tuple[str, ...] = Field(
        ("python", "sympy", "networkx", "mpmath"), min_length=1, description="packages that are read; python: the standard library"
    )
    text_functions: int = Field(16000, ge=1, description="functions of these packages, at most; those of the first ones first")
    text_bugs: int = Field(3, ge=1, description="exercises of one such function, at most")
    tested_tasks: int = Field(20000, ge=1, description="tasks of the shipped functions, with tests that ran")
    composed_functions: int = Field(1800, ge=1, le=4000, description="composed functions among these, held-out ones included")
    longest: int = Field(384, ge=64, description="tokens of a row; longer ones are left out")
    workers: int = Field(2, ge=1, description="processes")
    threads: int = Field(2, ge=1, description="threads of the trainer")
    sandbox: str = Field("auto", description="where untrusted code runs; auto: the first that proves itself here")
    start: str = Field("", description="folder of a nano whose weights and tokenizer are gone on with; empty: from scratch")
    vocabulary: Annotated[int, OnlyWhen("start", "")] = Field(1536, ge=300, le=8192, description="size of the tokenizer")
    seed: int = Field(0, ge=0, description="which bugs are made, the first weights, and the order of the rows")
    sft: PretrainSettings = Field(default_factory=PretrainSettings, validate_default=True, description="how it is trained")

    @field_validator("sft")
    @classmethod
    def _seed_from_above(cls, sft: PretrainSettings, info: ValidationInfo) -> PretrainSettings:
        seed = info.data.get("seed", 0)
        if "seed" in sft.model_fields_set and sft.seed != seed:
            raise ValueError(f"sft.seed has no effect, it follows seed (which is {seed}); set seed instead")
        return sft.model_copy(update={"seed": seed})


def init_reader(evaluation: list[FunctionSpec]) -> None:
    """Initializer of the processes that read functions."""
    global _evaluation
    _evaluation = Evaluation(evaluation)


def read_functions(part: tuple[str, list[Path]]) -> tuple[list[FunctionSpec], list[tuple[str, str, float]], Counter[str]]:
    """The functions of some files, those that look like an evaluation function with what they look like, and what was dropped."""
    assert _evaluation is not None, "init_reader has not run in this process"
    dropped: Counter[str] = Counter()
    kept, alike = [], []
    for path in part[1]:
        for spec in installed.functions_of(part[0], path, dropped):
            try:
                like = _evaluation.like(spec)
            except (SyntaxError, RecursionError):  # its names cannot be put in order, so nobody can tell what it is like
                dropped["cannot be compared"] += 1
                continue
            if like is None:
                kept.append(spec)
            else:
                alike.append((spec.key, *like))
    return kept, alike, dropped


def init_maker(sandbox: str, model: str) -> None:
    """Initializer of the processes that make rows: a sandbox where ``sandbox`` names one, and a codec where ``model`` does."""
    from swefuse.learn.examples import init_codec

    if sandbox:
        init_worker(sandbox)
    if model:
        init_codec(Path(model))


def text_rows(item: tuple[FunctionSpec, int, int]) -> list[Example]:
    """The rows of the exercises of one function."""
    from swefuse.learn.examples import encode_here

    return [encode_here(task, steps) for task, steps in exercises(*item)]


def tested_row(task: Task) -> list[Example]:
    """The row of a task, if carrying its reference out step by step passes all tests."""
    from swefuse.learn.examples import encode_here

    trajectory = replay_one(task)
    passed = trajectory.verdict is not None and trajectory.verdict.outcome is Outcome.PASSED
    return [encode_here(task, trajectory)] if passed else []


class Making:
    """One pretraining, in a folder; each part is a file that a stopped call does not make again."""

    def __init__(self, config: NanoConfig, out: Path, bars: Bars) -> None:
        self.config, self.out, self.bars = config, out, bars
        self.evaluation = evaluation_functions()

    def texts(self) -> list[FunctionSpec]:
        """The functions that are read, without doubles; what was left out goes to ``contamination.json``."""
        config = self.config
        parts = [
            (package, files[at : at + FILES])
            for package in config.packages
            for files in [installed.source_files(package)]
            for at in range(0, len(files), FILES)
        ]
        unique: dict[str, FunctionSpec] = {}
        alike: list[tuple[str, str, float]] = []
        dropped: Counter[str] = Counter()
        with (
            ProcessExecutor(config.workers, init_reader, (self.evaluation,), chunk=2) as executor,
            self.bars("functions") as progress,
        ):
            for number, (kept, near, why) in enumerate(executor.map(read_functions, parts), 1):
                for spec in kept:
                    unique.setdefault(spec.body_hash, spec)
                alike += near
                dropped.update(why)
                progress(number, len(parts))
        found = list(unique.values())[: config.text_functions]
        report = {
            "evaluation_functions": dict(Counter(spec.family for spec in self.evaluation)),
            "packages": {package: installed.version(package) for package in config.packages},
            "read": len(unique), "taken": len(found), "dropped": dict(dropped),
            "left_out": [{"function": key, "like": other, "similarity": round(much, 3)} for key, other, much in sorted(alike)],
        }  # fmt: skip
        save_lines(self.out / "contamination.json", [json.dumps(report, indent=1)])
        return found

    def tasks(self) -> tuple[list[Task], list[str]]:
        """Tasks of the shipped functions that nobody is evaluated on, and the hashes of these functions."""
        config = self.config
        known, _ = sources(TasksConfig(composed_functions=config.composed_functions))
        evaluation = Evaluation(self.evaluation)
        specs = [spec for spec in known if spec.family != "real" and evaluation.like(spec) is None]
        with ProcessExecutor(config.workers, init_worker, (resolve(config.sandbox),), chunk=8) as executor:
            with self.bars("calls") as progress:
                ready = []
                for number, prepared in enumerate(executor.map(prepare, specs), 1):
                    ready += [] if prepared.reason else [prepared.spec]
                    progress(number, len(specs))
            with self.bars("tasks") as progress:
                done = 0

                def made(count: int) -> None:
                    nonlocal done
                    done += count
                    progress(min(done, config.tested_tasks), config.tested_tasks)

                balance = Balance(ready, config.tested_tasks, config.tested_tasks, config.seed)
                return make_tasks(balance, executor, made), sorted(spec.body_hash for spec in ready)

    def base(self, texts: list[FunctionSpec], tasks: list[Task]) -> Path:
        """The model before training: new weights and a tokenizer made from some of the rows, or those of ``start``."""
        from swefuse.learn import model as models
        from swefuse.learn.tokens import nano_text

        folder = self.out / "base"
        if folder.exists():
            return folder
        models.steady(self.config.seed, self.config.threads)
        if self.config.start:
            return models.save(*models.load(self.config.start), folder)
        shuffled = random.Random(self.config.seed).sample(texts, len(texts))
        read = (nano_text(task, steps.steps) for spec in shuffled for task, steps in exercises(spec, 1, self.config.seed))
        with ProcessExecutor(self.config.workers, init_worker, (resolve(self.config.sandbox),), chunk=8) as executor:
            tested = [nano_text(task, t.steps) for task, t in _replayed(tasks[: TEXTS // 2], executor)]
        tokenizer = models.train_tokenizer([*islice(read, TEXTS // 2), *tested], self.config.vocabulary)
        return models.save(models.make_nano(tokenizer, seed=self.config.seed), tokenizer, folder)

    def rows(self, texts: list[FunctionSpec], tasks: list[Task], base: Path) -> list[Example]:
        """All rows that are not too long, in an order that says nothing."""
        config = self.config
        orders = [(spec, config.text_bugs, config.seed) for spec in texts]
        found: list[Example] = []
        with ProcessExecutor(config.workers, init_maker, ("", str(base)), chunk=16) as executor:
            found += self._gather("exercises", executor.map(text_rows, orders), len(orders))
        with ProcessExecutor(config.workers, init_maker, (resolve(config.sandbox), str(base)), chunk=16) as executor:
            found += self._gather("rows", executor.map(tested_row, tasks), len(tasks))
        return sorted(
            (one for one in found if len(one.ids) <= config.longest), key=lambda one: content_hash([config.seed, one.name])
        )

    def _gather(self, title: str, parts: Iterable[list[Example]], total: int) -> list[Example]:
        found: list[Example] = []
        with self.bars(title) as progress:
            for number, rows in enumerate(parts, 1):
                found += rows
                progress(number, total)
        return found


def _replayed(tasks: list[Task], executor: ProcessExecutor) -> Iterator[tuple[Task, Trajectory]]:
    return zip(tasks, executor.map(replay_one, tasks), strict=True)


def run(config: NanoConfig, out: Path, bars: Bars) -> Path:
    """Pretrain; ``out/model`` loads with ``from_pretrained``. A call that was stopped goes on where it was.

    Raises DataError for a package that is not installed and ConfigError for a folder that holds another pretraining, and for a
    ``start`` that cannot be gone on with.
    """
    from swefuse.learn import model as models
    from swefuse.learn.examples import load_examples, save_examples
    from swefuse.learn.sft import fine_tune

    for package in config.packages:
        installed.source_files(package)
    before = _started_from(config.start) if config.start else []
    kept = out / SETTINGS
    if kept.exists() and (other := changed(kept, config)):
        raise ConfigError(
            f"{out} was started with other settings ({kept}: {other}); go on with the same ones or give another folder"
        )
    out.mkdir(parents=True, exist_ok=True)
    kept.write_text(dump(config), encoding="utf-8")
    making = Making(config, out, bars)
    examples, trained = out / "examples.jsonl", out / SEEN
    if not examples.exists():
        texts, (tasks, hashes) = making.texts(), making.tasks()
        save_lines(trained, sorted({*hashes, *before}))
        save_examples(examples, making.rows(texts, tasks, making.base(texts, tasks)))
    models.steady(config.seed, config.threads)
    model, tokenizer = models.load(out / "base")
    rows = load_examples(examples)
    with bars("nano") as progress:
        fine_tune(model, tokenizer, rows, config.sft, out / "sft", progress)
    models.save(model.bfloat16(), tokenizer, out / "model")
    for name in ("contamination.json", SEEN):
        (out / "model" / name).write_bytes((out / name).read_bytes())
    (out / "model" / SETTINGS).write_text(dump(config), encoding="utf-8")
    (out / "model" / "README.md").write_text(
        card(config, len(rows), json.loads((out / "contamination.json").read_bytes())), encoding="utf-8"
    )
    return out


def _started_from(start: str) -> list[str]:
    """The hashes of the functions that the model in folder ``start`` has seen. Raises ConfigError where it is not fit to go on."""
    from swefuse.learn import model as models
    from swefuse.learn.tokens import is_nano

    if not is_nano(models.load(start)[1]):
        raise ConfigError(f"start: {start} is no nano: its tokenizer is another one")
    seen = Path(start) / SEEN
    if not seen.is_file():
        raise ConfigError(f"start: {start} has no {SEEN}, so nobody can tell which functions it was trained on")
    return seen.read_text(encoding="utf-8").split()


def card(config: NanoConfig, rows: int, report: dict[str, Any]) -> str:
    """The model card."""
    packages = ", ".join(f"{name} {version}" for name, version in report["packages"].items())
    return (
        "# nano\n\nThe model that the quickstart starts from: a Llama of a few million parameters that has learnt to read Python\n"
        "and to find small bugs. Made by `swefuse train nano`"
        + (f" from the weights in `{config.start}`" if config.start else "")
        + f" with seed {config.seed}, Python {platform.python_version()}.\n\n"
        f"It saw {rows} rows in {config.sft.steps} steps of {config.sft.batch}: exercises of repair without tests in functions of\n"
        f"{packages} ({report['taken']} functions), and tasks of this project's own functions with tests that ran.\n"
        "\n"
        "What figures of this project are made on was left out: functions of the same body, and of a similarity above 0.7\n"
        f"(`contamination.json` names the {len(report['left_out'])} that were). `functions.txt` holds the hashes of the shipped\n"
        "functions that it was trained on; the quickstart refuses to evaluate it on one of them.\n\n"
        "`nano.toml` holds the settings that made it. It chooses among edits that are listed for it and writes nothing of its\n"
        "own. It is no assistant.\n"
    )
