"""Strict settings: what is taken, what is refused and how the refusal reads."""

from __future__ import annotations

import json
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from swefuse.config import OnlyAbove, OnlyWhen, Setting, apart, changed, dump, fields, load
from swefuse.errors import ConfigError


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Weight(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    mode: Literal["off", "soft", "hard"] = Field("off", description="How pairs are weighted.")
    strength: Annotated[float, OnlyWhen("mode", "soft")] = Field(2.0, ge=0, description="Exponent of the weight.")


class Inner(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    weight: Weight = Field(default_factory=Weight, description="Weights.")
    rate: float = Field(1e-4, gt=0, description="Learning rate.")


class Demo(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    seed: int = Field(0, ge=0, le=2**31, description="Same seed, same result.")
    base: str = Field("nano", description="Model.")
    shuffle: bool = Field(True, description="Shuffle.")
    out: Path | None = Field(None, description="Where to.")
    splits: tuple[str, ...] = Field(("a",), description="Splits.")
    colour: Colour = Field(Colour.RED, description="Colour.")
    extra: dict[str, int] = Field(default_factory=dict, description="Anything.")
    train: Inner = Field(default_factory=Inner, description="Training.")


class Needy(BaseModel):
    tasks: Path = Field(description="Folder of tasks.")


def refusal(*overrides: str, path: Path | None = None, model: type[BaseModel] = Demo) -> str:
    with pytest.raises(ConfigError) as caught:
        load(model, path, overrides)
    return str(caught.value)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "demo.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_file_and_overrides_in_that_order(tmp_path: Path) -> None:
    path = written(tmp_path, 'seed = 3\nsplits = ["x", "y"]\n[train]\nrate = 1\n')
    config = load(Demo, path, ["seed=4", "train.weight.mode=soft", "train.weight.strength=3", "out=runs/a b", "colour=blue"])
    assert (config.seed, config.splits, config.train.rate, config.shuffle) == (4, ("x", "y"), 1.0, True)
    assert config.train.weight == Weight(mode="soft", strength=3.0)
    assert config.out == Path("runs/a b")
    assert config.colour is Colour.BLUE


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nano", "nano"),
        ("'12'", "12"),
        ("a#b", "a#b"),
        ("/x/y=z", "/x/y=z"),
        ("2026-01-01", "2026-01-01"),
        ("x}, seed = {", "x}, seed = {"),
    ],
)
def test_a_text_value_needs_no_quotes_and_is_never_cut(text: str, value: str) -> None:
    assert load(Demo, None, [f"base={text}"]).base == value


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("sed=1", ["--set sed=1", "'sed'", "did you mean 'seed'"]),
        ("train.rat=1", ["--set train.rat=1", "did you mean 'train.rate'"]),
        ("rate=1", ["'rate'", "did you mean 'train.rate'"]),
        ("seed.x=1", ["--set seed.x=1", "seed", "valid integer"]),
        ("train=1", ["'train' is a section", "weight, rate"]),
        ("seed=-1", ["--set seed=-1", "seed = -1", "greater than or equal to 0"]),
        ("seed=1.5", ["seed = 1.5", "valid integer"]),
        ("seed='1'", ['seed = "1"', "valid integer"]),
        ("shuffle=1", ["shuffle = 1", "valid boolean"]),
        ("seed=1, base=2", ["valid integer"]),
        ("train.weight.mode=sofd", ["train.weight.mode", "did you mean 'soft'"]),
        ("colour=green", ["colour", "'red' or 'blue'"]),
        ("splits=[1", ["--set splits=[1", "not valid TOML"]),
        ("seed=", ["the value is missing"]),
        ("seed", ["KEY=VALUE"]),
        ("train..rate=1", ["KEY=VALUE"]),
        ("train.weight.strength=3", ["no effect", "train.weight.mode", '"soft"', '"off"']),
    ],
)
def test_what_is_refused_names_source_key_and_remedy(override: str, parts: list[str]) -> None:
    message = refusal(override)
    assert [part for part in parts if part not in message] == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sed = 1", ["demo.toml", "did you mean 'seed'"]),
        ("[trian]\nrate = 1", ["demo.toml", "'trian'", "did you mean 'train"]),
        ("[train]\nrate = -1", ["demo.toml: train.rate = -1", "greater than 0"]),
        ("[train.weight]\nstrength = 1", ["demo.toml", "no effect"]),
        ("base = 2026-01-01", ["demo.toml", "'base' is a date"]),
        ("seed = 1\nseed = 2", ["demo.toml", "not valid TOML"]),
    ],
)
def test_a_file_is_held_to_the_same_rules(tmp_path: Path, text: str, parts: list[str]) -> None:
    message = refusal(path=written(tmp_path, text))
    assert [part for part in parts if part not in message] == []


