"""The library keeps everything that it said it kept: through kill -9, many writers, full disks and damage."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from library_samples import entries, item

from swefuse.errors import DataError, InfraError
from swefuse.library import Entry, Filter, Library
from swefuse.library.bodies import fetch
from swefuse.library.connection import create
from swefuse.records import Decision, Provenance
from swefuse.scale import ProcessExecutor


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(tmp_path / "l.db", create=True) as opened:
        yield opened


def plain(library: Library, statement: str) -> list[tuple[object, ...]]:
    """What anyone's sqlite3 makes of the file."""
    with sqlite3.connect(library.path) as db:
        rows = db.execute(statement).fetchall()
    db.close()
    return rows


def test_entries_come_back_as_they_were(library: Library) -> None:
    batch = entries(["a", "b", "c"], refused=["b"])
    assert library.add_many(batch) == 3
    assert [library.get(name) for name in "abc"] == batch
    assert list(library.iter_accepted()) == [batch[0], batch[2]]
    assert library.get("b").decision.reasons == ("verdict: the verdict is FAILED",)
    assert library.verify() == []
    with pytest.raises(DataError, match="holds no trajectory 'd'"):
        library.get("d")


def test_bytes_of_files_that_are_no_utf8_come_back_as_they_were(library: Library) -> None:
    (entry,) = entries(["a"])
    binary = {**entry.task.files, "logo.png": "\udc89PNG\r\n", "back.txt": "\\udc89 \u2028"}
    odd = Entry(entry.task.model_copy(update={"files": binary}), entry.trajectory, entry.verdict, entry.decision)
    library.add_many([odd])
    assert library.get(odd.trajectory.id) == odd


def test_the_same_again_is_stored_once_and_a_new_decision_supersedes(library: Library) -> None:
    first, other = entries(["a", "b"], refused=["b"])
    assert library.add_many([first, first, other]) == 2
    assert library.add_many([other, first]) == 0
    (again,) = entries(["a"], refused=["a"])
    assert library.add_many([again]) == 1
    assert (library.get("a"), library.count(), list(library.iter_accepted())) == (again, 2, [])
    assert (library.stats().superseded, library.fingerprint()) == (1, hashlib.sha256().hexdigest())
    assert plain(library, "SELECT accepted FROM entry WHERE trajectory_id = 'a' ORDER BY seq") == [(1,), (0,)]
    assert library.add_many([first]) == 1  # back again: still the newest word
    assert library.get("a") == first
    assert plain(library, "SELECT count(*) FROM body") == [(1 + 2 + 2,)]  # one task, two trajectories, two rulings
    assert library.verify() == []


def varied() -> list[Entry]:
    made = []
    for number, entry in enumerate(entries([f"t{i}" for i in range(6)], refused=["t1", "t4"])):
        origin = Provenance(source=["corpus", "real"][number % 2], operator=["guard", "return", "guard"][number % 3])
        task = entry.task.model_copy(update={"provenance": origin, "split": "train" if number < 4 else "unseen"})
        made.append(Entry(task, entry.trajectory, entry.verdict, entry.decision))
    return made


def test_queries_counts_and_statistics_agree(library: Library) -> None:
    library.add_many(varied())
    for which, names in [
        (Filter(), ["t0", "t1", "t2", "t3", "t4", "t5"]),
        (Filter(accepted=False), ["t1", "t4"]),
        (Filter(accepted=True, split="train"), ["t0", "t2", "t3"]),
        (Filter(source="corpus", operator="guard"), ["t0", "t2"]),
        (Filter(refused_by="verdict", source="real"), ["t1"]),
        (Filter(refused_by="syntax"), []),
        (Filter(kind="bugfix", collector="replay"), ["t0", "t1", "t2", "t3", "t4", "t5"]),
        (Filter(task_id="elsewhere"), []),
    ]:
        assert [summary.trajectory_id for summary in library.query(which)] == names
        assert library.count(which) == len(names)
    stats = library.stats()
    assert (stats.accepted, stats.refused, stats.superseded, stats.reasons) == (4, 2, 0, {"verdict": 2})
    assert stats.by["source"] == {"corpus": (2, 1), "real": (2, 1)}
    assert stats.by["split"] == {"train": (3, 1), "unseen": (1, 1)}
    assert stats.by["operator"] == {"guard": (4, 0), "return": (0, 2)}
    assert stats.by["kind"] == {"bugfix": (4, 2)}
    (refused,) = library.query(Filter(refused_by="verdict", source="real"))
    assert refused.accepted is False
    assert (refused.reasons, refused.steps) == (("verdict: the verdict is FAILED",), 5)
    assert plain(library, "SELECT text FROM reason JOIN entry USING (seq) WHERE split = 'unseen'") == [
        ("verdict: the verdict is FAILED",)
    ]


