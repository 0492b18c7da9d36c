"""The frozen records that travel between rooms and lie on disk.

Every record is immutable, forbids unknown fields and survives a JSON round trip exactly. ``SCHEMA`` names the layout; a reader
that meets another number refuses the file instead of guessing. Identity is a hash of content, never a counter or a clock.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticSerializationError

SCHEMA = 1
M = TypeVar("M", bound=BaseModel)


class Record(BaseModel):
    """Base of all records: frozen, strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


def content_hash(value: Any) -> str:
    """SHA-256 (hex) of a JSON-able value in canonical form, so that the order of keys does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def to_json(record: BaseModel) -> str:
    """A record as one line of JSON. Bytes of a file that are no UTF-8 are half characters in a text, which only escapes can tell.

    Raises PydanticSerializationError, TypeError or ValueError for what JSON cannot hold.
    """
    try:
        return record.model_dump_json()
    except PydanticSerializationError:
        return json.dumps(record.model_dump(), ensure_ascii=True, separators=(",", ":"))


def from_json(kind: type[M], text: bytes) -> M:
    """The record that ``to_json`` wrote. Raises ValidationError for what is none of that kind."""
    try:
        return kind.model_validate_json(text)
    except ValidationError:
        if b"\\ud" not in text:  # else half characters, which the faster reader refuses
            raise
        return kind.model_validate(json.loads(text))


class Kind(StrEnum):
    """What a task asks for; each kind has its own verifier."""

    BUGFIX = "bugfix"
    VULNFIX = "vulnfix"
    COMPLETE = "complete"
    TESTGEN = "testgen"
    DOCGEN = "docgen"
    REFACTOR = "refactor"
    OPTIMIZE = "optimize"
    QA = "qa"


class Outcome(StrEnum):
    """How a verification ended. Only the graded five can ever become a reward or a label."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    TAMPERED = "TAMPERED"
    UNPARSED = "UNPARSED"
    FLAKY = "FLAKY"
    INFRA = "INFRA"

    @property
    def graded(self) -> bool:
        """False for FLAKY and INFRA: those are left out of every group and counted."""
        return self not in (Outcome.FLAKY, Outcome.INFRA)


class Call(Record):
    """One test in the ``calls`` form: arguments and what the entry point must answer.

    ``args`` is the text of a Python tuple literal. Exactly one of ``want`` (text of a literal) and ``raises`` (name of an exception
    class) is set. ``visible`` tests are what an agent's own ``test`` action runs; the judge runs all.
    """

    id: str
    args: str
    want: str | None = None
    raises: str | None = None
    visible: bool = False


