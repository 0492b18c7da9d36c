"""Many different tasks of many templates: draw in turn, leave near-duplicates out, prove the others."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from swefuse.code.duplicates import NearIndex, structure
from swefuse.errors import DataError, UserError, nearest
from swefuse.records import Kind, Task, content_hash
from swefuse.scale import Executor
from swefuse.tasks.realise import Made, realise
from swefuse.tasks.store import logged
from swefuse.tasks.template import Template
from swefuse.verify.verifier import VERSION

PACKAGE = "swefuse.tasks.templates"
GIVE_UP = 40  # draws of a template in a row that bring nothing new, before it counts as used up
BATCH = 256  # tasks that are proven between two looks at how many are still missing
MOST_REFUSED = 25  # tasks in a row that were drawn from a template and could not be proven
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Order:
    """One draw of one template, for a worker process. ``where``: file of the template; empty for one that comes along."""

    name: str
    where: str
    number: int
    seed: int = 0
    repeats: int = 2


@dataclass(slots=True)
class Harvest:
    """What a catalogue gave: tasks, how many draws of each template were near-duplicates, and why draws became no task."""

    tasks: list[Task] = field(default_factory=list)
    repeated: Counter[str] = field(default_factory=Counter)
    refused: dict[str, Counter[str]] = field(default_factory=dict)
    used_up: list[str] = field(default_factory=list)


def names() -> list[str]:
    """Names of the templates that come along."""
    found = (item.name for item in files(PACKAGE).iterdir())
    return sorted(one.removesuffix(".py") for one in found if one.endswith(".py") and not one.startswith("_"))


@lru_cache(maxsize=1024)
def load(name: str, where: str = "") -> Template:
    """A template by its name, or from the file ``where``. DataError for a file without one, UserError for no such name."""
    if not where:
        if name not in names():
            raise UserError(f"there is no template {name!r}{nearest(name, names())}")
        module = importlib.import_module(f"{PACKAGE}.{name}")
    else:
        path = Path(where)
        spec = importlib.util.spec_from_file_location(f"swefuse_template_{path.stem}", path)
        if spec is None or spec.loader is None or not path.is_file():
            raise UserError(f"{where}: not a Python file")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # whatever the user's own file raises is told with its place
            raise DataError(f"{where}: cannot be loaded: {type(error).__name__}: {error}") from error
    found = getattr(module, "TEMPLATE", None)
    if not isinstance(found, Template):
        raise DataError(f"{where or name}: there is no TEMPLATE = Template(…)")
    return replace(found, name=name)


def templates(chosen: Sequence[str] = (), folders: Iterable[Path] = (), kinds: Sequence[Kind] = ()) -> dict[str, str]:
    """Name -> file of the templates that are wanted: the chosen ones, else all; those in further folders too. "" comes along."""
    found = dict.fromkeys(names(), "")
    for folder in folders:
        own = [path for path in sorted(folder.glob("*.py")) if not path.name.startswith("_")] if folder.is_dir() else [folder]
        found |= {path.stem: str(path) for path in own}
    for name in chosen:
        if name not in found:
            raise UserError(f"there is no template {name!r}{nearest(name, found)}")
    wanted = {name: where for name, where in found.items() if not chosen or name in chosen}
    for name, where in wanted.items():
        load(name, where)
    if kinds:
        wanted = {name: where for name, where in wanted.items() if load(name, where).kind in kinds}
    if not wanted:
        raise UserError("no template is of the kinds that are wanted")
    return wanted


def fill(order: Order) -> Template:
    """The template of an order with its gaps filled."""
    template = load(order.name, order.where)
    return template.render(template.draw(f"{order.seed}|{order.number}"))


def capacity(name: str, where: str = "", seed: int = 0, draws: int = 400) -> int:
    """How many of the first ``draws`` draws of a template are no near-duplicates of earlier ones."""
    near = NearIndex()
    return sum(near.add(text_of(fill(Order(name, where, number, seed)))) is None for number in range(draws))


def prove_one(order: Order) -> Made:
    """Fill and prove one order; an executor's function."""
    try:
        return realise(fill(order), order.number, order.repeats)
    except DataError as error:
        return Made(order.name, order.number, None, str(error))


def text_of(filled: Template) -> str:
    """What two tasks are compared by: what is asked, the files as they are, and what a solution writes."""
    parts: list[Mapping[str, str]] = [filled.files, filled.solution]
    return "\n".join([filled.instruction, *(text for part in parts for _, text in sorted(part.items()))])


