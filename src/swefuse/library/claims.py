"""Do the thoughts of a trajectory agree with each other, with its test observations and with the verdict?

Only what is said outright counts as a claim: a sentence of a fixed form, without a word that makes it a plan, a condition, a doubt,
a denial or a matter of the past. So a lie may slip through, and honest prose does not get refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from swefuse.library.coherence import replay
from swefuse.records import Outcome, Step, Task, Trajectory, Verdict

CUT = re.compile(r"^\[\.\.\. \d+ lines left out \.\.\.\]$|\[\.\.\. \d+ characters left out \.\.\.\]|^\[cut\]$", re.MULTILINE)
LOOKING = ("view", "search", "test", "run")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|,?\s+(?:but|though|although|while|whereas)\s+")
_NO_CLAIM = re.compile(
    r"\?|n't\b|\b(?:should|would|will|could|may|might|must|can|cannot|shall|if|unless|until|till|when|whenever|once|before|to"
    r"|so that|hop\w+|expect\w*|want\w*|need\w*|let|mak\w+|ensur\w+|check\w*|verify|whether|probably|perhaps|maybe|likely|think"
    r"|believe|assum\w+|suppos\w+|not|never|no longer|nor|only|without|yet|earlier|previous\w*|initially|originally|first|at start"
    r"|was|were|had|did|other|others|some|most|rest|remaining|few|many|half|part|hidden|after (?:this|that|it))\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\?|\b(?:if|unless|until|when|once|only|except|before|after|without)\b", re.IGNORECASE)
_END = r"(?=\s*(?:$|[.,;:!)]|(?:now|again|too|as well|and|here|then|in \d)\b))"
_PASS = rf"(?:pass(?:es|ed)?|succeed(?:s|ed)?|(?:is|are) (?:now |all |again )*(?:green|passing)){_END}"
_FAIL = rf"(?:fail(?:s|ed)?|(?:is|are) (?:now |all |still )*(?:red|failing)){_END}"
_SCOPE = r"(?:visible |shown |given |public )?"
_ALL = rf"\b(?:all|every|each)(?: of)?(?: the| these| my)?(?: \d{{1,9}})? {_SCOPE}tests? (?:now |again |still )?"
_THE = rf"(?:^|[,:]\s*|\bnow |\band |\bso |(?<!of )\bthe ){_SCOPE}tests (?:now |again |all |still )*"
_GREEN = re.compile(
    rf"{_ALL}{_PASS}|{_THE}{_PASS}|\b(?:everything|all) (?:now |again |of them )?(?:{_PASS}|green{_END})"
    rf"|\bno tests? (?:now )?fails?{_END}",
    re.IGNORECASE,
)
_RED = re.compile(
    rf"{_ALL}{_FAIL}|{_THE}{_FAIL}|\b(?:it|they|tests?|this) (?:(?:is|are) )?still fail(?:s|ing)?{_END}", re.IGNORECASE
)
_VISIBLE = re.compile(r"\b(?:visible|shown|given|public)\b", re.IGNORECASE)
_MENDED = re.compile(
    r"\b(?:bug|issue|problem|defect|error|it|everything)(?: is| has been)(?: now)? (?:fixed|repaired|resolved|solved|mended)\b",
    re.IGNORECASE,
)
_GIVEN_UP = re.compile(
    r"\b(?:could|can|was|am)(?:n't|not| not)(?: able)?(?: to)? (?:fix|repair|solve|mend)\b|\bunable to (?:fix|repair|solve|mend)\b"
    r"|\bI (?:give|gave) up\b"
    r"|\b(?:bug|issue|problem|defect) (?:remains|persists|is still there|is not (?:fixed|repaired|solved))\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(r"\?|\b(?:if|first|initially|before|earlier|at start)\b", re.IGNORECASE)
_START = r"(?<![\w.:/-])(?<!line )(?<!lines )(?<!step )(?<!of )(?<!of the )(?<!/ )"
_SHARE = re.compile(
    rf"{_START}(\d{{1,9}})\s*(?:/|of|out of)\s*(?:the )?(\d{{1,9}}) {_SCOPE}(?:tests? )?(?:now )?(?:({_PASS})|{_FAIL})",
    re.IGNORECASE,
)
_COUNT = re.compile(
    rf"(\ball (?:of )?(?:the )?)?{_START}(\d{{1,9}}) {_SCOPE}(?:tests? )?(?:now )?(?:({_PASS})|{_FAIL})", re.IGNORECASE
)
_HEADING = re.compile(r"(\d{1,9}) of (\d{1,9}) tests? (fail|pass)|all (\d{1,9}) tests? pass(?:es)?")
_SUMMARY = re.compile(r"\b([1-9]\d{0,8}) (passed|failed|errors?)\b")  # as pytest ends, which an agent may run itself
_CHECK = re.compile(r"(?:yet )?the check says (\w+)")


@dataclass(frozen=True, slots=True)
class Report:
    """What a test observation showed. The numbers are None where it was cut and does not say them."""

    red: bool
    passed: int | None = None
    failed: int | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of tests that somebody claims; ``total`` where it is said, too. ``words``: the claim itself."""

    words: str
    passed: int | None
    failed: int | None
    total: int | None

    def agrees(self, passed: int, failed: int) -> bool:
        """Is that what these numbers say?"""
        return self.passed in (None, passed) and self.failed in (None, failed) and self.total in (None, passed + failed)


