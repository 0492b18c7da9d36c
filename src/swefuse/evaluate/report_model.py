"""What a run reports: ``report.json`` (keys frozen) and ``report_data.json`` (what the page draws, every part optional)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from swefuse.errors import DataError
from swefuse.records import Record

SPLITS = ("recombined", "unseen", "real")
MODELS = ("random", "rule", "base", "sft", "control", "rlvr")
COMPARISONS = ("rlvr-sft", "rlvr-control")

R = TypeVar("R", bound=Record)
V = TypeVar("V")


def _exactly(names: tuple[str, ...]) -> Callable[[dict[str, V]], dict[str, V]]:
    """A check that a mapping has these keys, no more and no fewer; the mapping comes back in this order."""

    def check(value: dict[str, V]) -> dict[str, V]:
        if set(value) != set(names):
            raise ValueError(f"keys must be exactly {', '.join(names)}; got {', '.join(sorted(value)) or 'none'}")
        return {name: value[name] for name in names}

    return check


def _ordered(value: tuple[float, ...]) -> tuple[float, ...]:
    if value[-2] > value[-1]:
        raise ValueError(f"interval [{value[-2]}, {value[-1]}] is upside down")
    return value


def _encodable(value: Any) -> Any:
    # Programs under test print lone surrogates; UTF-8 cannot hold them, and one of them must not cost the whole report.
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value


Text = Annotated[str, BeforeValidator(_encodable)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Change = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Interval = Annotated[tuple[Share, Share], AfterValidator(_ordered)]
Estimate = Annotated[tuple[Change, Change, Change], AfterValidator(_ordered)]


class Scores(Record, strict=True):
    """One model on one split, shares of tasks in [0, 1]; None for what was not measured. ``n`` is the number of tasks."""

    greedy: Share | None
    sampled: Share | None
    pass4: Share | None
    bestof4: Share | None
    n: Count


class Difference(Record, strict=True):
    """Paired difference of sampled pass@1 as (mean, low, high) with the 95 % bootstrap interval; None when not measured."""

    sampled: Estimate | None


class ValueScores(Record, strict=True):
    """The value model on held-out pairs: accuracies, AUC and calibration error in [0, 1]; ``majority`` is the majority class."""

    three_way: Share | None
    majority: Share | None
    decisive: Share | None
    auc: Share | None
    ece: Share | None


def _has_total(value: dict[str, float]) -> dict[str, float]:
    if "total" not in value:
        raise ValueError("the key total is missing")
    return value


class ReportModel(Record, strict=True):
    """``report.json``. Every split and model is present; ``seconds`` holds ``total`` and one entry per stage."""

    seed: int
    seconds: Annotated[dict[str, Amount], AfterValidator(_has_total)]
    peak_rss_mb: Amount
    counts: dict[Text, int]
    versions: dict[Text, Text]
    results: Annotated[dict[str, Annotated[dict[str, Scores], AfterValidator(_exactly(MODELS))]], AfterValidator(_exactly(SPLITS))]
    differences: Annotated[
        dict[str, Annotated[dict[str, Difference], AfterValidator(_exactly(COMPARISONS))]], AfterValidator(_exactly(SPLITS))
    ]
    value: ValueScores


class Stage(Record, strict=True):
    """One stage of the run and the wall seconds it took."""

    name: Text
    seconds: Amount
    note: Text = ""


class Flow(Record, strict=True):
    """One station of the way from functions to training data: how many arrive there."""

    label: Text
    count: Count
    note: Text = ""


class Agreement(Record, strict=True):
    """How many verdicts were judged in both test forms, and how many of those agreed."""

    checked: Count
    agreed: Count

    @model_validator(mode="after")
    def _no_more_than_checked(self) -> Agreement:
        if self.agreed > self.checked:
            raise ValueError(f"{self.agreed} agreed of {self.checked} checked")
        return self


class Series(Record, strict=True):
    """One line of a chart: (x, y) in drawing order. Values that are not finite leave a gap."""

    name: Text
    points: tuple[tuple[float, float], ...]


class Chart(Record, strict=True):
    """Lines over one pair of axes."""

    title: Text
    x_label: Text = ""
    y_label: Text = ""
    series: tuple[Series, ...]


class Bins(Record, strict=True):
    """One histogram: ``len(bins) == len(counts) + 1`` rising, finite edges."""

    label: Text
    bins: tuple[Annotated[float, Field(allow_inf_nan=False)], ...]
    counts: tuple[Count, ...]

    @model_validator(mode="after")
    def _edges(self) -> Bins:
        rising = all(a < b for a, b in zip(self.bins, self.bins[1:], strict=False))
        if len(self.bins) != len(self.counts) + 1 or len(self.bins) < 2 or not rising:
            raise ValueError("bins must be one more than counts, and rise")
        return self


class Histogram(Record, strict=True):
    """Small multiples over one axis, such as the entropy of the verdict by round."""

    title: Text
    by: tuple[Bins, ...]


class KindScores(Record, strict=True):
    """Shares in [0, 1] on the tasks of one kind of bug."""

    greedy: Share | None
    sampled: Share | None
    n: Count


class Intervals(Record, strict=True):
    """95 % intervals of a model's shares on one split."""

    greedy: Interval | None = None
    sampled: Interval | None = None


