"""Does weighting pairs by the entropy of the verdict help? Stage 2 under known errors of the verifier, one arm for each answer.

Every arm starts from the same model, sees the same tasks in the same order and takes as many rounds; only the verifier's errors,
the weights and the objective differ. Held-out pass@1 is exact (``learn.board``), so that arms differ by what they learnt and not by
the luck of samples. Arms that are done are not run again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from swefuse import config as config_files
from swefuse.errors import ConfigError, DataError, nearest
from swefuse.learn.entropy import MODES, Mode
from swefuse.learn.settings import RlvrSettings, ValueSettings, WeightSettings
from swefuse.recipes.config import QuickstartConfig
from swefuse.recipes.steps import Run
from swefuse.records import Task, content_hash
from swefuse.scale.executor import InlineExecutor, ProcessExecutor
from swefuse.tasks.splits import HELDOUT
from swefuse.tasks.store import save_lines
from swefuse.verify.many import init_worker, verify_many
from swefuse.verify.noise import KINDS, Noise, NoisyVerify

Progress = Callable[[int, int], None]
TEMPERATURES = (1.0, 0.8, 0.6, 0.4, 0.2)
Objective = Literal["group", "bt", "bt_ties"]
SMALL: dict[str, Any] = {
    "noises": ["clean", "false_pass:0.2", "false_pass:0.4"], "objectives": ["group"], "heldout": 240, "lams": [], "taus": [],
}  # fmt: skip
BEST_OF = 4


class EntropyConfig(BaseModel):
    """Settings of the experiment. ``budget`` sets defaults; a setting that is given wins over them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    budget: Literal["small", "full"] = Field("small", description="small: about an hour on two cores; full: every noise")
    modes: list[Mode] = Field(list(MODES), description="weights that are compared")
    noises: list[str] = Field(
        ["clean", "false_pass:0.1", "false_pass:0.2", "false_pass:0.4", "false_fail:0.1", "false_fail:0.2", "flaky:0.2",
         "weak_tests:0.5", "lenient:0.5"],
        description="errors of the verifier, each a kind and its rate",
    )  # fmt: skip
    objectives: list[Objective] = Field(["group", "bt", "bt_ties"], description="objectives of the policy")
    seeds: int = Field(3, ge=1, description="how often each arm is run")
    rounds: int = Field(24, ge=2, description="rounds of an arm")
    tasks: int = Field(48, ge=1, description="tasks a round")
    pool: int = Field(400, ge=1, description="tasks that the rounds are drawn from")
    heldout: int = Field(450, ge=2, description="held-out tasks")
    lam: float = Field(2.0, ge=0, description="strength of soft, posterior and random")
    tau: float = Field(0.5, ge=0, le=1, description="entropy above which hard drops a pair")
    lams: list[Annotated[float, Field(ge=0)]] = Field([0.5, 1.0, 4.0], description="further strengths at which soft is run")
    taus: list[Annotated[float, Field(ge=0, le=1)]] = Field([0.3, 0.7, 0.9], description="further thresholds at which hard is run")
    warmup: int = Field(3, ge=0, description="rounds before weights act")
    normalise: bool = Field(True, description="scale the weights of a round to mean 1")
    head: Literal["residual", "platt"] = Field("platt", description="value head of every arm")
    workers: int = Field(2, ge=1, description="arms that are run at once")

    @model_validator(mode="before")
    @classmethod
    def _budget(cls, data: Any) -> Any:
        """Put the small budget under what was given."""
        return {**SMALL, **data} if isinstance(data, dict) and data.get("budget", "small") == "small" else data

    @model_validator(mode="after")
    def _sweeps_act(self) -> Self:
        """A sweep of a mode that is not compared, or of the value that it has anyway, would be ignored."""
        for key, mode, own in (("lams", "soft", self.lam), ("taus", "hard", self.tau)):
            values = getattr(self, key)
            if values and mode not in self.modes:
                raise ValueError(f"{key} has no effect, since modes has no {mode}")
            if own in values or len(set(values)) < len(values):
                raise ValueError(f"{key} names a value twice, or that of {key[:-1]}, which is run anyway")
        return self

    @field_validator("noises")
    @classmethod
    def _known(cls, noises: list[str]) -> list[str]:
        for name in noises:
            parse_noise(name, 0)
        return noises


