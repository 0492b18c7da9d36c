"""What a model was trained on is named, and a snapshot is read for training and never written."""

from __future__ import annotations

from pathlib import Path

import pytest

from swefuse.errors import DataError
from swefuse.learn import manifest
from swefuse.learn.rlvr import run as rlvr
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.sft import SftSettings, prepared
from swefuse.library import Entry, Filter, Library
from swefuse.library.conformance import sound
from swefuse.records import Decision


def entry(name: str, accepted: bool = True) -> Entry:
    task, way, verdict = sound()
    return Entry(task, way.model_copy(update={"id": name}), verdict, Decision(accepted=accepted))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Library(tmp_path / "l.db", create=True) as library:
        library.add_many([entry("a"), entry("b", accepted=False)])
        library.snapshot("v1")
        library.snapshot("none", Filter(accepted=False))
        library.add_many([entry("c")])
    return tmp_path / "l.db"


def test_the_manifest_names_snapshot_and_fingerprint(path: Path) -> None:
    with Library(path) as library:
        (first, _), now = library.snapshots(), library.fingerprint()
    assert manifest.library(path) == {"trajectories": 2, "snapshot": "", "fingerprint": now}
    assert manifest.library(path.with_name("l.db@v1")) == {"trajectories": 1, "snapshot": "v1", "fingerprint": first.fingerprint}


def test_training_reads_the_snapshot_alone(path: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"l\.db@none holds no accepted trajectory"):
        prepared(SftSettings(), tmp_path / "model", path.with_name("l.db@none"))
    with pytest.raises(DataError, match="there is no snapshot 'v9'; snapshots: none, v1"):
        prepared(SftSettings(), tmp_path / "model", path.with_name("l.db@v9"))


def test_stage_2_refuses_to_write_to_a_snapshot_before_it_trains(path: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"l\.db@v1 is a snapshot, which never changes"):
        rlvr(RlvrSettings(), tmp_path / "model", tmp_path, tmp_path, library=path.with_name("l.db@v1"))