def test_order_and_fingerprint_depend_on_what_is_accepted_alone(tmp_path: Path) -> None:
    names = ["c", "a", "b", "d"]
    with Library(tmp_path / "one.db", create=True) as one, Library(tmp_path / "two.db", create=True) as two:
        one.add_many(entries(names, refused=["d"]))
        for entry in reversed(entries(names[:3])):
            two.add_many([entry])
        assert [entry.trajectory.id for entry in one.iter_accepted()] == ["a", "b", "c"]
        assert list(one.iter_accepted()) == list(two.iter_accepted())
        assert one.fingerprint() == two.fingerprint()
        two.add_many(entries(["d"]))
        assert one.fingerprint() != two.fingerprint()


def test_what_is_added_during_an_iteration_waits_for_the_next(library: Library) -> None:
    library.add_many(entries(["a", "c"]))
    seen = []
    for entry in library.iter_accepted():
        seen.append(entry.trajectory.id)
        library.add_many(entries([f"{entry.trajectory.id}{entry.trajectory.id}"]))
    assert seen == ["a", "c"]
    assert library.count() == 4


WRITER = """
import os, signal, sys
from pathlib import Path
from library_samples import entries, item
from swefuse.library import Entry, Library
path, life, ticks = Path(sys.argv[1]), sys.argv[2], iter(range(int(sys.argv[3])))
library = Library(path, create=True)
def tick():
    if next(ticks, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
library._db().set_progress_handler(tick, 25)
one = entries(["x"])[0]
for batch in range(10**9):
    ways = [one.trajectory.model_copy(update={"id": f"{life}-{batch}-{i}"}) for i in range(20)]
    library.add_many(Entry(one.task, way, one.verdict, one.decision) for way in ways)
    print(batch, flush=True)
"""
NEVER = 10**9


def test_writers_killed_at_any_moment_leave_whole_batches(tmp_path: Path) -> None:
    """SQLite calls ``tick`` while it works, so that most deaths lie in the middle of a transaction; the last comes from outside."""
    path = tmp_path / "l.db"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    for life, ticks in enumerate([0, 10, 60, 150, 222, 301, NEVER]):
        command = [sys.executable, "-c", WRITER, str(path), str(life), str(ticks)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
            assert writer.stdout is not None
            lines = [writer.stdout.readline() for _ in range(3)] if ticks == NEVER else []
            if ticks == NEVER:
                os.kill(writer.pid, signal.SIGKILL)
            acknowledged = {int(line) for line in [*lines, *writer.stdout] if line.endswith("\n")}
        assert writer.returncode == -signal.SIGKILL
        with Library(path) as library:
            ids = [summary.trajectory_id.split("-") for summary in library.query()]
            assert library.verify() == []
        stored = [int(batch) for which, batch, _ in ids if which == str(life)]
        assert acknowledged <= set(stored)  # what was acknowledged is there
        assert all(stored.count(batch) == 20 for batch in set(stored))  # and every batch is whole


def test_a_new_library_does_not_inherit_from_a_deleted_one(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    subprocess.run([sys.executable, "-c", WRITER, str(path), "0", "222"], stdout=subprocess.DEVNULL, env=environment, check=False)
    path.unlink()
    assert (tmp_path / "l.db-wal").stat().st_size > 0  # its last transactions
    with Library(path, create=True) as library:
        assert (library.count(), library.verify()) == (0, [])
        assert library.add_many(entries(["a"])) == 1


def write_some(job: tuple[Path, int]) -> int:
    path, number = job
    with Library(path, create=True) as library:  # creating races too
        own = sum(library.add_many(entries([f"own-{number}-{i}"])) for i in range(15))
        return own + library.add_many(entries(["shared-0", "shared-1"]))


def test_many_processes_create_and_write_one_library(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    with ProcessExecutor(3) as executor:
        stored = list(executor.map(write_some, [(path, number) for number in range(6)]))
    with Library(path) as library:
        assert library.count() == 6 * 15 + 2 == sum(stored)
        assert library.verify() == []
    assert [each.name for each in tmp_path.iterdir()] == ["l.db"]  # no file of the creation is left


def test_who_is_late_in_creating_finds_what_is_there(library: Library) -> None:
    library.add_many(entries(["a"]))
    before = library.path.stat().st_ino
    create(library.path)
    assert (library.path.stat().st_ino, library.count()) == (before, 1)
    assert [each.name for each in library.path.parent.iterdir() if each.name.startswith(".")] == []


def test_it_pickles_and_crosses_a_fork_with_a_connection_of_its_own(library: Library) -> None:
    library.add_many(entries(["a"]))
    assert pickle.loads(pickle.dumps(library)).get("a") == library.get("a")
    mine = library._db()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if library.add_many(entries(["b"])) == 1 and library._db() is not mine else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    library.add_many(entries(["c"]))
    assert library.count() == 3
    assert library.verify() == []


def test_a_full_disk_is_a_clear_error_and_nothing_of_the_batch_stays(library: Library) -> None:
    library.add_many(entries(["a"]))
    before = library.verify(), library.count(), library.stats()
    db = library._db()
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages + 1}")  # SQLite then answers as on a full disk
    with pytest.raises(InfraError, match="disk is full; free space"):
        library.add_many(entries([f"n{i}" for i in range(60)]))
    assert (library.verify(), library.count(), library.stats()) == before
    db.execute("PRAGMA max_page_count = 100000")
    assert library.add_many(entries(["b"])) == 1


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
def test_a_bad_entry_takes_its_whole_batch_along(library: Library) -> None:
    good, bad = entries(["a", "b"])
    bad = Entry(bad.task, bad.trajectory.model_copy(update={"stop_reason": object()}), bad.verdict, bad.decision)
    with pytest.raises(DataError, match="trajectory b of task"):
        library.add_many([good, bad])
    assert library.count() == 0


def test_a_failure_in_the_middle_is_rolled_back(library: Library) -> None:
    refuse = "CREATE TRIGGER no BEFORE INSERT ON entry WHEN NEW.trajectory_id = 'b' BEGIN SELECT RAISE(ABORT, 'no b'); END"
    plain(library, refuse)
    with pytest.raises(sqlite3.IntegrityError, match="no b"):
        library.add_many(entries(["a", "b"]))
    plain(library, "DROP TRIGGER no")  # needs the lock that the failed batch held
    assert library.count() == 0
    assert library.add_many(entries(["a", "b"])) == 2


def test_a_writer_that_waits_in_vain_is_told_so(library: Library) -> None:
    library._db().execute("PRAGMA busy_timeout = 0")
    with sqlite3.connect(library.path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InfraError, match="another process kept it locked"):
            library.add_many(entries(["a"]))
        other.execute("ROLLBACK")
    other.close()
    assert library.add_many(entries(["a"])) == 1


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE body SET data = zeroblob(40) WHERE sha = (SELECT trajectory_sha FROM entry)", "is damaged"),
        ("UPDATE body SET data = (SELECT data FROM body WHERE sha = (SELECT task_sha FROM entry))", "its hash differs"),
        ("DELETE FROM body WHERE sha = (SELECT ruling_sha FROM entry)", "is missing"),
        ("UPDATE entry SET accepted = 0", "its columns or reasons are not those of its records"),
        ("INSERT INTO reason VALUES (1, 0, 'x', 'x: y')", "its columns or reasons are not those of its records"),
    ],
)
def test_damage_is_found(library: Library, statement: str, told: str) -> None:
    library.add_many(entries(["a"]))
    plain(library, statement)
    problems = library.verify()
    assert problems
    assert told in problems[0]
    if "body" in statement:
        with pytest.raises(DataError, match=told):
            library.get("a")


