"""Everything that is shown was written by programs under test and by models. It may be anything."""

from __future__ import annotations

import json
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from web_samples import entries, lines, rounds, run, tasks

from swefuse.library.store import Entry, Library
from swefuse.records import Action, Decision, Outcome, Step, Task, TestResult
from swefuse.web.app import create_app

SCRIPT = "</pre></title></script><script>window.hit=1</script><img src=x onerror=window.hit=1>\"'><svg onload=window.hit=1>"
ANSI = "\x1b[2J\x1b[31mred\x1b[0m\x1b]8;;http://evil\x07link\x1b]8;;\x07\x07\u202egnp.exe\u200b"
BROKEN = "half \ud800 and \udcff, nul \x00, bell \x07"
LONG = "x" * 10_000_000
TEXT = SCRIPT + ANSI
NASTY = TEXT + BROKEN  # half characters stand in long texts only: the columns of a library take none


class Seen(HTMLParser):
    """Tags and attributes as a browser would see them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.sources: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.sources |= {value or "" for name, value in attrs if name in ("src", "href", "action")}


def hostile(task: Task) -> Entry:
    """An entry in which every text is nasty, with a line of ten megabytes."""
    base = entries(tasks()[:1])[0]
    where = Action(name="edit", path=f"m{SCRIPT}.py", line=1, old=SCRIPT, new=ANSI, text=SCRIPT)
    step = Step(
        thought=NASTY,
        action=where,
        raw=NASTY,
        observation=f"{NASTY}\n{LONG}\n" + "y\n" * 5000,
        before="a",
        after="b",
        checks=(NASTY,),
    )
    way = base.trajectory.model_copy(
        update={
            "id": "hostile", "steps": (step, step.model_copy(update={"action": None, "observation": ""})),
            "files": {f"f{SCRIPT}": NASTY + LONG, "solution.py": LONG}, "stop_reason": NASTY, "source": TEXT,
            "policy": base.trajectory.policy.model_copy(update={"model": TEXT}),
        }
    )  # fmt: skip
    results = {NASTY: TestResult(outcome="failed", detail=NASTY), "long": TestResult(outcome="failed", detail=LONG)}
    verdict = base.verdict.model_copy(update={"outcome": Outcome.FAILED, "tests": results, "reason": NASTY, "sandbox": NASTY})
    return Entry(
        task, way, verdict, Decision(accepted=False, reasons=(f"{SCRIPT}: {TEXT}",), gate_version=TEXT, seen={NASTY: NASTY})
    )


def nasty_task() -> Task:
    base = tasks()[0]
    origin = base.provenance.model_copy(update={"source": SCRIPT, "operator": SCRIPT, "function": SCRIPT + ANSI, "repo": SCRIPT})
    files = {**base.files, f"<b>{ANSI}": SCRIPT + ANSI}
    return base.revised(instruction=SCRIPT + ANSI + LONG, provenance=origin, files=files, split="<i>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    task = nasty_task()
    made = run(folder / "bad <b>&name", count=3)
    with Library(made / "library.db", create=True) as library:
        library.add_many([hostile(task)])
    (made / "tasks").mkdir()
    (made / "tasks" / "tasks.jsonl").write_bytes(json.dumps(task.model_dump(mode="json")).encode() + b"\n\xff\xfe{broken\n[1]\n")
    rows = rounds(3)
    rows[1] |= {"pass_rate": float("nan"), "outcomes": "no", "h_bins": [1], "seconds": 3, "kl": "x", "policy_entropy": float("inf")}
    lines(made / "rlvr" / "metrics.jsonl", rows)
    with (made / "rlvr" / "metrics.jsonl").open("ab") as file:
        file.write(b'\xff\xfe\x00{"round": \n[]\n"x"\n{"round": 9, "pass')
    lines(made / "rlvr" / "events.jsonl", [{"round": "x", "event": SCRIPT, "value": SCRIPT, "limit": None, "what": NASTY}, {}])
    side = {"edit": NASTY, "diff": NASTY + LONG[:100_000], "outcome": SCRIPT}
    pair = {"round": 1, "task": SCRIPT, "label": SCRIPT, "p": [0.2, 0.3, 0.5], "mode": SCRIPT, "a": side, "b": side}
    lines(
        made / "rlvr" / "pairs.jsonl", [pair, {**pair, "p": ["x", None]}, {**pair, "a": 3}, {**pair, "label": "A", "q": [0.4, 0.6]}]
    )
    (made / "verdicts.sqlite").write_bytes(b"no database")
    (made / "report.json").write_text("{broken")
    return folder


@pytest.fixture(scope="module")
def looking(folder: Path) -> TestClient:
    return TestClient(create_app([folder]), base_url="http://localhost")


NAME = "bad <b>&name"
ADDRESSES = (
    "/", "/library", "/library/map", "/trajectory?id=hostile", "/pairs", "/pair?at=0", "/entropy", "/tasks", "/verifier",
    "/compare", "/task?id=TASK",
)  # fmt: skip


@pytest.mark.parametrize("page", ADDRESSES)
def test_hostile_text_becomes_no_markup_and_breaks_no_page(looking: TestClient, page: str) -> None:
    page = page.replace("TASK", nasty_task().id)
    path, _, query = page.partition("?")
    began = time.perf_counter()
    answer = looking.get(f"{path}?{query}", params={"run": NAME, **dict(part.split("=") for part in query.split("&") if part)})
    assert answer.status_code == 200, answer.text[-3000:]
    assert time.perf_counter() - began < 30
    assert len(answer.content) < 600_000, "ten megabytes are cut"
    seen = Seen()
    seen.feed(answer.text)
    assert seen.tags.isdisjoint({"img", "iframe", "object", "embed", "style", "i", "foreignobject"})
    assert not [name for name in seen.attributes if name.startswith("on") or name in ("style", "srcdoc", "onload")]
    assert all(link.startswith(("/", "#")) and not link.startswith("//") for link in seen.sources)
    assert answer.text.count("<script") == 2
    assert "\x1b" not in answer.text and "\x00" not in answer.text and "\u202e" not in answer.text


@pytest.mark.parametrize(
    "query", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\x1b[31m\u202e", "a" * 5000, "'"]
)
@pytest.mark.parametrize(
    "field", ["run", "q", "kind", "state", "task", "id", "base", "model", "order", "lam", "at", "start", "part"]
)
def test_hostile_addresses_become_no_markup(looking: TestClient, field: str, query: str) -> None:
    for page in ("/", "/library", "/trajectory", "/pairs", "/entropy", "/tasks", "/task", "/compare", "/raw"):
        answer = looking.get(page, params={"run": NAME, field: query})
        assert answer.status_code in (200, 404, 422), page
        assert "<script>alert" not in answer.text and "<img" not in answer.text and "\x1b" not in answer.text


def test_the_whole_of_what_is_cut_is_one_link_away_as_plain_text(looking: TestClient) -> None:
    body = looking.get("/trajectory", params={"run": NAME, "id": "hostile"}).text
    assert "The whole as text" in body and "part=observation" in body
    for query in ({"part": "observation", "step": 1}, {"part": "test", "name": "long"}, {"part": "file", "name": "solution.py"}):
        answer = looking.get("/raw", params={"run": NAME, "id": "hostile", **query})
        assert answer.status_code == 200 and len(answer.content) >= 10_000_000
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("sandbox")
    told = looking.get("/raw", params={"run": NAME, "id": "hostile", "part": "thought", "step": 1}).content
    assert b"<script>" in told and b"\\ud800" in told and b"\x1b[31m" in told, "the text as it is, but for half characters"
    for query in ({"part": "thought", "step": 99}, {"part": "thought"}, {"part": "file", "name": "../../etc/passwd"}):
        assert looking.get("/raw", params={"run": NAME, "id": "hostile", **query}).status_code == 404


def test_escapes_of_terminals_are_shown_as_text(looking: TestClient) -> None:
    body = looking.get("/trajectory", params={"run": NAME, "id": "hostile"}).text
    assert "\\x1b[31mred" in body and "\\u202e" in body and "\\ud800" in body
