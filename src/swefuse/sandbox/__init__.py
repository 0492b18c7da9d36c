"""Run untrusted code: one seam (``Sandbox``), a name table, and a dotted path for other people's."""

from __future__ import annotations

import importlib

from swefuse.errors import ConfigError, nearest
from swefuse.sandbox.base import Job, Output, Sandbox, SandboxReport

SANDBOXES = {
    "local": "swefuse.sandbox.local:LocalSandbox",
    "bwrap": "swefuse.sandbox.bwrap:BwrapSandbox",
    "podman": "swefuse.sandbox.container:ContainerSandbox",
    "docker": "swefuse.sandbox.container:docker",
    "landlock": "swefuse.sandbox.local:landlock_sandbox",
    "local-weak": "swefuse.sandbox.local:weak_sandbox",
}

__all__ = ["SANDBOXES", "Job", "Output", "Sandbox", "SandboxReport", "open_sandbox"]


def open_sandbox(name: str) -> Sandbox:
    """A new sandbox by name, or by ``package.module:Class``. Raises ConfigError when there is no such thing."""
    target = SANDBOXES.get(name, name)
    module, colon, attribute = target.partition(":")
    if not colon:
        raise ConfigError(f"there is no sandbox {name!r}{nearest(name, SANDBOXES)}; your own: 'package.module:Class'")
    try:
        made: Sandbox = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError) as error:
        raise ConfigError(f"the sandbox {name!r} cannot be loaded: {error}") from error
    lacks = [part for part in ("run", "close", "__enter__", "__exit__") if not hasattr(made, part)]
    if lacks:
        raise ConfigError(f"{name!r} is no sandbox: it lacks {', '.join(lacks)}; see swefuse.sandbox.base.Sandbox")
    return made
