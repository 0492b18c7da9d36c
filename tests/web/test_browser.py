"""The app in a real browser: what it draws, how it is used, and that its console stays silent."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from web_samples import folder_of_runs, rounds

from swefuse.library.store import Filter, Library
from swefuse.web.app import create_app

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium"),
]
PAGES = ("/", "/?run=demo", "/library?run=demo", "/library/map?run=demo", "/pairs?run=demo", "/entropy?run=demo", "/tasks?run=demo",
         "/verifier?run=demo", "/compare?run=demo&run=group%2Fsecond&base=demo%3Asft", "/nothing")  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = folder_of_runs(tmp_path_factory.mktemp("served") / "runs")
    server = uvicorn.Server(uvicorn.Config(create_app([folder]), port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}", folder
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


class Tab:
    """A page of the browser, and what its console complained of."""

    def __init__(self, browser: Any, base: str, **how: Any) -> None:
        self.complaints: list[str] = []
        self.base, self.page = base, browser.new_context(**how).new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", self.heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, address: str) -> Any:
        self.page.goto(self.base + address)
        return self.page


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_every_page_fits_in_light_and_dark_without_complaint(
    browser: Any, served: tuple[str, Path], width: int, scheme: str
) -> None:
    base, folder = served
    with Library(folder / "demo" / "library.db") as library:
        one = next(library.query(Filter(accepted=True)))
    tab = Tab(browser, base, viewport={"width": width, "height": 844}, color_scheme=scheme)
    more = (f"/trajectory?run=demo&id={one.trajectory_id}", f"/task?run=demo&id={one.task_id}", "/pair?run=demo&at=0")
    for address in (*PAGES, *more):
        page = tab.open(address)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{address} is wider than {width}"
        light = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] > 128")
        assert light == (scheme == "light"), address
        assert page.locator("h1").count() == 1
    assert [text for text in tab.complaints if "404" not in text] == []


def test_a_run_at_work_is_drawn_again_by_itself(browser: Any, served: tuple[str, Path]) -> None:
    base, folder = served
    tab = Tab(browser, base)
    page = tab.open("/?run=group%2Fsecond")
    assert "2 of 3" in page.content()
    log = folder / "group" / "second" / "rlvr" / "metrics.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rounds(3)))
    page.get_by_text("3 of 3").first.wait_for()
    assert page.locator("[data-plot]").count() >= 5
    plot = page.locator(".area").first
    plot.focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".reading").count() == 1, "a chart that came by itself answers to the arrow keys"
    assert tab.complaints == []


def test_filters_and_keys_lead_through_a_library(browser: Any, served: tuple[str, Path]) -> None:
    tab = Tab(browser, served[0])
    page = tab.open("/library?run=demo")
    page.keyboard.press("/")
    page.keyboard.type("double")
    page.select_option("select[name=state]", "refused")
    page.keyboard.press("/")
    page.locator("button", has_text="Search").click()
    page.wait_for_url("**state=refused**")
    assert "q=double" in page.url and page.locator("[data-item]").count() == 3
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator("[data-item].here").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_url("**/trajectory?**")
    page.keyboard.press("o")
    assert page.evaluate("[...document.querySelectorAll('main details')].every((one) => one.open)")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    page.keyboard.press("5")
    page.wait_for_url("**/tasks?**")
    assert tab.complaints == []


def test_weights_follow_a_slider_and_the_address_follows_them(browser: Any, served: tuple[str, Path]) -> None:
    from playwright.sync_api import expect

    tab = Tab(browser, served[0])
    page = tab.open("/entropy?run=demo&mode=soft&lam=2")
    before = page.locator(".facts").inner_text()
    page.locator("input[name=lam]").focus()
    page.keyboard.press("End")
    expect(page.locator(".facts")).not_to_have_text(before, use_inner_text=True, timeout=60_000)
    assert "lam=2&" not in page.url and "mode=soft" in page.url
    after = page.locator(".facts").inner_text()
    page.reload()
    assert page.locator(".facts").inner_text() == after, "the address alone tells the same"
    assert tab.complaints == []


def test_runs_are_chosen_by_ticking(browser: Any, served: tuple[str, Path]) -> None:
    tab = Tab(browser, served[0])
    page = tab.open("/?run=demo")
    page.check("input[value='group/second']")
    page.locator("button", has_text="Lay over each other").click()
    page.wait_for_url("**run=group%2Fsecond**")
    assert page.locator(".legend").first.locator("li").count() == 2
    assert tab.complaints == []
