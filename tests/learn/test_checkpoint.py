"""States that a stopped run goes on from."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from swefuse.errors import ConfigError, DataError
from swefuse.learn.checkpoint import check_same, load_state, save_state


def state(number: int) -> dict[str, object]:
    return {"done": number, "weights": torch.full((3,), float(number)), "settings": {"lr": 0.1}}


def test_the_newest_state_comes_back(tmp_path: Path) -> None:
    place = tmp_path / "state.pt"
    assert load_state(place) is None
    for number in (1, 2, 3):
        save_state(place, state(number))
    found = load_state(place)
    assert found is not None and found["done"] == 3 and torch.equal(found["weights"], torch.full((3,), 3.0))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state.pt", "state.pt.old"]


@pytest.mark.parametrize("cut", [0, 40, 200])
def test_a_damaged_state_falls_back_to_the_one_before(tmp_path: Path, cut: int) -> None:
    place = tmp_path / "state.pt"
    save_state(place, state(1))
    save_state(place, state(2))
    body = bytearray(place.read_bytes())
    body[-cut or 20 : (-cut or 20) + 4] = b"????"
    place.write_bytes(bytes(body) if cut else b"")
    found = load_state(place)
    assert found is not None and found["done"] == 1
    (tmp_path / "state.pt.old").write_bytes(b"also gone")
    with pytest.raises(DataError, match="is damaged, and so is the state before it"):
        load_state(place)


def test_a_state_of_other_settings_is_refused(tmp_path: Path) -> None:
    check_same(tmp_path, state(1), "settings", {"lr": 0.1})
    with pytest.raises(ConfigError, match="made with other settings"):
        check_same(tmp_path, state(1), "settings", {"lr": 0.2})
