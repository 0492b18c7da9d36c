"""What a template is: a task with gaps, what may fill them, and the steps of a model solution.

A template is one small file that holds ``TEMPLATE``. Its texts have gaps such as ``$name`` or ``${name}`` (``$$`` is a dollar
sign); what fills them may hold gaps itself. A gap alone on an indented line takes the indentation along, and the line goes where
it is empty. ``swefuse tasks template new`` writes one with comments.
"""

from __future__ import annotations

import ast
import keyword
import random
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from swefuse.errors import DataError, nearest
from swefuse.records import Kind
from swefuse.tasks.words import WORDS

Values = dict[str, Any]
Draw = Callable[[random.Random], Any]
Domain = Literal[
    "web handlers", "data handling", "parsing", "numerics", "concurrency", "command lines", "files", "dates", "algorithms"
]
_TRIES = 200
_DEEP = 5
_GAP = re.compile(r"\$(?:(\$)|\{(\w+)\}|([^\W\d]\w*)|)")
_ALONE = re.compile(r"^([ \t]+)\$(?:\{(\w+)\}|(\w+))$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parameter:
    """What may fill a gap. ``draw`` gives a text or number, or a mapping whose keys become the gaps ``name_key``.

    ``unique``: a name, which must differ from every other name of the same task.
    """

    draw: Draw
    unique: bool = False


def one_of(*values: str | int | float) -> Parameter:
    """One of these."""
    return Parameter(lambda rng: rng.choice(values))


def integers(low: int, high: int, step: int = 1) -> Parameter:
    """An integer from ``low`` to ``high``, both included."""
    return Parameter(lambda rng: rng.randrange(low, high + 1, step))


def rows(*choices: Mapping[str, Any]) -> Parameter:
    """One of several sets of values that belong together: gaps ``name_key`` for each key."""
    return Parameter(lambda rng: rng.choice(choices))


def name(*parts: str) -> Parameter:
    """A Python name made of words, such as ``merge_invoices`` of ``name("verb", "things")``.

    Each part is a list of ``tasks/words.py`` (``verb``, ``thing``, ``quality``, ``number``, ``text``, ``list``, ``person``), the
    plural of one, such as ``things``, or a fixed word.
    """
    return Parameter(lambda rng: "_".join(_word(part, rng) for part in parts), unique=True)


def class_name(*parts: str) -> Parameter:
    """As ``name``, written ``LikeThis``."""
    return Parameter(lambda rng: "".join(_word(part, rng).title().replace("_", "") for part in parts), unique=True)


def words(part: str, count: int) -> Parameter:
    """``count`` different words of one list as a mapping: gaps ``name_0``, ``name_1`` and so on."""
    return Parameter(lambda rng: {str(at): word for at, word in enumerate(rng.sample(WORDS[part], count))})


def literals(kind: Literal["int", "float", "str", "bool"], count: int, low: int = 0, high: int = 100) -> Parameter:
    """The text of a list of ``count`` values of a type, and the type's name: gaps ``name_type``, ``name_list``, ``name_0``, …"""

    def draw(rng: random.Random) -> Mapping[str, Any]:
        makers: dict[str, Callable[[], Any]] = {
            "int": lambda: rng.randint(low, high),
            "float": lambda: round(rng.uniform(low, high), 2),
            "str": lambda: rng.choice(WORDS["thing"]),
            "bool": lambda: rng.random() < 0.5,
        }
        made = makers[kind]
        values = [made() for _ in range(count)]
        return {"type": kind, "list": repr(values), **{str(at): repr(value) for at, value in enumerate(values)}}

    return Parameter(draw)


def drawn(draw: Draw, unique: bool = False) -> Parameter:
    """Whatever a function of a seeded ``random.Random`` gives."""
    return Parameter(draw, unique)


def _word(part: str, rng: random.Random) -> str:
    if part in WORDS:
        return rng.choice(WORDS[part])
    if part.endswith("s") and part[:-1] in WORDS:
        return plural(rng.choice(WORDS[part[:-1]]))
    return part


def plural(word: str) -> str:
    """The plural of a word of the vocabulary."""
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return word if word.endswith(("staff", "mail", "cargo", "stock")) else f"{word}s"


def always(values: Values) -> bool:
    """The constraint of a template that has none."""
    return True


@dataclass(frozen=True, slots=True)
class Template:
    """A task with gaps. Texts are dedented, and a leading line feed is taken off.

    ``files``: the initial state. ``repair``: gaps that the reference fills otherwise, for solutions that change a few places; or
    ``solution``: the files of the reference that differ, for those that write something new. ``tests``: files of pytest tests,
    protected. ``entry`` (``path.py:name``) and ``calls`` (texts of argument tuples, one on a line): tests whose answers are
    those of the reference, some of them visible to an agent. ``goal``: see ``verify/kinds``. ``thoughts``: what the model
    solution says before its edits. A task of the kinds bugfix, vulnfix, complete, refactor or optimize needs ``tests`` or
    ``calls``, or both. One of the kind qa asks what ``entry`` gives for its single call, or ``ask`` works the answer out from
    the files and the values; the file of the answer is supplied. Those of the kinds testgen and docgen need neither.

    ``where``: a constraint on drawn values. ``derive``: further values, computed from them.
    """

    kind: Kind
    domain: Domain
    instruction: str
    files: Mapping[str, str]
    solution: Mapping[str, str] = field(default_factory=dict)
    repair: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    tests: Mapping[str, str] = field(default_factory=dict)
    entry: str = ""
    calls: Sequence[str] = ()
    goal: Mapping[str, str] = field(default_factory=dict)
    thoughts: str = ""
    ask: Callable[[Mapping[str, str], Values], object] | None = None
    where: Callable[[Values], bool] = always
    derive: Callable[[Values], Values] | None = None
    name: str = ""
    values: Values = field(default_factory=dict)

    def draw(self, seed: int | str) -> Values:
        """Values for all gaps; same seed, same values. Raises DataError where the constraint is never met."""
        rng = random.Random(f"template|{self.name}|{seed}")
        for _ in range(_TRIES):
            values = self._drawn(rng)
            if values is not None and self.where(values):
                return values
        raise DataError(f"template {self.name}: its constraint was not met in {_TRIES} draws; widen the parameters or 'where'")

    def _drawn(self, rng: random.Random) -> Values | None:
        values: Values = {}
        names: set[str] = set()
        for key, parameter in self.parameters.items():
            value = parameter.draw(rng)
            if parameter.unique:
                if value in names or keyword.iskeyword(str(value)):
                    return None
                names.add(value)
            if isinstance(value, Mapping):
                values |= {f"{key}_{part}": one for part, one in value.items()}
            else:
                values[key] = value
        return values | (self.derive(values) if self.derive else {})

    def render(self, values: Values) -> Template:
        """This template with its gaps filled. Raises DataError naming the gap that nothing fills."""

        def filled(mapping: Mapping[str, str]) -> dict[str, str]:
            return {self._fill(path, values): self._fill(text, values) for path, text in mapping.items()}

        files = filled(self.files)
        repaired = {
            self._fill(path, values): self._fill(text, {**values, **self.repair})
            for path, text in self.files.items()
            if self.repair
        }
        calls = [line for one in self.calls for line in self._fill(one, values).splitlines()]
        changed = {path: text for path, text in repaired.items() if text != files[path]}
        return replace(
            self, instruction=self._fill(self.instruction, values).strip(), thoughts=self._fill(self.thoughts, values).strip(),
            files=files, solution={**changed, **filled(self.solution)}, tests=filled(self.tests), goal=filled(self.goal),
            entry=self._fill(self.entry, values), calls=calls,
            values=values,
        )  # fmt: skip

    def _fill(self, text: str, values: Values) -> str:
        if "\n" in text:
            text = textwrap.dedent(text).removeprefix("\n").rstrip() + "\n"
        for _ in range(_DEEP):
            for _ in range(_DEEP):  # blocks first, however deep: within a line they would lose their place
                text = _ALONE.sub(lambda found: _block(found, values), text)
            text = re.sub(r"\0\n?", "", text)
            if not any(found[1] != "$" for found in _GAP.finditer(text)):
                return _GAP.sub("$", text)
            text = _GAP.sub(lambda found: self._one(found, values), text)
        raise DataError(f"template {self.name}: its values fill each other more than {_DEEP} times")

    def _one(self, found: re.Match[str], values: Values) -> str:
        if found[1] == "$":
            return "$$"  # until the last round
        key = found[2] or found[3]
        if key is None:
            line = found.string[: found.start()].rpartition("\n")[2] + found.string[found.start() :].partition("\n")[0]
            raise DataError(f"template {self.name}: a lone dollar sign, which is written $$, in {line.strip()!r}")
        if key not in values:
            raise DataError(f"template {self.name}: nothing fills the gap ${key}{nearest(key, values)}")
        return str(values[key])


def _block(found: re.Match[str], values: Values) -> str:
    key = found[2] or found[3]
    if key not in values:
        return found[0]
    text = str(values[key])
    if not text:
        return "\0"
    return "\n".join(f"{found[1]}{line}" if line else line for line in text.rstrip("\n").split("\n"))


def problem(template: Template) -> str:
    """What is wrong with a template whose gaps are filled, as far as looking can tell; empty when nothing is."""
    for path, text in (*template.files.items(), *template.solution.items(), *template.tests.items()):
        if path.endswith(".py"):
            try:
                ast.parse(text)
            except SyntaxError as error:
                return f"{path}, line {error.lineno}: {error.msg}: {(error.text or '').strip()!r}"
    missing = sorted(set(template.solution) - set(template.files))
    if missing and template.kind is not Kind.TESTGEN:
        return f"the solution writes {missing[0]}, which is not among the files"
    same = [path for path, text in template.solution.items() if template.files.get(path) == text]
    if same:
        return f"the solution of {same[0]} is what stands there already"
    if not template.solution and template.kind is not Kind.QA:
        return "there is no solution"
    return ""
