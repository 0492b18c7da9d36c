"""Tasks of answering questions about a repository; each answer is computed, from syntax trees or by running the call."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from swefuse.code.functions import body_hash
from swefuse.errors import DataError
from swefuse.records import Call, Kind, Suite, Task
from swefuse.tasks.commits import is_test
from swefuse.tasks.derive_calls import Told, told
from swefuse.tasks.derive_code import proven, site_at
from swefuse.tasks.derive_edits import without_docstring
from swefuse.tasks.derive_parts import Made, Order, Refusal, View
from swefuse.tasks.derive_questions import CALLERS, DEFAULTS, DEFINED, RAISED, questions
from swefuse.tasks.observe import observe
from swefuse.tasks.sites import node_of
from swefuse.tasks.steps import solution
from swefuse.tasks.survey import Surveyed, state
from swefuse.tasks.workers import sandbox
from swefuse.verify.kinds.qa import ANSWER

VALUE = "value"
CPU_S = 2.0  # of one call with the import of its module
EACH = 2  # calls of one function that are asked for, and names of one file
UNANSWERED = "def answer():\n    return None\n"
FORM = " Write it as a Python literal: the function in answer.py must return it."
_THOUGHTS = {
    VALUE: "The code says what comes, step by step.",
    CALLERS: "Every use of the name has to be looked at; only calls count.",
    DEFINED: "Imports lead to the file that binds the name itself.",
    RAISED: "Only the function's own raise statements count.",
    DEFAULTS: "The signature says it.",
}
_SPACE, _QUOTES = re.compile(r"[\s_]+"), str.maketrans("\"'", "''")


def asked(seen: View, rng: random.Random) -> Iterator[tuple[str, str, tuple[str, ...], tuple[Surveyed, ...]]]:
    """Questions, the forms in turn."""
    if ANSWER in seen.files:
        return
    forms: dict[str, list[tuple[str, str, tuple[str, ...], tuple[Surveyed, ...]]]] = {form: [] for form in _THOUGHTS}
    calls = told(seen.files)
    rng.shuffle(calls)
    number, same = Counter[str](), set[tuple[str, str]]()
    for one in calls:
        new = (one.subject, one.want) not in same
        same.add((one.subject, one.want))
        number[one.subject] += new
        if new and number[one.subject] <= EACH:
            forms[VALUE].append((one.subject, VALUE, (one.arguments, one.want), ()))
    others = questions(seen.files)
    rng.shuffle(others)
    for question in others:
        number[question.want] += question.asked == DEFINED
        if question.asked != DEFINED or number[question.want] <= EACH:
            forms[question.asked].append((question.subject, question.asked, (question.text, question.want), ()))
    for turn in zip_longest(*forms.values()):
        yield from (one for one in turn if one is not None)


def qa(order: Order) -> Made:
    """A task of one question."""
    whole = state(order.repository, order.commit)
    if order.asked != VALUE:
        return _question(order, dict(whole), *order.data)
    told_ = Told(order.subject, *order.data)
    files = _source_alone(whole, order, told_)
    squeezed = _squeezed(told_.call)
    if any(squeezed in _squeezed(text) for text in files.values()):
        return Made(refusal=Refusal.GIVEN_AWAY, detail=told_.call[:300])
    (got,) = observe(sandbox(), files, order.subject, [told_.arguments], CPU_S)
    if got.want is None or ast.literal_eval(got.want) != ast.literal_eval(told_.want):
        return Made(refusal=Refusal.OTHER_ANSWER, detail=f"{told_.call}: {got.want or got.raises or got.trouble}"[:300])
    path, _ = order.place
    return _question(order, files, f"What does the call `{told_.call}` return, with the function of {path}?", got.want)


def _source_alone(whole: Mapping[str, str], order: Order, told_: Told) -> dict[str, str]:
    """Python beside the tests, which hold the answer; where the function's own docstring has the call, without it."""
    files = {path: text for path, text in whole.items() if path.endswith(".py") and not is_test(path)}
    path, _ = order.place
    if _squeezed(told_.call) in _squeezed(files[path]):
        files[path] = without_docstring(files[path], site_at(files[path], order)) or files[path]
    return files


def _squeezed(text: str) -> str:
    """Without what may differ where the same call is written: space, underscores in numbers, kinds of quotes."""
    return _SPACE.sub("", text).translate(_QUOTES)


def _question(order: Order, files: dict[str, str], text: str, want: str) -> Made:
    path, name = order.place
    try:
        hashed = body_hash(node_of(files[path], site_at(files[path], order)))
    except DataError:
        hashed = ""  # a class, or a value
    state_ = {**files, ANSWER: UNANSWERED}
    reference = {**files, ANSWER: UNANSWERED.replace("None", want)}
    call = Call(id="question", args="()", want=want)
    task = Task.make(
        Kind.QA, instruction=text + FORM, files=state_, editable=(ANSWER,), protected=tuple(sorted(files)), goal={"answer": ANSWER},
        suites=(Suite(form="calls", entry=f"{ANSWER}:answer", calls=(call,), fail_to_pass=("question",)),), reference=reference,
        provenance=order.provenance(hashed), evidence=order.evidence(),
        solution=solution(state_, reference, f"`{name}` is in {path}. {_THOUGHTS[order.asked]}", False),
    )  # fmt: skip
    return proven(task)