def test_records_of_another_schema_are_refused(library: Library) -> None:
    (entry,) = entries(["a"])
    library.add_many([Entry(entry.task, entry.trajectory.model_copy(update={"schema_version": 2}), entry.verdict, entry.decision)])
    with pytest.raises(DataError, match="has schema 2, this version reads 1"):
        library.get("a")


def test_other_files_are_refused_with_a_remedy_and_left_as_they_are(tmp_path: Path) -> None:
    text, alien, newer, empty = (tmp_path / name for name in ("text", "alien.db", "newer.db", "empty"))
    text.write_text("no database, but long enough to be taken for one\n" * 50)
    empty.touch()
    with sqlite3.connect(alien) as db:
        db.execute("CREATE TABLE entry (x)")
    db.close()
    Library(newer, create=True).close()
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    for path, told in [
        (text, "this is no library"),
        (alien, "is a database but no library"),
        (empty, "is a database but no library"),
        (newer, "has schema 99, newer than 5; upgrade"),
        (tmp_path, "is no file"),
        (tmp_path / "nowhere.db", "there is no library at"),
    ]:
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(DataError, match=told):
            Library(path, create=path.exists())
        assert not path.is_file() or path.read_bytes() == before
    assert not (tmp_path / "nowhere.db").exists()
    with pytest.raises(DataError, match=r"there is no folder .*; make it first"):
        Library(tmp_path / "no" / "folder.db", create=True)


def test_bodies_are_json_under_their_hash(library: Library) -> None:
    library.add_many(entries(["a"]))
    sha = plain(library, "SELECT trajectory_sha FROM entry")[0][0]
    assert isinstance(sha, str)
    assert json.loads(fetch(library._db(), sha))["id"] == "a"


def test_half_characters_are_refused_by_name_and_leave_nothing(tmp_path: Path) -> None:
    task, one, verdict = item()
    broken = Entry(task, one.model_copy(update={"source": "half \ud800"}), verdict, Decision(accepted=True))
    with Library(tmp_path / "l.db", create=True) as library:
        with pytest.raises(DataError, match="is not Unicode"):
            library.add_many([broken])
        assert library.count() == 0 and library.verify() == []
