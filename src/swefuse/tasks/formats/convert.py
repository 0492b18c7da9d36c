"""From a row of an outside format to the two states of a task, with the files of a clone; or to the reason why it is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from swefuse.errors import PatchError
from swefuse.records import Evidence, Kind, Provenance, Suite, Task
from swefuse.sandbox import image
from swefuse.tasks.commits import is_test, is_test_file
from swefuse.tasks.environment import licence, supplied
from swefuse.tasks.formats import clones
from swefuse.tasks.formats.rows import Row
from swefuse.verify.diff import read_diff, strip
from swefuse.verify.patch import apply_patch

SHOWN = 5  # failing tests that an instruction names, where the row has no words of its own


class Refusal(StrEnum):
    """Why a row is no task."""

    REPEATED = "a row with this id came before it"
    LANGUAGE = "its language is not Python"
    NO_TESTS = "it lists no test that must turn from fail to pass, or none at all"
    TEST_NAMES = "its tests are not named as pytest names them"
    IMAGE = "its environment is an image, and no container backend can run that here"
    ONLY_IMAGE = "nothing but its image holds its tests and its repair"
    REPOSITORY = "its repository is not here"
    COMMIT = "its commit is not in the repository"
    LICENCE = "its licence is not among those allowed"
    PATCH = "a patch of it does not apply"
    CHANGED = "its files were changed after it was exported"
    STEPS = "it has several steps"
    MISSING_MODULE = "the tests need a module that is not installed"
    NOTHING_COLLECTED = "the tests cannot be collected"
    SCREENED = "its repair does what the verifier allows nobody"
    NO_SUCH_TEST = "a test that it lists is not there, or its cut name fits several"
    REFERENCE_FAILS = "a test that it lists fails with the repair"
    TESTS_AGREE = "a test that must turn passes without the repair"
    HELD_FAIL = "a test that must go on passing fails without the repair"
    NO_END = "without the repair the tests come to no end, so that those not reached say nothing"
    TOO_LONG = "the tests take too long"
    FLAKY = "its tests do not always give the same results"
    SANDBOX = "the sandbox could not run it"
    ERROR = "it could not be read"


@dataclass(frozen=True, slots=True)
class Refused:
    """A reason, and what there is to say about this row."""

    reason: Refusal
    detail: str = ""


@dataclass(frozen=True, slots=True)
class States:
    """A row with its files: ``initial``, where work begins, ``reference``, with the repair, and what may not be touched."""

    row: Row
    base: str
    initial: dict[str, str]
    reference: dict[str, str]
    files: tuple[str, ...]
    protected: tuple[str, ...]
    licence: str


def states(row: Row, repos: Path | None, licences: Sequence[str] = (), pull: bool = False) -> States | Refused:
    """The two states of a row, with the files of its repository below ``repos``, else those of its image, which ``pull`` fetches.

    ``licences``: those allowed, empty for all.
    """
    if refused := _unfit(row):
        return refused
    name, short = clones.smith_name(row.repo) if row.inverted else (row.repo, "")
    repository = clones.find(repos, name) if repos is not None else None
    if repository is None and not row.image:
        return Refused(Refusal.REPOSITORY, name)
    if repository is None:
        if problem := image.usable(row.image, pull):
            return Refused(Refusal.IMAGE, problem)
        base, files = row.base_commit or short, image.images().files(row.image)
    else:
        base, files = clones.state(repository, (row.base_commit, short))
    if repository is not None and not base:
        return Refused(Refusal.COMMIT, f"{row.base_commit or short or 'none named'} in {repository.path}")
    own = licence(files) or row.licence
    if licences and own not in licences:
        return Refused(Refusal.LICENCE, own or "none found")
    return patched(row, base, files, own)


def _unfit(row: Row) -> Refused | None:
    """What the row alone shows."""
    if row.language.lower() not in ("", "python", "py", "python3"):
        return Refused(Refusal.LANGUAGE, row.language)
    if row.only_image:
        return Refused(Refusal.ONLY_IMAGE, row.image)
    if not row.fail_to_pass:
        return Refused(Refusal.NO_TESTS, f"{len(row.pass_to_pass)} must go on passing")
    odd = [id_ for id_ in (*row.fail_to_pass, *row.pass_to_pass) if not id_.partition("::")[0].endswith(".py") or "::" not in id_]
    return Refused(Refusal.TEST_NAMES, odd[0][:200]) if odd else None


def patched(row: Row, base: str, files: Mapping[str, str], own: str, run: tuple[str, ...] = ()) -> States | Refused:
    """The two states of a row whose commit has these files. ``run``: the test files, where the row lists no tests."""
    where = "test_patch"
    try:
        tested = apply_patch(files, _bytes(row.test_patch)).files if row.test_patch.strip() else dict(files)
        where = "patch"
        changed = apply_patch(tested, _bytes(row.patch)).files
        touched = _paths(row.test_patch)
    except (PatchError, UnicodeEncodeError) as error:
        return Refused(Refusal.PATCH, f"{where}: {error}"[:300])
    initial, reference = (changed, tested) if row.inverted else (tested, changed)
    run = run or tuple(dict.fromkeys(id_.partition("::")[0] for id_ in (*row.fail_to_pass, *row.pass_to_pass)))
    beside = [path for path in initial if path.rpartition("/")[2] == "conftest.py"]
    beside += [path for path in touched if path in initial and is_test(path)]
    protected = tuple(dict.fromkeys([*run, *beside]))
    kept = {path: initial[path] for path in protected if path in initial}  # tests are the same on both sides
    reference = {**{path: text for path, text in reference.items() if path not in protected}, **kept}
    added = supplied(reference)
    initial, reference = {**initial, **added}, {**reference, **added}
    return States(row, base, initial, reference, run, protected, own)


def task(found: States, fail_to_pass: tuple[str, ...], pass_to_pass: tuple[str, ...], evidence: Evidence) -> Task:
    """The task of a row with tests that decide; ``parameters["row"]`` of its provenance holds the row as it was read."""
    row = found.row
    suites = (Suite(form="pytest", files=found.files, fail_to_pass=fail_to_pass, pass_to_pass=pass_to_pass),)
    changed = {path for path in found.reference.keys() | found.initial.keys() if _differs(found, path)}
    parameters = {"instance": row.instance, "base": found.base, "date": row.created, "row": row.text}
    parameters["row_of"] = Task.make_id(Kind.BUGFIX, found.initial, suites)
    return Task.make(
        Kind.BUGFIX, instruction=row.problem if row.problem.strip() else _instruction(fail_to_pass), files=found.initial,
        editable=tuple(sorted(path for path in changed if not is_test_file(path))), protected=found.protected, suites=suites,
        reference=found.reference, evidence=evidence,
        provenance=Provenance(
            source=row.format, repo=row.repo, commit=found.base, licence=found.licence, topic=row.repo, parameters=parameters,
        ),
    )  # fmt: skip


def _differs(found: States, path: str) -> bool:
    return found.reference.get(path) != found.initial.get(path)


def _instruction(failing: Sequence[str]) -> str:
    names = "\n".join(f"- {id_}" for id_ in failing[:SHOWN]) + (f"\n- and {len(failing) - SHOWN} more" if failing[SHOWN:] else "")
    return f"These tests fail:\n{names}\nFind the cause in the source and repair it; the tests must stay as they are."


def _bytes(patch: str) -> bytes:
    return patch.encode("utf-8", "surrogateescape")


def _paths(patch: str) -> list[str]:
    sections = read_diff(_bytes(patch)).sections if patch.strip() else []
    return [strip(path) for section in sections for path in (section.old, section.new) if path]
