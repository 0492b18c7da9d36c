"""Every fan-out of the project goes through an ``Executor``."""

from swefuse.scale.executor import Executor, InlineExecutor, ProcessExecutor, ThreadExecutor

__all__ = ["Executor", "InlineExecutor", "ProcessExecutor", "ThreadExecutor"]
