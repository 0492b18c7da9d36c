"""The steps of a model solution: look, run the tests, edit, run them again, submit."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from swefuse.errors import DataError
from swefuse.records import Action, ModelStep
from swefuse.workspace import Files, apply_edit


def solution(files: Files, reference: Files, thought: str = "", tests: bool = True) -> tuple[ModelStep, ...]:
    """Steps that lead from one state to the other, ``thought`` with the first edit. Edits of a file go from its end to its start.

    Raises DataError for files that are removed: no action does that.
    """
    gone = sorted(files.keys() - reference.keys())
    if gone:
        raise DataError(f"{gone[0]} is removed, for which there is no action")
    changed = sorted(path for path in reference if files.get(path) != reference[path])
    changes = [action for path in changed for action in _changes(path, files.get(path), reference[path])]
    looks = [Action(name="view", path=path) for path in changed if path in files]
    run = [Action(name="test")] if tests else []
    steps = [*map(_plain, [*looks, *run])]
    steps += [ModelStep(thought=thought if number == 0 else "", action=action) for number, action in enumerate(changes)]
    state = dict(files)
    for action in changes:
        state = apply_edit(state, action)
    if state != dict(reference):
        raise DataError(f"the edits of {', '.join(changed)} do not give the reference")
    return (*steps, *map(_plain, [*run, Action(name="submit")]))


def _plain(action: Action) -> ModelStep:
    return ModelStep(action=action)


def _changes(path: str, before: str | None, after: str) -> list[Action]:
    """Edits that give a file; one of the whole file where single lines do not, as at an end without a line feed."""
    found = list(_edits(path, before, after))
    state = {} if before is None else {path: before}
    for action in found:
        state = apply_edit(state, action)
    return found if state.get(path) == after or not before else [Action(name="edit", path=path, line=1, old=before, new=after)]


def _edits(path: str, before: str | None, after: str) -> Iterator[Action]:
    """Whole lines are replaced, the last ones first, so that line numbers are those of the file as it was."""
    if before is None or not before:
        if before is None:
            yield Action(name="create", path=path, text=after)
        else:
            yield Action(name="edit", path=path, line=1, new=after.removesuffix("\n"))
        return
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    blocks = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    for tag, start, end, low, high in reversed(blocks):
        if tag == "insert" and new[low:high] == ["\n"]:  # an insertion of nothing but an end of line cannot be said
            at = min(start, len(old) - 1)
            text = "\n" + old[at] if at == start else old[at] + "\n"
            yield Action(name="edit", path=path, line=at + 1, old=old[at], new=text)
        elif tag == "insert":
            yield Action(name="edit", path=path, line=start + 1, new="".join(new[low:high]).removesuffix("\n"))
        elif tag != "equal":
            yield Action(name="edit", path=path, line=start + 1, old="".join(old[start:end]), new="".join(new[low:high]))
