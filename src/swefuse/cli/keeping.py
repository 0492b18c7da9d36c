"""``swefuse library split``, ``stats``, ``merge`` and ``gc``: a library as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swefuse.cli.common import JsonOption, example, output_file, print_json, say
from swefuse.cli.library import LibraryArgument
from swefuse.errors import UserError

if TYPE_CHECKING:
    from swefuse.library.entries import Spread, Stats

_SPLIT = "swefuse library split mine.db --by function --shares train=0.9,test=0.1"
_STATS = "swefuse library stats runs/quickstart/library.db"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the group of libraries."""
    app.command("split", epilog=example(_SPLIT, "swefuse library split mine.db --by repository"))(split)
    app.command("stats", epilog=example(f"{_STATS} --json", f"{_STATS} --page library.html"))(stats)
    app.command("merge", epilog=example("swefuse library merge all.db a.db b.db"))(merge)
    app.command("gc", epilog=example("swefuse library gc mine.db", "swefuse library gc mine.db --superseded"))(gc)


def split(
    lib: LibraryArgument,
    by: Annotated[str, typer.Option("--by", metavar="UNIT", help="What is never divided: repository or function.")],
    shares: Annotated[str, typer.Option("--shares", metavar="NAME=SHARE,...", help="The parts; the shares add up to 1.")],
    seed: Annotated[int, typer.Option("--seed", help="Of the draws.")] = 0,
    anew: Annotated[bool, typer.Option("--anew", help="Forget the split that there is.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Divide a library into parts that share no repository, or no function and nothing nearly like it.

    What has a part keeps it. Run it again after trajectories were added: new functions or repositories get their part then.
    """
    from swefuse.library.store import Library

    with Library(lib) as library:
        made = library.split(by, parsed(shares), seed, anew)
    if as_json:
        print_json(asdict(made))
        return
    for part, units in made.units.items():
        say(f"{part:16} {units:7} units {made.entries[part]:8} trajectories")
    say(f"{made.placed} units got their part now; {made.apart} are in none, being too much like those of several parts")


def parsed(shares: str) -> dict[str, float]:
    """``train=0.9,test=0.1`` as a table. Raises UserError."""
    found: dict[str, float] = {}
    for item in shares.split(","):
        name, _, share = (word.strip() for word in item.partition("="))
        try:
            value = float(share)
        except ValueError:
            raise UserError(f"--shares {shares}: {item!r} is no NAME=SHARE, such as train=0.9") from None
        if name in found:
            raise UserError(f"--shares {shares}: {name} is named twice")
        found[name] = value
    return found


def stats(
    lib: LibraryArgument,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write them as a page that needs no network, too.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count what was accepted and refused, by kind, source, split, bug and maker, and by reason; how long and how different."""
    from swefuse.library.store import Library

    target = None if page is None else output_file(page, lib, option="--page")
    with Library(lib) as library:
        counts, fingerprint, found = library.stats(), library.fingerprint(), library.snapshots()
    if target is not None:
        from swefuse.evaluate.library_page import build
        from swefuse.tasks.store import save_lines

        save_lines(target, [build(lib.name, counts, fingerprint, found)])
    if as_json:
        print_json({**asdict(counts), "fingerprint": fingerprint})
    else:
        say(f"{counts.accepted} accepted, {counts.refused} refused; fingerprint of the accepted ones {fingerprint[:16]}")
        say("\n".join(tabulate(counts)))


def tabulate(counts: Stats) -> Iterator[str]:
    """Counts as lines of text."""
    for name, values in counts.by.items():
        yield f"\n{name:24}accepted   refused"
        yield from (f"  {value or '(none)':22}{accepted:8}  {refused:8}" for value, (accepted, refused) in values.items())
    yield "\nrefused by"
    yield from (f"  {check:22}{'':8}  {count:8}" for check, count in counts.reasons.items())
    yield "\nof the accepted ones       least    median  9 in 10 below  greatest      mean"
    for name, spread in (("steps", counts.steps), ("characters", counts.characters)):
        yield f"  {name:22}{_spread(spread)}"
    yield "\ndifferent, of the accepted ones"
    yield from (f"  {name:22}{count:8}" for name, count in counts.diversity.items())
    if counts.tags:
        yield "\ntags"
        yield from (f"  {name:22}{count:8}" for name, count in counts.tags.items())


def _spread(spread: Spread) -> str:
    return f"{spread.least:8}  {spread.median:8}  {spread.ninety:13}  {spread.greatest:8}  {spread.mean:8.1f}"


def merge(
    into: Annotated[Path, typer.Argument(metavar="INTO", help="File of a library; it is made where there is none.")],
    others: Annotated[list[Path], typer.Argument(metavar="LIB...", help="Libraries whose trajectories go into it.")],
    as_json: JsonOption = False,
) -> None:
    """Bring other libraries into one: decisions, tags and snapshots. They stay as they are; doing it again changes nothing."""
    from swefuse.library.store import Library

    for other in others:
        if other.exists() and into.exists() and other.samefile(into):
            raise UserError(f"{other} cannot be merged into itself")
        Library(other).close()  # before anything is made
    rows = {}
    with Library(into, create=True) as library:
        for other in others:
            with Library(other) as given:
                rows[str(other)] = library.merge(given)
    if as_json:
        print_json({name: asdict(row) for name, row in rows.items()})
        return
    for name, row in rows.items():
        say(f"{name}: {row.added} entries came in, {row.known} were there; {row.disputed} were judged differently here")
        for old, new in row.snapshots.items():
            say(f"  snapshot {old}" + ("" if old == new else f" is {new} here: another has its name"))


def gc(
    lib: LibraryArgument,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Also remove entries that were judged again later and are in no snapshot.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove what nobody refers to, and give the room back to the disk."""
    from swefuse.library.store import Library

    with Library(lib) as library:
        freed = library.gc(superseded)
    if as_json:
        print_json(asdict(freed))
    else:
        say(f"removed {freed.entries} entries and {freed.bodies} bodies; the file is {freed.bytes:,} bytes smaller")
