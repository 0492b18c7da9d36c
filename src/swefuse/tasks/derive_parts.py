"""What all kinds of derived tasks share: what a project offers, what is to be tried of it, and why something is no task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from swefuse.records import Evidence, Kind, Provenance, Task, content_hash
from swefuse.tasks.commits import is_source
from swefuse.tasks.git import opened
from swefuse.tasks.mutate import TRIED_FILES, Project
from swefuse.tasks.sites import Site, sites
from swefuse.tasks.survey import Surveyed, state

KEY = "attempt"  # the parameter of a task that names what was tried


class Refusal(StrEnum):
    """Why what was tried is no task, beside the reasons of ``tasks.survey`` and of ``tasks.proving``; there is no other."""

    NOTHING = "the repository holds nothing of this kind"
    UNSAID = "neither a docstring nor two tests say what is missing"
    FEW_BUGS = "the tests notice too few bugs"
    OTHER_ANSWER = "the call does not give what a test or docstring says"
    GIVEN_AWAY = "the answer stands in the files"


@dataclass(frozen=True, slots=True)
class View:
    """A project's files, and of each function that tests reach the test files that say most about it."""

    project: Project
    files: Mapping[str, str]
    reached: Mapping[Site, tuple[Surveyed, ...]]


@dataclass(frozen=True, slots=True)
class Order:
    """Something to try: ``subject`` is ``path:name``, ``asked`` what of it, ``data`` and ``tests`` what the kind needs beside."""

    repository: Path
    commit: str
    licence: str
    environment: str
    seed: int
    kind: Kind
    subject: str
    asked: str
    data: tuple[str, ...] = ()
    tests: tuple[Surveyed, ...] = ()

    @property
    def key(self) -> str:
        """Names the attempt, whatever else is tried."""
        what = [self.kind, self.subject, self.asked, self.data, [one.tests for one in self.tests]]
        return content_hash([self.commit, self.environment, *what])[:16]

    @property
    def place(self) -> tuple[str, str]:
        """Path and name of the subject."""
        path, _, name = self.subject.rpartition(":")
        return path, name

    def provenance(self, body_hash: str) -> Provenance:
        """Where a task of this order comes from."""
        return Provenance(
            source="derived", repo=opened(self.repository).name, commit=self.commit, licence=self.licence, function=self.place[1],
            body_hash=body_hash, topic=opened(self.repository).name, operator=self.asked,
            parameters={"subject": self.subject, "seed": str(self.seed), KEY: self.key},
        )  # fmt: skip

    def evidence(self, dropped: int = 0, tests: int = 0) -> Evidence:
        """What is known before a task is proven: where its tests run, and how many of them are left out."""
        share = dropped / max(1, dropped + tests)
        return Evidence(repeats=0, reference_passes=False, null_fails=False, flake_rate=share, environment=self.environment)


@dataclass(frozen=True, slots=True)
class Made:
    """What became of an order: a task, or the refusal with what was seen."""

    task: Task | None = None
    refusal: str = ""
    detail: str = ""


def view(project: Project) -> View:
    """What a project offers."""
    files = state(project.repository, project.commit)
    return View(project, files, reached(project, files))


def reached(project: Project, files: Mapping[str, str]) -> dict[Site, tuple[Surveyed, ...]]:
    """Each function of the source that tests reach, in order, with the test files to try: named like its file before others,
    then those that reach little else."""
    at = {(site.path, site.first): site for path in sorted(files) if is_source(path) for site in sites(path, files[path])}
    found: dict[Site, list[Surveyed]] = {}
    for one in project.surveys:
        for place in () if one.refusal else one.reached:
            if place in at:
                found.setdefault(at[place], []).append(one)

    def order(site: Site, one: Surveyed) -> tuple[bool, int, str]:
        return not named_like(site.path, one.tests), len(one.reached), one.tests

    return {
        site: tuple(sorted(found[site], key=lambda one: order(site, one))[:TRIED_FILES]) for site in at.values() if site in found
    }  # fmt: skip


def named_like(path: str, tests: str) -> bool:
    """Whether a test file has its name from a module."""
    return PurePosixPath(path).stem.strip("_") in PurePosixPath(tests).stem


def unique(found: Mapping[str, str], site: Site) -> bool:
    """Whether the name of a site means one function of its file: not a setter beside a getter."""
    return sum(one.name == site.name for one in sites(site.path, found[site.path])) == 1