class Suite(Record):
    """The tests of a task in one form, with the ids that decide.

    ``calls``: ``entry`` is ``module.py:function`` and ``calls`` holds the tests; ids are those of the calls.
    ``pytest``: ``files`` are test files of the snapshot (laid over after the patch); ids are pytest node ids.
    """

    form: Literal["calls", "pytest"]
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    entry: str = ""
    calls: tuple[Call, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def expected(self) -> tuple[str, ...]:
        """Ids that must each pass exactly once."""
        return self.fail_to_pass + self.pass_to_pass


class Provenance(Record):
    """Where a task comes from; enough to make it again."""

    source: str
    repo: str = ""
    commit: str = ""
    licence: str = ""
    function: str = ""
    body_hash: str = ""
    topic: str = ""
    operator: str = ""
    parameters: dict[str, str] = Field(default_factory=dict)


class Evidence(Record):
    """What proving a task showed. ``repeats`` runs of reference and of the unchanged state agreed on every id.

    ``flake_rate``: share of its tests that were left out because they do not always say the same, in [0, 1]. ``cold``: why its
    tests in the ``pytest`` form need a new interpreter for each run; empty where a warm worker gives the same results.
    ``environment``: name of the environment in which they run; empty for the program's own.
    ``strength``: share of small bugs in the reference that its tests notice, in [0, 1], of ``mutants`` that were tried; None where
    nobody has measured. ``cpu_s``: CPU seconds of one run of its tests on the reference; None where nobody has measured.
    """

    repeats: int
    reference_passes: bool
    null_fails: bool
    failing_ids: tuple[str, ...] = ()
    flake_rate: float = 0.0
    cold: str = ""
    environment: str = ""
    strength: float | None = None
    mutants: int = 0
    cpu_s: float | None = None
    sandbox: str = ""
    python: str = ""


ActionName = Literal["view", "search", "edit", "create", "run", "test", "undo", "submit"]


class Action(Record):
    """What an agent does in one step. Which fields are used depends on ``name``; see ``collect/actions.py`` for the grammar."""

    name: ActionName
    path: str = ""
    line: int = 0
    nth: int = 1
    old: str = ""
    new: str = ""
    text: str = ""


class ModelStep(Record):
    """One step of a model solution: why, and what is done."""

    thought: str = ""
    action: Action


class Task(Record):
    """One piece of work with its proof. ``files`` is the initial state, path -> text (small workspaces are held in line).

    ``goal`` is what the verifier of the task's kind measures against beside tests, such as the function that is to be faster or the
    security rule that must no longer fire; ``verify/kinds`` says which keys each kind has. ``solution``: steps whose edits turn
    ``files`` into ``reference``, where the task's source knows some.
    """

    id: str
    schema_version: int = SCHEMA
    kind: Kind
    instruction: str
    hide_instruction: bool = False
    files: dict[str, str]
    editable: tuple[str, ...]
    protected: tuple[str, ...] = ()
    suites: tuple[Suite, ...]
    goal: dict[str, str] = Field(default_factory=dict)
    reference: dict[str, str] | None = None
    solution: tuple[ModelStep, ...] = ()
    provenance: Provenance
    evidence: Evidence | None = None
    split: str = ""

    def suite(self, form: str) -> Suite | None:
        """The suite of that form, or None."""
        return next((s for s in self.suites if s.form == form), None)

    @staticmethod
    def make_id(kind: Kind, files: dict[str, str], suites: tuple[Suite, ...], goal: Mapping[str, str] | None = None) -> str:
        """Content hash of what defines the work: kind, initial state, tests and, where there is one, the goal."""
        return content_hash([kind, files, [s.model_dump() for s in suites], *([dict(goal)] if goal else [])])[:20]

    @classmethod
    def make(cls, kind: Kind, **fields: Any) -> Self:
        """A task of these fields, with the id that belongs to them."""
        return cls(id=cls.make_id(kind, fields["files"], fields["suites"], fields.get("goal")), kind=kind, **fields)

    def revised(self, **fields: Any) -> Self:
        """This task with other fields and the id that belongs to them."""
        made = self.model_copy(update=fields)
        return made.model_copy(update={"id": self.make_id(made.kind, made.files, made.suites, made.goal)})


class TokenTrace(Record):
    """Exactly what a model wrote in one step. All four lists have one entry per written token.

    ``logprobs``: natural log under the distribution that was sampled from (mask and temperature applied);
    ``raw_logprobs``: under the model's full softmax at temperature 1; ``entropies``: of the sampled-from distribution, in nats.
    """

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    raw_logprobs: tuple[float, ...]
    entropies: tuple[float, ...]


class Step(Record):
    """One action and what it led to. ``before`` and ``after`` are snapshot references.

    ``keep=False`` keeps a step in the context and out of the loss.
    """

    thought: str
    action: Action | None
    raw: str
    observation: str
    before: str
    after: str
    checks: tuple[str, ...] = ()
    keep: bool = True
    trace: TokenTrace | None = None


class TestResult(Record):
    """How one expected test id ended. ``detail`` is for people and agents."""

    __test__ = False  # not a pytest class, whatever its name says

    outcome: Literal["passed", "failed", "error", "skipped", "timeout", "missing"]
    detail: str = ""


class Verdict(Record):
    """What the verifier found for one candidate. ``score`` in [0, 1] follows algorithm.md section 2; 0 when not graded.

    ``tests`` are the results of the first run, ``matrix`` the outcomes of every run for the tests on which ``repeats`` disagreed.
    """

    outcome: Outcome
    form: str
    tests: dict[str, TestResult] = Field(default_factory=dict)
    score: float = 0.0
    parts: dict[str, float] = Field(default_factory=dict)
    reason: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    repeats: int = 1
    matrix: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    sandbox: str = ""


class PolicyIdentity(Record):
    """Who acted: model name or path, revision, sampling parameters and seed."""

    model: str
    revision: str = ""
    parameters: dict[str, float | int | str | bool] = Field(default_factory=dict)
    seed: int = 0


class Trajectory(Record):
    """Everything that happened between a task and its verdict. ``files`` holds the changed files of the final state only."""

    id: str
    schema_version: int = SCHEMA
    task_id: str
    initial: str
    steps: tuple[Step, ...]
    final: str
    files: dict[str, str]
    stop_reason: str
    policy: PolicyIdentity
    verdict: Verdict | None = None
    source: str = ""


class Decision(Record):
    """What the gate said. Accepted means ``reasons`` is empty. ``seen`` holds, per check, what it looked at."""

    accepted: bool
    reasons: tuple[str, ...] = ()
    gate_version: str = ""
    seen: dict[str, str] = Field(default_factory=dict)


class Pair(Record):
    """Two candidates of one task, the label that the verifier gave and what it may teach.

    ``a`` and ``b`` are positions in the task's group of candidates; ``label`` is ``A``, ``B`` or ``tie``. What the verifier says
    about how far to trust it: ``reliability``, the number of runs that agreed (of the candidate with fewer), and ``strength`` of
    the task's tests (None: not measured). ``p`` is the value model's verdict (A better, B better, tie), made from the chances ``q``
    that it gives the two to pass (None: not asked), ``h`` its entropy divided by ln 3, ``weight`` what the pair counts.
    ``expected`` is the verdict once the recorded outcomes are seen, where the label is doubted; None where it is taken as it is.
    """

    task_id: str
    a: int
    b: int
    label: Literal["A", "B", "tie"]
    reliability: float = 1.0
    strength: float | None = None
    p: tuple[float, float, float] = (1 / 3, 1 / 3, 1 / 3)
    q: tuple[float, float] | None = None
    h: float = 1.0
    weight: float = 1.0
    expected: tuple[float, float, float] | None = None