class ValueDetail(Record, strict=True):
    """One way to judge pairs: majority class, sum of log-probs, Platt fit or a value head; ``n`` is the number of pairs."""

    name: Text
    three_way: Share | None = None
    decisive: Share | None = None
    auc: Share | None = None
    ece: Share | None = None
    n: Count = 0


class Attempt(Record, strict=True):
    """What one model did on an example: its patch as a unified diff, whether it passed, and what the tests said."""

    name: Text
    diff: Text
    passed: bool
    output: Text = ""


class Example(Record, strict=True):
    """One held-out task with the attempts of several models. ``failing`` is the test output that the models saw."""

    task: Text
    split: Text
    kind: Text
    instruction: Text = ""
    source: Text = ""
    failing: Text = ""
    models: tuple[Attempt, ...] = ()


class ReportData(Record, strict=True):
    """``report_data.json``. Text may be hostile: it is shown, never trusted. ``verdict`` holds the findings in plain words.

    ``pooled``: the differences of report.json over the tasks of all splits together.
    """

    title: Text = "SWE-Fuse run"
    verdict: tuple[Text, ...] = ()
    stages: tuple[Stage, ...] = ()
    pipeline: tuple[Flow, ...] = ()
    refusals: dict[Text, Count] = Field(default_factory=dict)
    agreement: Agreement | None = None
    charts: tuple[Chart, ...] = ()
    histograms: tuple[Histogram, ...] = ()
    pooled: dict[Text, Difference] = Field(default_factory=dict)
    by_kind: dict[Text, dict[Text, dict[Text, KindScores]]] = Field(default_factory=dict)
    intervals: dict[Text, dict[Text, Intervals]] = Field(default_factory=dict)
    value_detail: tuple[ValueDetail, ...] = ()
    examples: tuple[Example, ...] = ()
    config: Text = ""
    manifest: Annotated[dict[str, Any], BeforeValidator(_encodable)] = Field(default_factory=dict)


def _read(path: Path, model: type[R]) -> R:
    try:
        return model.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise DataError(f"{path}: {where}: {first['msg']}. Run the stage that writes it again.") from error


def load(run: Path) -> tuple[ReportModel, ReportData]:
    """Read both files of a run folder; without ``report_data.json`` the second part is empty.

    Raises DataError when ``report.json`` is missing or a file does not follow its schema, naming the file and the field.
    """
    if not (run / "report.json").is_file():
        raise DataError(f"{run} has no report.json; give the folder of a run that has reached its evaluation")
    extra = run / "report_data.json"
    return _read(run / "report.json", ReportModel), _read(extra, ReportData) if extra.is_file() else ReportData()


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def headline(report: ReportModel) -> str:
    """The run's result in one sentence, read off the intervals alone: better needs both of them above 0."""
    groups: dict[str, list[str]] = {"better": [], "open": [], "worse": []}
    for split, pairs in report.differences.items():
        found = [pair.sampled for pair in pairs.values() if pair.sampled]
        if len(found) < len(pairs):
            continue
        worse = any(high < 0 for _, _, high in found)
        groups["worse" if worse else "better" if all(low > 0 for _, low, _ in found) else "open"].append(split)
    if not any(groups.values()):
        return "This run did not compare RLVR with SFT and with the equal-compute control."
    said = {
        "better": "better than both SFT and the equal-compute control on",
        "open": "not shown to be better than both on",
        "worse": "worse than at least one of them on",
    }
    parts = [f"{words} {_listed(groups[key])} functions" for key, words in said.items() if groups[key]]
    return f"On sampled pass@1, RLVR is {'; '.join(parts)}."