def report(observation: str) -> Report | None:
    """What the observation of a test says, None where the tests did not run or there are none.

    Example: ``FAIL f(1,) gave 0, expected 2`` and ``PASS f(0,) gave 0`` -> ``Report(red=True, passed=1, failed=1)``; the first line
    ``3 of 12 tests fail`` -> ``Report(red=True, passed=9, failed=3)``.
    """
    rows = observation.split("\n")
    checks = [match[1] for row in rows if (match := _CHECK.match(row))]
    red = any(outcome != Outcome.PASSED for outcome in checks)
    if heading := _HEADING.fullmatch(rows[0].strip()):
        share, total, word, everything = heading.groups()
        passed = int(everything or (share if word == "pass" else int(total) - int(share)))
        failed = int(everything or total) - passed
        return Report(red or failed > 0, passed, failed)
    passed, failed = sum(row.startswith("PASS ") for row in rows), sum(row.startswith(("FAIL ", "ERROR ")) for row in rows)
    if not passed + failed:
        return Report(red) if checks else None
    if CUT.search(observation):
        return Report(red or failed > 0)
    return Report(red or failed > 0, passed, failed)


def passes(observation: str) -> bool:
    """Does a test observation show tests that pass and none that fails? Where no tests were shown, or none ran, it does not.

    Example: ``all 3 tests pass`` and ``3 passed in 0.1s`` do, ``there are no tests to show`` does not.
    """
    if found := report(observation):
        return not found.red
    told = {word: int(number) for number, word in _SUMMARY.findall(observation)}
    return told.get("passed", 0) > 0 and not told.keys() & {"failed", "error", "errors"}


def says_green(thought: str, visible: bool = True) -> str | None:
    """The sentence of a thought that claims that all tests pass, None without one. ``visible`` False: other than the visible ones.

    Example: ``Wrong sign. All tests pass now.`` -> ``All tests pass now.``; ``so that all tests pass`` -> None.
    """
    found = (sentence for sentence, _ in _claims(thought, _GREEN))
    return next((sentence for sentence in found if visible or not _VISIBLE.search(sentence)), None)


def says_red(thought: str) -> str | None:
    """The sentence of a thought that claims that tests fail at present, None without one.

    Example: ``the tests still fail`` -> itself; ``some tests may fail`` -> None.
    """
    return next((sentence for sentence, _ in _claims(thought, _RED)), None)


def counted(thought: str) -> Iterator[Counted]:
    """The numbers of tests that a thought claims.

    Example: ``12 passed, 1 failed`` -> 12 passed and 1 failed; ``3 of 12 tests fail`` -> 3 failed of 12; ``on line 12 x`` -> none.
    """
    for _, match in _claims(thought, _SHARE):
        number, passes = int(match[1]), match[3] is not None
        yield Counted(match[0], number if passes else None, None if passes else number, int(match[2]))
    for _, match in _claims(thought, _COUNT):
        number, passes = int(match[2]), match[3] is not None
        yield Counted(match[0], number if passes else None, None if passes else number, number if match[1] else None)


