"""Who is answered, and with which headers."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from swefuse.web.app import create_app
from swefuse.web.guard import COOKIE, HEADERS, LOOPBACK, cookie_of, is_address, named
from swefuse.web.places import Places

TOKEN = "a-token-of-some-length"


@pytest.fixture
def closed(runs: Path) -> TestClient:
    return TestClient(create_app([runs], token=TOKEN), base_url="http://127.0.0.1:8765")


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("127.0.0.1:8765", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:8765", 200),
        ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("localhost.evil.example:8765", 421), ("", 421),
        ("10.0.0.7", 421), ("evil.example:127.0.0.1", 421), ("[::1].evil.example", 200),
    ],
)  # fmt: skip
def test_only_known_names_are_answered(client: TestClient, host: str, code: int) -> None:
    answer = client.get("/", headers={"host": host})
    if host == "[::1].evil.example":  # no address that a browser could have: what follows the bracket is dropped or refused
        assert answer.status_code in (200, 421)
        return
    assert answer.status_code == code
    assert code == 200 or "demo" not in answer.text


def test_a_server_for_all_addresses_takes_addresses_and_no_other_names(runs: Path) -> None:
    client = TestClient(create_app([runs], [*LOOPBACK, "lab.example"], TOKEN, addresses=True))
    known = {"authorization": f"Bearer {TOKEN}"}
    codes = {
        host: client.get("/", headers={"host": host, **known}).status_code
        for host in ("10.0.0.7:80", "lab.example", "evil.example")
    }
    assert codes == {"10.0.0.7:80": 200, "lab.example": 200, "evil.example": 421}
    assert client.get("/", headers={"host": "10.0.0.7"}).status_code == 401


def test_names_of_hosts() -> None:
    assert [named(host) for host in ("A.b:1", "[::1]:2", "x", "")] == ["a.b", "::1", "x", ""]
    assert is_address("::1") and is_address("10.0.0.1") and not is_address("10.evil")


@pytest.mark.parametrize(
    "page", ["/", "/library?run=demo", "/nothing", "/raw?id=x&part=json", "/static/x/app.js", "/tasks?start=x"]
)
def test_every_answer_has_the_headers(client: TestClient, closed: TestClient, page: str) -> None:
    for answer in (client.get(page), closed.get(page), client.post(page), client.get(page, headers={"host": "evil"})):
        for name, value in HEADERS.items():
            assert answer.headers[name] == value or (name == "content-security-policy" and "sandbox" in answer.headers[name])
        assert "cache-control" in answer.headers
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy and policy.startswith("default-src 'none'") and "*" not in policy


def test_pages_hold_no_script_and_no_style_of_their_own(client: TestClient) -> None:
    for page in ("/?run=demo", "/library?run=demo", "/pairs?run=demo", "/entropy?run=demo", "/compare?run=demo", "/tasks?run=demo"):
        body = client.get(page).text
        assert "<style" not in body and " style=" not in body and " onclick" not in body and "javascript:" not in body
        assert body.count("<script") == 2 == body.count('<script defer src="/static/')


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_done_but_read(client: TestClient, method: str) -> None:
    assert client.request(method, "/library?run=demo").status_code == 405


def test_without_the_token_nothing_is_told(closed: TestClient) -> None:
    for page in ("/", "/library?run=demo", "/static/x/app.css", "/?token=wrong", "/?token=", f"/?tokens={TOKEN}"):
        answer = closed.get(page)
        assert answer.status_code == 401 and "demo" not in answer.text
    for header in ("Bearer wrong", f"Basic {TOKEN}", "Bearer", f"bearer {TOKEN}x"):
        assert closed.get("/", headers={"authorization": header}).status_code == 401
    assert closed.get("/", headers={"cookie": f"{COOKIE}={TOKEN}"}).status_code == 401, "the cookie is not the token"
    assert closed.get("/", headers={"cookie": "\x01=;;;="}).status_code == 401


def test_the_token_is_taken_once_and_leaves_the_address(closed: TestClient) -> None:
    answer = closed.get(f"/library?run=demo&token={TOKEN}", follow_redirects=False)
    assert answer.status_code == 303 and answer.headers["location"] == "/library?run=demo"
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie and "HttpOnly" in cookie and "SameSite=strict" in cookie and cookie_of(TOKEN) in cookie
    assert closed.get("/library?run=demo").status_code == 200, "by the cookie"
    assert (
        closed.get(f"http://localhost//evil.example/x?token={TOKEN}", follow_redirects=False)
        .headers["location"]
        .startswith("/evil.example/")
    )


def test_a_script_can_send_the_token(closed: TestClient) -> None:
    assert closed.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_names_lead_to_what_was_found_and_nowhere_else(runs: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "state.json").write_text("{}")
    places = Places([runs])
    assert set(places.all()) == {"demo", "group/second", "alone.db"}
    client = TestClient(create_app([runs]), base_url="http://localhost")
    for name in (str(secret), "../secret", "demo/../../secret", "demo/", "./demo", "group", "demo%00"):
        assert client.get("/", params={"run": name}).status_code == 404
    demo = {"run": "demo"}
    for model in ("../../secret", "/etc", "..", "sft"):
        with_model = client.get("/trajectory", params={**demo, "id": "x", "model": model})
        assert with_model.status_code == 404
    for snapshot in ("../x", "none"):
        assert client.get("/library", params={**demo, "snapshot": snapshot}).status_code == 404


def test_links_to_folders_are_not_followed(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(runs, target_is_directory=True)
    assert Places([tmp_path]).all() == {}
