"""Is a trajectory of a length that can be trained on?"""

from __future__ import annotations

from swefuse.library.context import USUAL, Context
from swefuse.records import Task, Trajectory, Verdict


def length(task: Task, trajectory: Trajectory, verdict: Verdict, context: Context = USUAL) -> str | None:
    """Steps, the characters of one message, of one observation and of all, and recorded tokens keep to the settings' limits.

    Example: an endless loop that prints -> ``step 7: its observation has 900000 characters, more than 50000``.
    """
    limits = context.settings
    if len(trajectory.steps) > limits.steps:
        return f"{len(trajectory.steps)} steps, more than {limits.steps}"
    for number, step in enumerate(trajectory.steps, 1):
        for name, text, most in (("observation", step.observation, limits.observation), ("message", step.raw, limits.message)):
            if len(text) > most:
                return f"step {number}: its {name} has {len(text)} characters, more than {most}"
    characters = sum(len(step.raw) + len(step.observation) for step in trajectory.steps)
    if characters > limits.characters:
        return f"{characters} characters in all, more than {limits.characters}"
    tokens = sum(len(step.trace.token_ids) for step in trajectory.steps if step.trace)
    return f"{tokens} tokens written, more than {limits.tokens}" if tokens > limits.tokens else None