def consistent(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """No step contradicts an earlier one, kept or not.

    Found are: a thought that says that all tests pass where the last test observation, of this state if there is one, showed a
    failure; a thought that says that tests fail where the last test observation of this very state showed only passes; ``submit``
    of a state whose last test observation showed a failure; an ``edit`` that gives a file the text that it had before an earlier
    edit, with nothing looked at in between (``undo`` is there for that).

    Example: ``@test`` shows ``FAIL f(1,) …``, then ``#All tests pass.`` -> ``step 3: says "All tests pass.", and step 2 showed that
    tests fail``.
    """
    return next(chain(_against_tests(trajectory), _taken_back(task, trajectory)), None)


def truthful(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """The final claim matches the verdict: the thought of ``submit``, or else the last thought in the final state.

    One that says that the tests pass or that the bug is fixed needs a verdict PASSED, one that says that tests fail or that it was
    given up a verdict that is not; a number of tests that pass or fail must be that of the last test observation or of the verdict.
    A verdict that is not graded contradicts nothing, an observation without its numbers no number.

    Example: ``#All 13 tests pass.`` and 12 results in observation and verdict -> ``says "13 tests pass" at the end, …``.
    """
    thought = _final_thought(trajectory)
    if verdict.outcome.graded:
        green = says_green(thought, visible=False) or next((s for s, _ in _claims(thought, _MENDED)), None)
        red = says_red(thought) or next((s for s in _sentences(thought) if _GIVEN_UP.search(s) and not _DOUBT.search(s)), None)
        if green and verdict.outcome is not Outcome.PASSED:
            return f'says "{green}" at the end, and the verdict is {verdict.outcome}'
        if red and verdict.outcome is Outcome.PASSED:
            return f'says "{red}" at the end, and the verdict is PASSED'
    seen = _last_report(_reports(trajectory.steps), trajectory.final)
    sources: list[tuple[int, int]] = []
    if seen is not None:
        if seen[1].passed is None or seen[1].failed is None:
            return None
        sources.append((seen[1].passed, seen[1].failed))
    if verdict.outcome.graded and verdict.tests:
        passed = sum(result.outcome == "passed" for result in verdict.tests.values())
        sources.append((passed, len(verdict.tests) - passed))
    for claim in counted(thought) if sources else ():
        if not any(claim.agrees(*source) for source in sources):
            known = " or ".join(f"{passed} pass and {failed} fail" for passed, failed in dict.fromkeys(sources))
            return f'says "{claim.words}" at the end, and {known}'
    return None


def _sentences(thought: str) -> list[str]:
    lines = "\n".join(" ".join(line.split()) for line in thought.split("\n"))
    return [sentence.strip() for sentence in _SENTENCE.split(lines)]


def _claims(thought: str, form: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str]]]:
    """The sentences in which something of this form is said outright, and where. What follows it may only not be a condition."""
    for sentence in _sentences(thought):
        for match in form.finditer(sentence):
            if not _NO_CLAIM.search(sentence, 0, match.end()) and not _CONDITION.search(sentence, match.end()):
                yield sentence, match


def _final_thought(trajectory: Trajectory) -> str:
    for step in reversed(trajectory.steps):
        if step.before != trajectory.final or step.before != step.after:
            break
        if step.thought:
            return step.thought
    return ""


def _reports(steps: tuple[Step, ...]) -> list[tuple[int, Report, str]]:
    """Number of the step, what it showed and the state that was tested, for every test that ran."""
    tests = ((number, step) for number, step in enumerate(steps, 1) if step.action is not None and step.action.name == "test")
    return [(number, found, step.before) for number, step in tests if (found := report(step.observation)) is not None]


def _last_report(reports: list[tuple[int, Report, str]], state: str) -> tuple[int, Report, str] | None:
    """The last one of this state, else the last one."""
    return next((each for each in reversed(reports) if each[2] == state), reports[-1] if reports else None)


def _against_tests(trajectory: Trajectory) -> Iterator[str]:
    reports = _reports(trajectory.steps)
    for number, step in enumerate(trajectory.steps, 1):
        last = _last_report([each for each in reports if each[0] < number], step.before)
        if last is None:
            continue
        at, shown, state = last
        if shown.red and (claim := says_green(step.thought)):
            yield f'step {number}: says "{claim}", and step {at} showed that tests fail'
        if state != step.before:
            continue
        if not shown.red and shown.failed == 0 and (claim := says_red(step.thought)):
            yield f'step {number}: says "{claim}", and step {at} showed on the same state that all tests pass'
        if shown.red and step.action is not None and step.action.name == "submit":
            yield f"step {number}: submits a state on which step {at} showed that tests fail"


def _taken_back(task: Task, trajectory: Trajectory) -> Iterator[str]:
    texts: list[tuple[int, str, str | None]] = []  # step, path and text before it, of the edits since anything was looked at
    for number, step, before, after in replay(task, trajectory):
        if step.action is None:
            continue
        if step.action.name in LOOKING:
            texts.clear()
        elif step.action.name in ("edit", "create") and after is not before:
            path = step.action.path
            for at, changed, text in texts:
                if changed == path and text == after[path]:
                    yield f"step {number}: gives {path} the text that it had before step {at}, and nothing was looked at in between"
            texts.append((number, path, before.get(path)))