@pytest.mark.parametrize(
    "pair", [("seed=1", "seed=1"), ("train.weight.mode=soft", "train.weight={}"), ("train={}", "train.rate=1")]
)
def test_one_key_is_set_once(pair: tuple[str, str]) -> None:
    assert "is set twice" in refusal(*pair)


def test_every_problem_is_told_at_once() -> None:
    message = refusal("seed=-1", "train.rate=0")
    assert "seed" in message and "train.rate" in message


def test_a_missing_key_says_how_to_give_it() -> None:
    assert "--set tasks=VALUE" in refusal(model=Needy)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    assert "absent.toml: cannot be read" in refusal(path=tmp_path / "absent.toml")


texts = st.text(st.characters(codec="utf-8"))
weights = st.one_of(
    st.builds(Weight, mode=st.sampled_from(["off", "hard"])), st.builds(Weight, mode=st.just("soft"), strength=st.floats(0))
)
demos = st.builds(
    Demo,
    seed=st.integers(0, 2**31),
    base=texts,
    shuffle=st.booleans(),
    out=st.none() | st.just(Path("a/b")),
    splits=st.lists(texts).map(tuple),
    colour=st.sampled_from(Colour),
    extra=st.dictionaries(texts, st.integers(-(2**63), 2**63 - 1)),
    train=st.builds(Inner, weight=weights, rate=st.floats(0, exclude_min=True)),
)


@given(demos)
def test_what_is_dumped_loads_as_the_same(config: Demo) -> None:
    text = dump(config)
    assert Demo.model_validate_json(json.dumps(tomllib.loads(text))) == config


def test_what_differs_from_a_dump_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, dump(Demo()))
    assert changed(file, Demo()) == ""
    assert changed(file, Demo(seed=3)) == "seed was 0, is 3"
    assert changed(tmp_path / "none.toml", Demo()) == "it is not there"
    with pytest.raises(ConfigError, match="is damaged"):
        changed(written(tmp_path, "seed = "), Demo())


def test_tables_apart() -> None:
    one, two = {"a": 1, "b": {"c": 2, "workers": 1}}, {"a": 1, "b": {"c": 3, "workers": 2}, "d": 4, "e": 5, "f": 6, "g": 7}
    assert apart(one, one) == ""
    assert (
        apart(one, two, free=("workers",))
        == "b.c was 2, is 3, d was None, is 4, e was None, is 5, f was None, is 6, g was None, is 7"
    )
    assert apart({}, {str(n): n for n in range(8)}).endswith("5 was None, is 5 and 2 more")


def test_a_dump_of_defaults_is_a_valid_file(tmp_path: Path) -> None:
    text = dump(Demo())
    assert load(Demo, written(tmp_path, text)) == Demo()
    assert "[train.weight]\nmode" in text and "strength" not in text


def test_fields_tell_type_range_default_and_description() -> None:
    listed = fields(Demo)
    assert listed[0] == Setting("seed", f"int, >= 0, <= {2**31}", "0", "Same seed, same result.")
    assert listed[-1] == Setting("train.weight.strength", "float, >= 0", "2.0", "Exponent of the weight.")
    assert fields(Needy) == [Setting("tasks", "path", "", "Folder of tasks.")]
    assert [item.type for item in listed[3:7]] == ["path", "list of text", "Colour", "table of int"]


class Share(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    share: float = Field(0.0, ge=0, description="A share.")
    limit: Annotated[float, OnlyAbove("share")] = Field(0.5, description="Counts where there is a share.")


def test_a_setting_may_count_above_a_bound_alone(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'limit' has no effect, it counts only when share is above 0 "):
        load(Share, None, ["limit=0.1"])
    assert load(Share, None, ["limit=0.1", "share=0.1"]).limit == 0.1
    assert "limit" not in dump(Share()) and "limit = 0.5" in dump(Share(share=0.2))
