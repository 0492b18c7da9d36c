"""Every fan-out of the project goes through an ``Executor``."""

from swefuse.scale.executor import Executor, InlineExecutor, ProcessExecutor

__all__ = ["Executor", "InlineExecutor", "ProcessExecutor"]