@dataclass(frozen=True, slots=True)
class Arm:
    """One run of stage 2. ``strength``: the λ of soft or the τ of hard where it is another than the experiment's."""

    objective: Objective
    noise: str
    mode: Mode
    seed: int
    strength: float | None = None

    @property
    def name(self) -> str:
        """For folders."""
        return f"{self.objective}-{self.noise.replace(':', '')}-{self.weights.replace(' ', '')}-{self.seed}"

    @property
    def weights(self) -> str:
        """The mode, with its strength where that is not the experiment's."""
        return self.mode if self.strength is None else f"{self.mode} {self.strength:g}"


def parse_noise(text: str, seed: int) -> Noise:
    """``false_pass:0.2``, or ``clean``. Raises ValueError for what is neither."""
    kind, _, rate = text.partition(":")
    if kind not in KINDS:
        raise ValueError(f"there is no noise {kind!r}{nearest(kind, KINDS)}")
    try:
        return Noise(kind, float(rate or 0), seed)
    except ValueError as error:
        raise ValueError(f"noise {text!r}: {error}") from error


def arms(config: EntropyConfig) -> list[Arm]:
    """All arms; seeds outermost, so that a call that is ended early has whole comparisons. What means the same is run once."""
    found = []
    for seed in range(config.seeds):
        for objective in config.objectives:
            for noise in config.noises:
                for mode in config.modes:
                    if noise == "clean" and mode in ("oracle", "agreement"):
                        continue  # nothing is mislabelled and all repeats agree: off under another name
                    if mode == "agreement" and not noise.startswith("flaky"):
                        continue  # repeats of an error that stays agree
                    found.append(Arm(objective, noise, mode, seed))
                    further = {"soft": config.lams, "hard": config.taus}.get(mode, [])
                    found += [Arm(objective, noise, mode, seed, strength) for strength in further]
    return found


def settings(config: EntropyConfig, arm: Arm) -> RlvrSettings:
    """Stage 2 of an arm. The value model learns the rate of false passes, in every arm alike."""
    weight: dict[str, Any] = {"mode": arm.mode, "warmup": config.warmup, "normalise": config.normalise}
    if arm.mode in ("soft", "posterior", "random"):
        weight["lam"] = config.lam if arm.strength is None else arm.strength
    if arm.mode == "hard":
        weight["tau"] = config.tau if arm.strength is None else arm.strength
    return RlvrSettings(
        rounds=config.rounds, tasks=config.tasks, objective=arm.objective, seed=arm.seed, save_every=config.rounds,
        value=ValueSettings(head=config.head, noise="learned"), weight=WeightSettings(**weight),
    )  # fmt: skip


def run(config: EntropyConfig, quickstart: Path, out: Path, progress: Progress = lambda done, total: None) -> Path:
    """Run every arm on the model and the tasks of a finished quickstart; ``rows.jsonl`` gets a line for each.

    Raises ConfigError where ``out`` holds another experiment, and DataError where ``quickstart`` holds no run.
    """
    first = sources(quickstart)
    text = config_files.dump(config)
    kept = out / "config.toml"
    if kept.exists() and kept.read_text(encoding="utf-8") != text:
        raise ConfigError(f"{out} holds an experiment of other settings ({kept}); go on with the same, or choose another folder")
    out.mkdir(parents=True, exist_ok=True)
    kept.write_text(text, encoding="utf-8")
    held = heldout(first, config.heldout)
    board_of(held, out, config.workers, first.config.tasks.sandbox)
    done = {row["arm"] for row in rows(out)}
    todo = [arm for arm in arms(config) if arm.name not in done]
    work = partial(_one, config, quickstart, out)
    total = len(todo) + len(done)
    progress(len(done), total)
    with (out / "rows.jsonl").open("a", encoding="utf-8") as file, ProcessExecutor(config.workers, _init) as executor:
        for number, row in enumerate(executor.map(work, todo), len(done) + 1):
            file.write(json.dumps(row) + "\n")
            file.flush()
            progress(number, total)
    return out


def sharpened(config: EntropyConfig, quickstart: Path, out: Path) -> dict[str, list[float]]:
    """Exact figures of the untrained model at lower temperatures: what mere sharpening buys, without any learning.

    Kept in ``sharpened.json``, since it hangs on the model and the tasks alone.
    """
    from swefuse.learn import model as models
    from swefuse.learn.board import exact_pass, load_board
    from swefuse.learn.tokens import codec_for

    kept = out / "sharpened.json"
    if not kept.exists():
        source = sources(quickstart)
        models.steady(0, config.workers)
        policy, tokenizer = models.load(source.model("sft"))
        board = load_board(out / "board.jsonl", heldout(source, config.heldout))
        found = {f"{heat:.1f}": exact_pass(policy, codec_for(tokenizer), board, heat) for heat in TEMPERATURES}
        save_lines(kept, [json.dumps(found)])
    known: dict[str, list[float]] = json.loads(kept.read_bytes())
    return known