def structures(tasks: Iterable[Task]) -> int:
    """How many different tasks are left once names and values count for nothing; of the others only those tell them apart."""

    def shape(task: Task) -> str:
        tests = {path for suite in task.suites for path in suite.files}
        states = [{path: text for path, text in state.items() if path not in tests} for state in (task.files, task.reference or {})]
        return content_hash([task.kind, [[structure(text) for _, text in sorted(state.items())] for state in states]])

    return len(set(map(shape, tasks)))


def make(
    wanted: Mapping[str, str],
    count: int,
    executor: Executor,
    seed: int = 0,
    progress: Progress = lambda done, total: None,
    log: Path | None = None,
) -> Harvest:
    """At most ``count`` proven tasks, as evenly over the templates as they allow; the same ones for the same seed.

    A template is used up when many draws in a row bring nothing new. ``log``: a file that keeps what became of every draw, so that
    a call that was ended goes on, and one for more tasks adds to it. The executor's processes must have been started with
    ``tasks.workers.init_worker``.
    """
    harvest, turns, known = Harvest(), _Turns(wanted, seed), _Log(log)
    while len(harvest.tasks) < count and (batch := turns.next(min(BATCH, count - len(harvest.tasks)))):
        for made in known.through(batch, executor):
            if made.task is None:
                harvest.refused.setdefault(made.template, Counter())[made.reason] += 1
                turns.refused(made.template)
            else:
                harvest.tasks.append(made.task)
                turns.proven(made.template)
            progress(len(harvest.tasks), count)
    harvest.repeated, harvest.used_up = turns.repeated, turns.used_up
    return harvest


class _Log:
    """What became of draws, by the draw and the text that it gave: a template that was changed is drawn anew."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, Made] = {}
        for row in logged(path, appended=True) if path else ():
            task = Task.model_validate(row["task"]) if row["task"] else None
            self._known[row["key"]] = Made(row["template"], row["number"], task, row["reason"])

    def through(self, orders: Sequence[Order], executor: Executor) -> Iterator[Made]:
        """What becomes of each order, run if it is not known yet."""
        keys = [content_hash([VERSION, asdict(order), state_of(fill(order))])[:20] for order in orders] if self._path else []
        fresh = executor.map(prove_one, [order for at, order in enumerate(orders) if not keys or keys[at] not in self._known])
        if self._path is None:
            yield from fresh
            return
        with self._path.open("a", encoding="utf-8") as file:
            for key in keys:
                made = self._known.get(key)
                if made is None:
                    made = next(fresh)
                    row = {"key": key, "template": made.template, "number": made.number, "reason": made.reason}
                    file.write(json.dumps({**row, "task": made.task and made.task.model_dump(mode="json")}) + "\n")
                    file.flush()
                yield made


def state_of(filled: Template) -> list[object]:
    """All texts of a filled template."""
    texts = [dict(part) for part in (filled.files, filled.solution, filled.tests, filled.goal)]
    return [filled.kind, filled.instruction, filled.thoughts, filled.entry, list(filled.calls), *texts]


class _Turns:
    """Draws of templates in turn, each unlike all before it."""

    def __init__(self, wanted: Mapping[str, str], seed: int) -> None:
        self._wanted, self._seed = dict(wanted), seed
        self._next = dict.fromkeys(wanted, 0)
        self._bad = dict.fromkeys(wanted, 0)
        self._near = NearIndex()
        self._order = self._forever()
        self.repeated: Counter[str] = Counter()
        self.used_up: list[str] = []

    def next(self, count: int) -> list[Order]:
        """Up to ``count`` orders; fewer only when all templates are used up."""
        found: list[Order] = []
        for order in self._order:
            found.append(order)
            if len(found) == count:
                break
        return found

    def refused(self, name: str) -> None:
        """A template whose draws cannot be proven, one after the other, is asked no more."""
        self._bad[name] += 1
        if self._bad[name] >= MOST_REFUSED:
            self._drop(name)

    def proven(self, name: str) -> None:
        """A draw of the template became a task."""
        self._bad[name] = 0

    def _forever(self) -> Iterator[Order]:
        while self._wanted:
            for name in list(self._wanted):
                if name in self._wanted and (order := self._draw(name)) is not None:
                    yield order

    def _draw(self, name: str) -> Order | None:
        for _ in range(GIVE_UP):
            order = Order(name, self._wanted[name], self._next[name], self._seed)
            self._next[name] += 1
            if self._near.add(text_of(fill(order))) is None:
                return order
            self.repeated[name] += 1
        self._drop(name)
        return None

    def _drop(self, name: str) -> None:
        if self._wanted.pop(name, None) is not None:
            self.used_up.append(name)
