"""From options to a config, and missing extras."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from swefuse.cli.common import extras, option, prepare
from swefuse.errors import ConfigError, MissingExtraError, UserError


class Demo(BaseModel):
    seed: int = Field(0, description="Seed.")
    base: str = Field("nano", description="Model.")


def test_options_keep_their_type_and_text() -> None:
    odd = 'a "b", base = 1 #c'
    assert prepare(Demo, None, [*option("seed", 3), *option("base", odd)]) == Demo(seed=3, base=odd)
    assert prepare(Demo, None, option("base", Path("12"))).base == "12"
    assert option("seed", None) == []


def test_an_option_and_a_setting_for_one_key_are_refused() -> None:
    with pytest.raises(ConfigError, match="'seed' is set twice"):
        prepare(Demo, None, [*option("seed", 3), "seed=4"])


def test_what_is_wrong_names_the_option_that_gave_it() -> None:
    class Needy(Demo):
        model_config = ConfigDict(extra="forbid")
        name: str = Field(description="Name.")

    for given, said in (
        ([], "--endpoint name=VALUE$"),
        (["nmae=x"], "^--endpoint nmae=x: there is no setting"),
        (["name="], "^--endp"),
    ):
        with pytest.raises(ConfigError, match=said):
            prepare(Needy, None, given, option="--endpoint")
    with pytest.raises(ConfigError, match="--set name=VALUE, or in the config file"):
        prepare(Needy, None, [])


def test_a_sandbox_that_there_is_not_is_the_users_matter(tmp_path: Path) -> None:
    class Boxed(BaseModel):
        sandbox: str = Field("auto", description="Sandbox.")

    assert prepare(Boxed, None, ["sandbox=local"]).sandbox == "local"
    for name, said in (
        ("locl", "did you mean 'local'"),
        ("json:Sandbox", "cannot be loaded"),
        ("json:JSONDecoder", "it lacks run"),
    ):
        with pytest.raises(UserError, match=said):
            prepare(Boxed, None, [f"sandbox={name}"], tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_that_cannot_be_made_is_the_users_matter(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"--out .*file/run: the folder cannot be made"):
        prepare(Demo, None, [], tmp_path / "file" / "run")
    prepare(Demo, None, [], tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_refused_config_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        prepare(Demo, None, ["sed=1"], tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_extra_becomes_the_pip_line() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'swe-fuse\[train\]'"), extras():
        raise ModuleNotFoundError("no torch", name="torch.nn")
    with pytest.raises(ModuleNotFoundError, match="ours"), extras():
        raise ModuleNotFoundError("ours", name="swefuse.nothing")
