"""One held-out task with the attempts of several models. Everything shown here was written by programs under test."""

from __future__ import annotations

from swefuse.evaluate.html.markup import Html, clean, el, one_line
from swefuse.evaluate.report_model import Attempt, Example

_MOST_LINES = 300


def _lines(text: str) -> list[str]:
    """The lines of ``text``, each with its line feed, cut with a note after ``_MOST_LINES``; long lines are cut too."""
    lines = clean(text).rstrip("\n").split("\n")
    shown = [f"{line[:1000]}…\n" if len(line) > 1000 else f"{line}\n" for line in lines[:_MOST_LINES]]
    return [*shown, f"… {len(lines) - _MOST_LINES:,} more lines\n"] if len(lines) > _MOST_LINES else shown


def _block(label: str, parts: list[Html] | list[str], cls: str = "") -> Html:
    return el("pre", *parts, cls=cls or None, tabindex="0", role="region", aria_label=one_line(label))


def source(text: str, label: str) -> Html:
    """Code with line numbers that a copy leaves behind."""
    return _block(label, [el("span", line) for line in _lines(text)], "source")


def diff(text: str, label: str) -> Html:
    """A unified diff with its lines coloured; the signs stay, so colour says nothing alone."""
    parts = []
    for line in _lines(text):
        meta = line.startswith(("+++", "---", "@@", "diff ", "index "))
        tag = "span" if meta else {"+": "ins", "-": "del"}.get(line[:1], "span")
        parts.append(el(tag, line, cls="meta" if meta else None))
    return _block(label, parts, "diff")


def _attempt(task: str, attempt: Attempt) -> Html:
    name, verdict = one_line(attempt.name), "passed" if attempt.passed else "failed"
    wrote = diff(attempt.diff, f"{task}: patch of {name}") if attempt.diff.strip() else el("p", "No edit.", cls="soft")
    said = _block(f"{task}: test output for {name}", _lines(attempt.output)) if attempt.output.strip() else Html()
    return el("div", el("h4", name, el("span", verdict, cls=verdict)), wrote, said)


def example(shown: Example) -> Html:
    """The task above (code, failing tests), the attempts below, each row side by side where there is room."""
    task = one_line(shown.task)
    parts = [el("h3", task, el("span", f" {one_line(shown.split)}, {one_line(shown.kind)}", cls="soft"))]
    if shown.instruction.strip():
        parts.append(el("p", one_line(shown.instruction)))
    given = []
    if shown.source.strip():
        given.append(el("div", el("h4", "The code with its bug"), source(shown.source, f"{task}: code")))
    if shown.failing.strip():
        given.append(el("div", el("h4", "What the tests said"), _block(f"{task}: failing tests", _lines(shown.failing))))
    parts += [el("div", *row, cls="sides") for row in (given, [_attempt(task, one) for one in shown.models]) if row]
    return el("article", *parts, cls="example")
