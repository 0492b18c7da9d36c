"""What the quickstart says about a folder that it cannot go on with. The run itself is in test_end_to_end.py."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from swefuse.config import dump
from swefuse.errors import ConfigError, DataError
from swefuse.recipes.config import QuickstartConfig
from swefuse.recipes.quickstart import run
from swefuse.recipes.steps import STEPS

CONFIG = QuickstartConfig(budget="smoke", seed=3)
ALL_DONE = json.dumps({"done": dict.fromkeys(STEPS, 0.5), "peak_rss_mb": 1.0})


def finished(folder: Path, config: QuickstartConfig = CONFIG) -> Path:
    """A folder in which every step is marked as done."""
    folder.mkdir(parents=True)
    (folder / "state.json").write_text(ALL_DONE)
    (folder / "config.toml").write_text(dump(config))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refused(config: QuickstartConfig, folder: Path, resume: bool, kind: type[Exception], message: str) -> None:
    before = contents(folder)
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        run(config, folder, resume)
    assert contents(folder) == before


def test_a_finished_run_is_resumed_without_doing_anything(tmp_path: Path) -> None:
    out = finished(tmp_path / "run")
    before = contents(out)
    assert run(CONFIG, out, resume=True) == [out]
    assert contents(out) == before


@pytest.mark.parametrize("left", ["config.toml", "state.json"])
def test_a_folder_that_holds_a_run_is_not_taken_for_another(tmp_path: Path, left: str) -> None:
    out = finished(tmp_path / "run")
    message = f"{out} holds a run already; give another folder, or --resume to go on with this one"
    refused(CONFIG, out, False, ConfigError, message)
    (out / ({"config.toml", "state.json"} - {left}).pop()).unlink()
    refused(CONFIG, out, False, ConfigError, message)


def test_a_run_is_not_resumed_with_other_settings(tmp_path: Path) -> None:
    out = finished(tmp_path / "run")
    start, end = (
        f"{out} was started with other settings ({out}/config.toml: ",
        "); resume with the same ones or give another folder",
    )
    refused(
        QuickstartConfig(budget="smoke", seed=4),
        out,
        True,
        ConfigError,
        f"{start}seed was 3, is 4, tasks.seed was 3, is 4, sft.seed was 3, is 4, rlvr.seed was 3, is 4{end}",
    )
    (out / "config.toml").unlink()
    refused(CONFIG, out, True, ConfigError, f"{start}it is not there{end}")


def test_a_run_goes_on_with_another_number_of_processes(tmp_path: Path) -> None:
    out = finished(tmp_path / "run")
    assert run(CONFIG.model_copy(update={"workers": 7}), out, resume=True) == [out]


@pytest.mark.parametrize("text", ["", '{"done": {', "[]", "{}", '{"done": [], "peak_rss_mb": 1.0}', '{"done": {}}', "\udcff"])
def test_a_damaged_state_is_named_and_left_alone(tmp_path: Path, text: str) -> None:
    out = finished(tmp_path / "run")
    (out / "state.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    before = contents(out)
    with pytest.raises(
        DataError, match=rf"^{re.escape(str(out))}/state\.json is damaged \(.+\); delete it to run every step again$"
    ):
        run(CONFIG, out, resume=True)
    assert contents(out) == before


def test_every_seed_has_a_folder_with_its_own_seed_everywhere(tmp_path: Path) -> None:
    for seed in (3, 4):
        finished(tmp_path / f"seed-{seed}", QuickstartConfig(budget="smoke", seed=seed))
    with pytest.raises(
        DataError, match=r"seed-3 has no report\.json"
    ):  # both seeds were taken as done; only their summary is missing
        run(QuickstartConfig(budget="smoke", seed=3, seeds=2), tmp_path, resume=True)
