"""A sandbox is taken because it held, and a weaker one only by somebody's word."""

from __future__ import annotations

import logging

import pytest

from swefuse.errors import SandboxError
from swefuse.sandbox.choose import LADDER, _chosen, resolve, trial
from swefuse.sandbox.local import LocalSandbox, weak_sandbox

LEAKY = "test_choose:Leaky"


class Leaky(LocalSandbox):
    """A sandbox that lets a variable of the caller's through: every worker starts with it."""

    def _begin(self, settings, walls, channel):  # type: ignore[no-untyped-def]
        import swefuse.sandbox.local as local

        clean = local.ENVIRONMENT
        local.ENVIRONMENT = {**clean, "SECRET": "1"}
        try:
            return super()._begin(settings, walls, channel)
        finally:
            local.ENVIRONMENT = clean


def test_the_first_that_holds_is_taken_and_explicit_names_are_not_touched() -> None:
    assert resolve("auto") == LADDER[0] == "local"
    assert resolve("package.module:Class") == "package.module:Class"


def test_a_sandbox_that_leaks_is_found_out_and_passed_over_aloud(caplog: pytest.LogCaptureFixture) -> None:
    assert "environment_is_clean" in trial(LEAKY) and "SECRET" in trial(LEAKY)
    with caplog.at_level(logging.WARNING):
        assert _chosen(False, (LEAKY, "local"), ()) == "local"
    assert "'local', because test_choose:Leaky: environment_is_clean" in caplog.text


def test_no_weak_one_is_taken_unless_it_is_allowed(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(SandboxError, match=r"no sandbox holds untrusted code here \(test_choose:Leaky.*allow a weak sandbox"):
        _chosen(False, (LEAKY,), ("local-weak",))
    with caplog.at_level(logging.WARNING):
        assert _chosen(True, (LEAKY,), ("local-weak",)) == "local-weak"
    assert "WEAK SANDBOX" in caplog.text
    with pytest.raises(SandboxError, match="not even a weak one"):
        _chosen(True, (LEAKY,), ())


def test_the_weak_name_takes_the_best_walls_there_are() -> None:
    with weak_sandbox() as sandbox:
        sandbox.start()
        assert (sandbox.level, sandbox.lack) == ("full", "")
