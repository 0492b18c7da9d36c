"""Does a trajectory say again what another one says?"""

from __future__ import annotations

from collections.abc import Sequence

from swefuse.library.context import USUAL, Context
from swefuse.records import Task, Trajectory, Verdict


def repeats(task: Task, trajectory: Trajectory, verdict: Verdict, context: Context = USUAL) -> str | None:
    """It is no near-duplicate of what was accepted before.

    Of one task: the same final files, whatever the names of variables, reached by the same looks and nearly the same words. Of
    several tasks: the same edit in the same surroundings for the same instruction, in nearly the same text. Distinct tasks are not
    alike by being of one function, nor are two ways to one solution that look at things in another order.

    Example: the trajectory of another sample, word for word -> ``repeats 3f9c1e7a20b44d5c8e61, which solves the same task …``.
    """
    found = context.held.repeated(task, trajectory, context.settings.similar)
    return None if found is None else f"repeats {found}"


def repeated(batch: Sequence[tuple[Task, Trajectory, Verdict]], good: Sequence[bool], context: Context) -> list[str | None]:
    """``repeats`` for a batch, of which the first of each family is kept: what is ``good`` otherwise joins the context.

    The first one is that with the smallest trajectory id, so that the order of the batch makes no difference.
    """
    answers: list[str | None] = [None] * len(batch)
    for at in sorted(range(len(batch)), key=lambda at: (batch[at][1].id, at)):
        answers[at] = repeats(*batch[at], context)
        if good[at] and answers[at] is None:
            context.held.add(*batch[at][:2])
    return answers
