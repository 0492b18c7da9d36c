"""Every page, on runs that the real loop and the real gate made."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from web_samples import tasks

from swefuse.library.store import Filter, Library

PAGES = ("/", "/library", "/library/map", "/pairs", "/entropy", "/tasks", "/verifier", "/compare")


def text(client: TestClient, address: str, code: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == code, answer.text[:2000]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.text


def ids(runs: Path, accepted: bool) -> list[str]:
    with Library(runs / "demo" / "library.db") as library:
        return [row.trajectory_id for row in library.query(Filter(accepted=accepted))]


@pytest.mark.parametrize("page", PAGES)
def test_every_page_stands_and_links_lead_somewhere(client: TestClient, page: str) -> None:
    body = text(client, f"{page}?run=demo")
    assert body.count("<h1") == 1 and "<title>" in body
    links = {unescape(link) for link in re.findall(r'href="(/[^"#]*)', body)}
    assert len(links) >= 10
    for link in sorted(links)[:60]:
        assert client.get(link).status_code == 200, link


def test_runs_are_found_and_say_how_far_they_are(client: TestClient) -> None:
    body = text(client, "/")
    assert all(name in body for name in ("demo", "group/second", "alone.db"))
    assert "finished" in body and "2 of 3" in body, "two of the three rounds of a smoke run"
    assert 'data-live="/?part=1"' in body


def test_a_run_shows_its_curves_alarms_stages_and_settings(client: TestClient) -> None:
    body = text(client, "/?run=demo")
    assert "Sampled candidates that pass" in body and "Entropy of the policy" in body
    assert "most samples of a task are the same message" in body and "lower rlvr.lr" in body, "what, and the remedy"
    assert "rlvr.weight.mode" in body
    assert "1 ago" not in body


def test_runs_lie_over_each_other_with_what_differs(client: TestClient) -> None:
    body = text(client, "/?run=demo&run=group%2Fsecond")
    legend = re.search(r'class="legend">(.*?)</ul>', body, re.S)
    assert legend and "demo" in legend[1] and "group/second" in legend[1]
    assert "Settings that differ" in body and re.search(r"rlvr\.seed</code></th><td>0</td><td>1</td>", body)


def test_a_part_is_the_page_without_its_frame_and_unchanged_is_not_sent_again(client: TestClient) -> None:
    part = client.get("/?run=demo&part=1")
    assert "<html" not in part.text and "Sampled candidates" in part.text
    fixed = client.get("/pairs?run=demo&part=1")
    again = client.get("/pairs?run=demo&part=1", headers={"if-none-match": fixed.headers["etag"]})
    assert again.status_code == 304 and not again.content


def test_a_library_is_searched_filtered_and_counted(client: TestClient, runs: Path) -> None:
    body = text(client, "/library?run=demo")
    assert "3 accepted, 3 refused" in body
    refused = text(client, "/library?run=demo&state=refused")
    assert all(id_ in refused for id_ in ids(runs, False)) and not any(id_ in refused for id_ in ids(runs, True))
    assert "verdict: the verdict is FAILED" in refused
    assert "1 to 6 of 6" in text(client, "/library?run=demo&q=double")
    assert "Nothing matches" in text(client, "/library?run=demo&q=zanzibar")
    assert "no word" in text(client, "/library?run=demo&q=---", 404)
    known = ids(runs, True)[0]
    assert f'id={known}"' in text(client, f"/library?run=demo&q={known}"), "an id leads to its trajectory"


def test_the_first_library_is_shown_where_no_run_is_named(client: TestClient) -> None:
    assert "Library <small>alone.db" in text(client, "/library")


def test_a_map_leads_to_trajectories(client: TestClient, runs: Path) -> None:
    body = text(client, "/library/map?run=demo")
    assert body.count('class="spot') >= 6 and all(f"id={id_}" in body for id_ in ids(runs, True))


def test_a_trajectory_shows_steps_verdict_and_evidence(client: TestClient, runs: Path) -> None:
    body = text(client, f"/trajectory?run=demo&id={ids(runs, True)[0]}")
    assert "<del>-    return x - x" in body and "<ins>+    return x + x" in body
    assert body.count('class="step"') >= 4 and "4 of 4 pass" in body
    assert "What the gate looked at" in body and "coherence" in body
    wrong = text(client, f"/trajectory?run=demo&id={ids(runs, False)[0]}")
    assert "FAILED" in wrong and "verdict: the verdict is FAILED" in wrong
    one = client.get(f"/raw?run=demo&id={ids(runs, True)[0]}&part=observation&step=1")
    assert one.text.startswith("1>def double") and one.headers["content-type"] == "text/plain; charset=utf-8"


def test_pairs_begin_with_what_the_value_model_and_the_verifier_disagree_on(client: TestClient) -> None:
    body = text(client, "/pairs?run=demo")
    shares = [int(share) for share in re.findall(r"gives (\d+) % to the loser", body)]
    assert len(shares) >= 3 and shares == sorted(shares, reverse=True)
    against = ["to the loser" in pair for pair in body.split('<article class="pair')[1:]]
    assert against == sorted(against, reverse=True)
    assert body.count('class="sides"') == 10
    second = text(client, "/pairs?run=demo&start=10&order=entropy&label=tie")
    assert "label <b>A</b>" not in second
    assert text(client, "/pair?run=demo&at=3").count('class="sides"') == 1
    text(client, "/pair?run=demo&at=999", 404)
    assert "has kept no pair" in text(client, "/pairs?run=group/second")


def test_weights_can_be_moved(client: TestClient) -> None:
    def effect(query: str) -> tuple[int, str]:
        body = text(client, f"/entropy?run=demo&{query}")
        found = re.findall(r'class="big">([\d.]+)( %)?</dd>', body)
        return int(found[1][0]), found[2][0]

    assert effect("mode=off") == (24, "100")
    assert effect("mode=hard&tau=0") == (0, "0")
    assert effect("mode=hard&tau=1.05") == (24, "100")
    few, share = effect("mode=soft&lam=8")
    assert 0 < few < 24 and int(share) < 80
    as_run = text(client, "/entropy?run=demo")
    assert 'value="2.0"' in as_run and "<option selected>soft" in as_run, "what the run had"
    text(client, "/entropy?run=demo&lam=nan", 422)
    text(client, "/entropy?run=demo&mode=oracle", 422)


def test_tasks_show_proof_strength_and_what_slips_through(client: TestClient) -> None:
    first = tasks()[0].id
    body = text(client, "/tasks?run=demo")
    assert "1 to 3 of 3" in body and "75 % of 8" in body and "12.5 %" in body
    assert first in text(client, "/tasks?run=demo&weak=1") and "1 to 1 of 1" in text(client, "/tasks?run=demo&weak=1")
    one = text(client, f"/task?run=demo&id={first}")
    assert "3 runs alike" in one and "75 %" in one and "constant" in one and "Bugs that slip through" in one
    assert "2 trajectories of this task" in one and "<ins>+    return x + x" in one
    text(client, "/task?run=demo&id=nothing", 404)


def test_a_task_is_found_in_a_library_that_lies_alone(client: TestClient) -> None:
    assert tasks()[0].id in text(client, f"/task?run=alone.db&id={tasks()[0].id}")


def test_the_verifier_says_what_it_did_and_caught(client: TestClient) -> None:
    body = text(client, "/verifier?run=demo")
    assert "a test file was changed" in body and re.search(r"Attacks caught</dt><dd class=\"big\">1 ", body)
    assert "460" in body and "65 %" in body, "300 of 460 candidates were known"
    assert "Candidates verified a second" in body


def test_models_are_compared_with_intervals_and_with_a_base(client: TestClient) -> None:
    body = text(client, "/compare?run=demo&run=group/second&base=demo%3Asft")
    assert body.count("unseen") and "75.0" in body and "58.3" in body
    assert re.search(r"\+33\.3 \[\+\d", body), "nine of twelve against five"
    assert "better" in body and "12 tasks of 12 functions" in body
    assert "did you mean" in text(client, "/compare?run=demo&base=demo%3Asftt", 404)


@pytest.mark.parametrize("page", [*PAGES, "/trajectory", "/task", "/pair"])
def test_an_address_with_nonsense_is_told_and_nothing_falls_over(client: TestClient, page: str) -> None:
    for query in ("run=../../etc", "run=%00", "run=demo&start=-1&id=x&at=1", "run=demo&id=..%2F..%2Fetc%2Fpasswd&at=0"):
        assert client.get(f"{page}?{query}").status_code in (200, 404, 422)


def test_unknown_pages_and_files(client: TestClient) -> None:
    assert "Not found" in text(client, "/nothing", 404)
    assert client.get("/static/0/app.css").status_code == 404
    assert client.get("/static/../pyproject.toml").status_code == 404
    assert client.get("/docs").status_code == client.get("/openapi.json").status_code == 404