def sources(quickstart: Path) -> Run:
    """A finished quickstart. Raises DataError where it lacks its model or tasks."""
    if not (quickstart / "models" / "sft").is_dir() or not (quickstart / "tasks" / "tasks.jsonl").exists():
        raise DataError(f"{quickstart} holds no quickstart with a model after stage 1: 'swefuse quickstart --out {quickstart}'")
    return Run(config_files.load(QuickstartConfig, quickstart / "config.toml"), quickstart)


def heldout(run: Run, count: int) -> list[Task]:
    """Held-out tasks, of every split in proportion, always the same ones."""
    tasks = [task for split in HELDOUT.values() for task in run.split(split)]
    return sorted(tasks, key=lambda task: content_hash(["entropy", task.id]))[:count]


def board_of(tasks: Sequence[Task], out: Path, workers: int, sandbox: str) -> None:
    """Verify every edit of the held-out tasks, once for the experiment."""
    from swefuse.learn.board import load_board, make_board, save_board
    from swefuse.sandbox.choose import resolve

    if (out / "board.jsonl").exists():
        load_board(out / "board.jsonl", tasks)
        return
    with ProcessExecutor(workers, init_worker, (resolve(sandbox), True, out / "verdicts.sqlite"), chunk=16) as executor:
        board = make_board(tasks, lambda items: verify_many(items, executor))
    save_board(out / "board.jsonl", board)


def rows(out: Path) -> list[dict[str, Any]]:
    """Arms that are done; a line that was cut by a kill is dropped from the file."""
    path = out / "rows.jsonl"
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    if lines[-1]:
        with path.open("r+b") as file:
            file.truncate(sum(len(line) + 1 for line in lines[:-1]))
    return [json.loads(line) for line in lines[:-1]]


def _init() -> None:
    from swefuse.learn.model import steady

    steady(0, 1)  # arms share the cores; two threads each would only wait for one another


def _one(config: EntropyConfig, quickstart: Path, out: Path, arm: Arm) -> dict[str, Any]:
    """One arm, from the model after stage 1 to its exact figures."""
    from swefuse.learn import exact
    from swefuse.learn import model as models
    from swefuse.learn.board import exact_pass, load_board
    from swefuse.learn.rlvr import train
    from swefuse.learn.tokens import codec_for
    from swefuse.learn.update import Models
    from swefuse.sandbox.choose import resolve

    source = sources(quickstart)
    models.steady(arm.seed, 1)
    policy, tokenizer = models.load(source.model("sft"))
    both = Models(policy, models.load(source.model("sft"))[0], codec_for(tokenizer))
    board = load_board(out / "board.jsonl", heldout(source, config.heldout))
    before = exact_pass(policy, both.codec, board)
    menu = exact.Menu.of(both.codec, board)
    start = exact.look(both.reference, menu)
    init_worker(resolve(source.config.tasks.sandbox), True, out / "verdicts.sqlite")
    verify = NoisyVerify(lambda items: verify_many(items, InlineExecutor()), parse_noise(arm.noise, arm.seed))
    folder = out / "arms" / arm.name
    shutil.rmtree(folder, ignore_errors=True)  # of an arm that was cut: what its verifier got wrong is counted anew
    learnt = train(both, source.pools[1][: config.pool], verify, settings(config, arm), folder)
    figures = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    (folder / "state.pt").unlink(missing_ok=True)
    scores, plain = learnt.head.scores(start), start.numbers[:, 0].tolist()
    end = exact.look(policy, menu)
    return {
        "arm": arm.name, "objective": arm.objective, "noise": arm.noise, "mode": arm.weights, "seed": arm.seed,
        "before": before, "after": exact_pass(policy, both.codec, board),
        "best_before": exact.best_of(menu, start, plain, BEST_OF), "best_after": exact.best_of(menu, end, scores, BEST_OF),
        "wrong": verify.wrong / max(1, verify.seen), "fitted_false_pass": learnt.baseline.noise[0],
        "effective_share": _mean(row["effective_share"] for row in figures if row["weights_on"]),
        "decisive_accuracy": _mean(row["decisive_accuracy"] for row in figures[len(figures) // 2 :]),
        "trained_tokens": sum(row["trained_tokens"] for row in figures), "kl": figures[-1]["kl"],
        "policy_entropy": figures[-1]["policy_entropy"],
    }  # fmt: skip


def _mean(values: Iterator[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
