"""In which order tasks, locks, generators and finally blocks write to a journal."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, integers, name, one_of, rows, words

GATHER = """
import asyncio
from contextlib import asynccontextmanager


@asynccontextmanager
async def $guard(lock, $who, journal):
    async with lock:
        journal.append(f"$open {$who}")
        try:
            yield
        finally:
            journal.append(f"$close {$who}")


async def $work($who, steps, lock, journal):
    for step in range(steps):
        if step != $at:
            journal.append(f"{$who} {step}")
            await asyncio.sleep(0)
            continue
        async with $guard(lock, $who, journal):
            await asyncio.sleep(0)


async def $run(journal, lock):
    await asyncio.gather(*($work($who, steps, lock, journal) for $who, steps in $pairs))


def $entry():
    asyncio.run($run(journal := [], asyncio.Lock()))
    return journal
"""
ROUND = """
from collections import deque


def $guard(steps, $who, journal):
    try:
        yield from steps
        journal.append(f"$close {$who}")
    finally:
        journal.append(f"$open {$who}")


def $work($who, steps, journal):
    for step in range(steps):
        try:
            yield step
        except GeneratorExit:
            journal.append(f"{$who} stop")
            raise
        if step != $at:
            journal.append(f"{$who} {step}")


def $entry():
    journal = []
    $run = deque()
    $run.extend($guard($work($who, steps, journal), $who, journal) for $who, steps in $pairs)
    for _ in range($turns):
        one = $run.popleft() if $run else iter(())
        if next(one, None) is not None:
            $run.$push(one)
    while $run:
        $run.$take().close()
    return journal
"""
STACK = """
from contextlib import ExitStack, contextmanager


@contextmanager
def $guard($who, journal, hide):
    journal.append(f"$open {$who}")
    try:
        yield journal.append
    except ValueError as error:
        journal.append(f"{$who} {error}")
        if not hide:
            raise
    finally:
        journal.append(f"$close {$who}")


def $work($who, steps, journal):
    with ExitStack() as stack:
        for at in range(steps):
            stack.callback(journal.append, f"{$who} {at}")
            if at == $at:
                stack.enter_context($guard(f"{$who}{at}", journal, steps % 2))
        if steps > $at:
            raise ValueError(steps)


def $entry():
    $run = []
    for $who, steps in $pairs:
        try:
            $work($who, steps, $run)
        except ValueError as error:
            $run.append(f"failed {error}")
        $run.append($who)
    return $run
"""


def _pairs(values: Values) -> Values:
    rng = random.Random(values["seed"])
    people, longest = 2 if "Stack" in values["shape_code"] else 3, rng.randrange(4)
    return {"pairs": [(values[f"people_{at}"], 2 + (at == longest)) for at in range(people)]}


TEMPLATE = Template(
    kind=Kind.QA,
    domain="concurrency",
    instruction="$ask `$entry()` of $module.py return? It is the journal, in the order in which its lines are written. Write it as "
    "a Python literal, a list of texts: the function in answer.py must return it.",
    parameters={
        "module": one_of("workers", "turns", "order", "jobs", "loop", "runner", "shifts", "tracks"),
        "entry": name("verb", "thing", "journal"),
        "work": name("verb", "quality", "thing"),
        "run": name("quality", "list"),
        "guard": name("note", "quality", "thing"),
        "who": one_of("who", "label", "owner", "person", "title"),
        "open": one_of("in", "begin", "got", "on", "open"),
        "close": one_of("out", "end", "off", "shut", "left"),
        "push": one_of("append", "appendleft"),
        "take": one_of("pop", "popleft"),
        "people": words("person", 3),
        "at": one_of(0, 1, 2),
        "turns": integers(4, 8),
        "seed": integers(0, 10**9),
        "ask": one_of("Two lines of a log seem to be swapped. What does", "What does", "Without running it: what will"),
        "shape": rows({"code": GATHER.strip()}, {"code": ROUND.strip()}, {"code": STACK.strip()}),
    },
    derive=_pairs,
    files={"$module.py": '"""A journal of who does what."""\n\n$shape_code\n'},
    entry="$module.py:$entry",
    calls=["()"],
    thoughts="I follow whose turn it is, line by line, and what a block still does while it is being left.",
)
