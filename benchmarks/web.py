"""How fast the web app answers, and how heavy its pages are.

``python benchmarks/web.py --json [--only NAME] [--trajectories N]``: one flat JSON object on the last line, progress on stderr.
Times are of the server alone, the best of several answers: the page of runs (``page_s``), a trajectory of fifty steps
(``trajectory_s``), and the slowest of some searches of a library of 100,000 trajectories (``search_s``). ``page_kb``: a page with
all that it loads, uncompressed; the heaviest of some counts.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import library_store
from fastapi.testclient import TestClient

from swefuse.library import Entry, Library
from swefuse.web.app import create_app

NAMES = ("page_s", "trajectory_s", "search_s", "page_kb")
TRIES, KB, BATCH = 7, 2, 1000
SEARCHES = (
    "q=zanzibar", "q=behaviour", "q=quixotic&state=refused", "state=accepted&operator=guard&source=commits", "start=90000",
    "q=zan*",
)  # fmt: skip


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def runs(folder: Path, count: int) -> str:
    """Two runs of stage 2 and a library of ``count`` trajectories, one of which has fifty steps; its id."""
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        row = {"pass_rate": 0.5, "policy_entropy": 1.0, "loss": 0.1, "mean_h": 0.4, "kl": 0.1, "h_bins": [5] * 10}
        lines = (json.dumps({"round": n, **row, "head_loss": 1 / n, "outcomes": {"PASSED": 9, "FAILED": n}}) for n in range(1, 401))
        (folder / name / "metrics.jsonl").write_text("\n".join(lines))
    texts = library_store.Texts()
    with Library(folder / "one" / "library.db", create=True) as library:
        for at in range(0, count, BATCH):
            library.add_many([library_store.made(n, texts, KB) for n in range(at, min(at + BATCH, count))])
            if at % 10_000 == 0:
                say(f"{at} of {count} trajectories")
        large = library_store.made(count, texts, 50)
        steps = (large.trajectory.steps * 5)[:50]
        way = large.trajectory.model_copy(update={"id": "fifty", "steps": steps})
        library.add_many([Entry(large.task, way, large.verdict, large.decision)])
    return way.id


def seconds(client: Any, address: str) -> float:
    """The best of some answers."""
    found = []
    for _ in range(TRIES):
        began = time.perf_counter()
        answer = client.get(address)
        found.append(time.perf_counter() - began)
        assert answer.status_code == 200, answer.text[-500:]
    say(f"{min(found):.4f} s (first {found[0]:.4f})  {address}")
    return min(found)


def weight(client: Any, address: str) -> float:
    """A page with all that it loads, in kilobytes of 1,000 bytes, uncompressed."""
    page = client.get(address)
    loaded = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text))
    whole = len(page.content) + sum(len(client.get(one).content) for one in loaded)
    say(f"{whole / 1000:.1f} KB  {address}")
    return whole / 1000


def measure(only: str | None, count: int) -> dict[str, float]:
    """All figures, or one."""
    wanted = (only,) if only else NAMES
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        id_ = runs(Path(folder), count if {"search_s"} & set(wanted) else min(count, 1000))
        client = TestClient(create_app([Path(folder)]), base_url="http://localhost")
        if "page_s" in wanted:
            found["page_s"] = seconds(client, "/")
        if "trajectory_s" in wanted:
            found["trajectory_s"] = seconds(client, f"/trajectory?run=one&id={id_}")
        if "search_s" in wanted:
            found["search_s"] = max(seconds(client, f"/library?run=one&{query}") for query in SEARCHES)
        if "page_kb" in wanted:
            pages = ("/", "/?run=one&run=two", "/library?run=one", f"/trajectory?run=one&id={id_}")
            found["page_kb"] = max(weight(client, page) for page in pages)
    return found


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    parser.add_argument("--only", choices=NAMES, help="measure this alone")
    parser.add_argument("--trajectories", type=int, default=library_store.LARGE)
    options = parser.parse_args()
    found = measure(options.only, options.trajectories)
    print(json.dumps(found) if options.json else "\n".join(f"{name:14} {value:.4f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
