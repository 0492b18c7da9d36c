"""``swefuse collect`` and ``swefuse library add``: from tasks to a library, and what is refused on the way."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from faulty_server import FaultyServer
from function_task import function_task
from swefuse.cli.main import main
from swefuse.errors import SandboxError
from swefuse.tasks.store import save_tasks

Capture = pytest.CaptureFixture[str]
FREE = ["--method", "free", "--policy", "http://127.0.0.1:9/v1"]
QUICK = ["--set", "workers=1", "--set", "guide=choices"]


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    save_tasks(tmp_path / "tasks.jsonl", [function_task()])
    return tmp_path


def test_from_tasks_to_a_library(tasks: Path, capsys: Capture) -> None:
    out, library = tasks / "out", tasks / "library.db"
    assert main(["collect", "--tasks", str(tasks), "--out", str(out), *QUICK[:2], "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["accepted"] >= 1 and summary == json.loads((out / "summary.json").read_text())
    assert main(["collect", "--tasks", str(tasks), "--out", str(tasks / "found"), "--method", "search", "--policy", "random",
                 "--set", "tries=200", *QUICK]) == 0  # fmt: skip
    told = capsys.readouterr().out
    assert told.startswith("1 trajectories pass, of ") and " paths (" in told and "taken back: no step from there" in told
    assert "decided by 'swefuse library add'" in told and "s of the policy" in told and "s in all" in told
    assert main(["library", "add", str(library), str(out), str(tasks / "found"), "--workers", "1"]) == 0
    assert "accepted" in capsys.readouterr().out
    refused = tasks / "refused"
    refused.mkdir()
    (refused / "tasks.jsonl").write_bytes((out / "tasks.jsonl").read_bytes())
    lines = [json.loads(line) for line in (out / "trajectories.jsonl").read_text().splitlines()]
    lines = [{**line, "files": {}, "final": line["initial"]} for line in lines]  # as if nothing had been done
    (refused / "trajectories.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["library", "add", str(library), str(refused), "--workers", "1"]) == 1
    told = capsys.readouterr().out
    assert f"{len(lines):7}  refused by verdict\n" in told and f"{len(lines):16}  the verdict is FAILED\n" in told
    assert main(["library", "add", str(library), str(refused), "--workers", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["messages"]["verdict: the verdict is FAILED"] == len(lines)
    (tasks / "empty.db").touch()
    for command in (["add", str(tasks / "empty.db"), str(out)], ["list", str(tasks / "empty.db")]):
        assert main(["library", *command]) == 2
        assert "is an empty file" in capsys.readouterr().err
    assert main(["library", "add", str(library), str(tasks), "--workers", "1"]) == 2
    assert "holds no trajectories.jsonl" in capsys.readouterr().err


def test_a_damaged_log_and_another_call_are_the_users_matter(tasks: Path, capsys: Capture) -> None:
    command = ["collect", "--tasks", str(tasks), "--out", str(tasks / "out"), "--set", "workers=1"]
    assert main(command) == 0
    log = tasks / "out" / "parts.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b"{}\n")
    assert main(command) == 2
    assert f"{log}:3: the line is damaged" in capsys.readouterr().err
    log.write_bytes(whole)
    with (tasks / "out" / "collect.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(command) == 2
    assert "another call is collecting into" in capsys.readouterr().err
    assert main([*command, "--set", "samples=3"]) == 2
    assert "samples was 4 and is now 3" in capsys.readouterr().err


class Broken:
    """A sandbox that does not start."""

    def start(self) -> None:
        raise SandboxError("it has no floor")

    def run(self, job: object) -> None:
        self.start()

    def close(self) -> None:
        pass

    def __enter__(self) -> Broken:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def test_a_sandbox_that_does_not_start_is_told_once(tasks: Path, capsys: Capture) -> None:
    for command in (["collect"], ["collect", "replay"]):
        given = ["--tasks", str(tasks), "--out", str(tasks / "out"), "--set", f"sandbox={__name__}:Broken"]
        assert main([*command, *given]) == 3
        assert capsys.readouterr().err.startswith(
            f"error: the sandbox '{__name__}:Broken' does not work here: it has no floor; 'swe"
        )


def test_an_endpoint_that_is_down_ends_the_call_and_it_can_be_gone_on_with(tasks: Path, capsys: Capture) -> None:
    with FaultyServer() as server:
        url = server.url
    command = ["collect", "--tasks", str(tasks), "--out", str(tasks / "out"), "--method", "free", "--policy", url,
               "--endpoint", "model=echo-1", "--endpoint", "attempts=1", "--set", "workers=1", "--set", "samples=20"]  # fmt: skip
    assert main(command) == 3
    said = capsys.readouterr().err
    assert "the same command goes on from there" in said and "no server answers at" in said and "not your fault" not in said
    with FaultyServer() as server:
        again = [server.url if one == url else one for one in command]
        assert main([*again, "--json"]) == 1, "it echoes, which repairs nothing"
    summary = json.loads(capsys.readouterr().out)
    assert (summary["tried"], summary["open"]) == (20, 0)


def test_ctrl_c_ends_a_call_that_waits_for_an_endpoint(tasks: Path) -> None:
    asked, other = threading.Event(), tasks / "out"

    def choose(number: int, body: dict[str, Any]) -> str:
        asked.set()
        return "slow"  # half a minute

    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from swefuse.cli.main import run; run()"
    )
    with FaultyServer(choose) as server:
        command = [sys.executable, "-c", program, "collect", "--tasks", str(tasks), "--out", str(other), "--method", "free"]
        settings = ["--policy", server.url, "--endpoint", "model=echo-1", "--set", "workers=1"]
        with subprocess.Popen([*command, *settings], stderr=subprocess.PIPE, text=True) as process:
            assert asked.wait(60)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
    assert process.returncode == 130 and f"what is done is kept in {other}" in said and "Traceback" not in said
    assert (other / "summary.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--out", "o"], "collect needs --tasks DIR"),
        (["--tasks", "."], "collect needs --out DIR"),
        (["--tasks", ".", "--out", "o", "--method", "serch"], "there is no method 'serch'; did you mean 'search'"),
        (["--tasks", ".", "--out", "o", "--policy", "random"], "replay plays the reference solution and asks no policy"),
        (["--tasks", ".", "--out", "o", "--method", "free"], "--method free needs --policy"),
        (["--tasks", ".", "--out", "o", "--method", "free", "--policy", "rule"], "--set guide=choices"),
        (["--tasks", ".", "--out", "o", "--method", "free", "--policy", "randm"], "did you mean 'random'"),
        (
            ["--tasks", ".", "--out", "o", "--method", "free", "--policy", "rule", "--endpoint", "model=x", *QUICK],
            "--endpoint is for",
        ),
        (
            ["--tasks", ".", "--out", "o", "--method", "free", "--policy", "nowhere"],
            "no folder 'nowhere', and no policy of that name; v",
        ),
        (["--tasks", ".", "--out", "o", *FREE], "'model' must be given: --endpoint model=VALUE\n"),
        (
            ["--tasks", ".", "--out", "o", *FREE, "--endpoint", "modle=x"],
            "--endpoint modle=x: there is no setting 'modle'; did you",
        ),
        (["--tasks", ".", "--out", "o", *FREE, "--endpoint", "model=x", *QUICK], "cannot be held to choices"),
        (
            ["--tasks", ".", "--out", "o", *FREE, "--endpoint", "model=x", "--set", "guide=grammar"],
            "--endpoint structured=vllm",
        ),
        (
            ["--tasks", ".", "--out", "o", *FREE, "--endpoint", "model=x", "--set", "guide=grammar", "--set", "dialect=tools"],
            "calls of tools are not held to it",
        ),
        (["--tasks", ".", "--out", "o", *FREE, "--endpoint", "model=x", "--set", "cost=2"], "'cost' bounds nothing without prices"),
        (["--tasks", ".", "--out", "o", *FREE, "--endpoint", "model=x", "--set", "chunk=2"], "'chunk' has no effect"),
        (["--tasks", ".", "--out", "o", "--set", "sandbox=nope"], "there is no sandbox 'nope'; valid: bwrap"),
        (["--tasks", ".", "--out", "o", "--set", "sandbox=nope:Box"], "the sandbox 'nope:Box' cannot be loaded"),
        (["--tasks", ".", "--out", "o", "--method", "free", "--policy", "."], "has no tokenizer"),
        (["--tasks", "nowhere", "--out", "o"], "nowhere"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(arguments: list[str], problem: str, tmp_path: Path, capsys: Capture) -> None:
    places = {"o": str(tmp_path / "o"), ".": str(tmp_path)}
    assert main(["collect", *(places.get(one, one) for one in arguments)]) == 2
    assert problem in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [], "the folder is nobody's yet"
