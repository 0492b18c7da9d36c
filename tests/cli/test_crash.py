"""The bundle tells what happened and no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from swefuse.cli import crash


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("--set api_key=hunter2hunter", "hunter2hunter"),
        ('{"hf_token": "hunter2hunter"}', "hunter2hunter"),
        ("Authorization: Bearer hunter2hunter", "hunter2hunter"),
        ("https://me:hunter2hunter@example.org/x", "hunter2hunter"),
        ("the value hunter2hunter was refused", "hunter2hunter"),
    ],
)
def test_secrets_are_blanked_out(text: str, secret: str) -> None:
    clean = crash.scrub(text, {"MY_SECRET": secret} if text.startswith("the value") else {})
    assert secret not in clean and len(clean) > 10


@pytest.mark.parametrize("text", ["vocab tokens: 1024", "key 'seed' = 3", "max_tokens = 256", "PATH=/usr/bin"])
def test_what_is_no_secret_stays(text: str) -> None:
    assert crash.scrub(text, {"PATH": "/usr/bin", "SHORT_KEY": "256"}) == text


def test_the_bundle_holds_config_events_and_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_TOKEN", "hunter2hunter")
    run = tmp_path / "run"
    run.mkdir()
    (run / "events.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(1000)), encoding="utf-8")
    crash.note("out", str(run))
    crash.note("config", "seed = 7\n")
    try:
        raise ValueError("hunter2hunter \ud800")
    except ValueError as error:
        bundle = crash.write_bundle(error, ["train", "--set", "password=hunter2"], tmp_path)
    assert bundle is not None
    texts = {path.name: path.read_text(encoding="utf-8") for path in bundle.iterdir()}
    assert set(texts) == {"traceback.txt", "command.txt", "config.toml", "versions.txt", "events.jsonl"}
    assert "hunter2" not in "".join(texts.values())
    assert "ValueError: [DEMO_TOKEN]" in texts["traceback.txt"]
    assert texts["config.toml"] == "seed = 7\n" and "pydantic==" in texts["versions.txt"]
    assert texts["events.jsonl"].splitlines()[-1] == '{"n": 999}' and len(texts["events.jsonl"].splitlines()) == 200


def test_no_place_to_write_is_no_second_crash(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert crash.write_bundle(ValueError("x"), [], tmp_path / "file") is None
