"""``swefuse library convert``, ``import``, ``export`` and ``formats``: trajectories in the formats of other projects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swefuse.cli.common import ConfigOption, JsonOption, SetOption, example, extras, prepare, print_json, say
from swefuse.cli.console import stage_progress
from swefuse.cli.gate import WorkersOption, context_of
from swefuse.cli.library import LibraryArgument, not_empty
from swefuse.cli.selecting import filtered
from swefuse.errors import DataError, UserError

if TYPE_CHECKING:
    from swefuse.library.formats.base import Format
    from swefuse.library.formats.convert import Loaded, Saved
    from swefuse.library.formats.transcript import Transcript
    from swefuse.library.store import Entry, Filter, Library
    from swefuse.records import Task

_BATCH = 200
_TO = typer.Option("--to", metavar="FORMAT", help="Format to write; 'swefuse library formats' lists them.")
_FROM = Annotated[str, typer.Option("--from", metavar="FORMAT", help="Format to read; by default found out by what is there.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the group of libraries."""
    app.command(
        "convert",
        epilog=example(
            "swefuse library convert run.traj rows.jsonl --to openai", "swefuse library convert rows.jsonl data --to trl"
        ),
    )(convert)
    app.command("import", epilog=example("swefuse library import mine.db output.jsonl --tasks tasks.jsonl"))(import_)
    app.command("export", epilog=example("swefuse library export mine.db rows.jsonl --to trl --split train"))(export)
    app.command("formats", epilog=example("swefuse library formats"))(formats)


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File of trajectories, or a folder of such files.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write (.jsonl, .json, .parquet), or a folder.")],
    to: Annotated[str, _TO] = "swefuse",
    from_: _FROM = "",
    as_json: JsonOption = False,
) -> None:
    """Write trajectories in another format, and say what that cannot carry. Nothing is written when a row cannot be read."""
    from swefuse.library.formats import format_named
    from swefuse.library.formats.convert import load, save

    target = format_named(to)
    _not_over(out, source)
    loaded = load(source, from_)
    saved = save(out, target, loaded.transcripts, loaded.format)
    about = {"from": loaded.format.name, "evidence": loaded.evidence, "read": len(loaded.transcripts), "notes": loaded.notes}
    if as_json:
        print_json({**about, **_summary(saved, target, out)})
        return
    say(f"{len(loaded.transcripts)} read as {loaded.format.name} ({loaded.evidence})")
    for note, count in loaded.notes.items():
        say(f"{count:7}  {note}")
    say("\n".join(_told(saved, target, out)))


def _not_over(out: Path, source: Path) -> None:
    if out.exists() and source.exists() and out.samefile(source):
        raise UserError(f"{out}: this is also what is read; name another")


def _summary(saved: Saved, to: Format, out: Path) -> dict[str, Any]:
    files = [str(file) for file in saved.files]
    return {"to": to.name, "out": str(out), "written": saved.written, "exact": saved.exact, "files": files, "lost": saved.lost}


def _told(saved: Saved, to: Format, out: Path) -> Iterator[str]:
    exact = f", {saved.exact} of them exactly as they were read" if saved.exact else ""
    yield f"{saved.written} written to {out} as {to.name}{exact}"
    if saved.lost:
        yield f"what {to.name} does not hold:"
    yield from (f"{count:7}  {what}" for what, count in saved.lost.items())


def import_(
    lib: Annotated[
        Path, typer.Argument(metavar="LIB", help="File of a library; it is made where there is none.", callback=not_empty)
    ],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of trajectories, or folders of such files.")],
    tasks: Annotated[
        list[Path] | None, typer.Option("--tasks", metavar="FILE", help="A tasks.jsonl with their tasks; may be given again.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Accept what cannot be verified, if the other checks do, so that it is trained on.")
    ] = False,
    from_: _FROM = "",
    config: ConfigOption = None,
    overrides: SetOption = None,
    workers: WorkersOption = 2,
    as_json: JsonOption = False,
) -> None:
    """Take in trajectories of others. Where the task is known the patch is verified; what cannot be is refused as unverified.

    Exits with 1 when none is accepted.
    """
    from swefuse.library.exchange import adopt, judged, known_by
    from swefuse.library.formats.convert import load
    from swefuse.library.gate import find_check
    from swefuse.library.settings import GateConfig
    from swefuse.library.store import Library
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.verify import init_worker

    settings = prepare(GateConfig, config, overrides or ())
    for name in settings.checks:
        find_check(name)
    known = known_by(_tasks(tasks or ()))
    loaded = [load(file, from_) for file in files]
    incoming = [adopt(one, each.format.name, known) for each in loaded for one in each.transcripts]
    counts: Counter[str] = Counter(accepted=0, refused=0, unverified=0)
    reasons: Counter[str] = Counter()
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO),), chunk=8)
    with Library(lib, create=True) as library, pool as executor, stage_progress("import", quiet=as_json) as progress:
        library.check_writable()
        context = context_of(library, settings)
        for at in range(0, len(incoming), _BATCH):
            batch = incoming[at : at + _BATCH]
            entries = judged(batch, executor, context, trust)
            library.add_many(entries)
            context.held.stored()
            counts.update("accepted" if entry.decision.accepted else "refused" for entry in entries)
            counts["unverified"] += sum(one.candidate is None for one in batch)
            reasons.update(reason for entry in entries for reason in entry.decision.reasons)
            progress(min(at + _BATCH, len(incoming)), len(incoming))
    _tell_import(list(zip(files, loaded, strict=True)), counts, reasons, trust, as_json)
    if not counts["accepted"]:
        raise typer.Exit(1)


def _tell_import(
    loaded: Sequence[tuple[Path, Loaded]], counts: Counter[str], reasons: Counter[str], trust: bool, as_json: bool
) -> None:
    read = [
        {"file": str(file), "from": one.format.name, "evidence": one.evidence, "read": len(one.transcripts), "notes": one.notes}
        for file, one in loaded
    ]
    if as_json:
        trusted = counts["accepted"] if trust else 0
        print_json({"read": read, **counts, "trusted": trusted, "reasons": dict(reasons.most_common(20))})
        return
    for row in read:
        say(f"{row['read']} read from {row['file']} as {row['from']} ({row['evidence']})")
    say("\n".join(_import_told(counts, reasons, trust)))


def _import_told(counts: Counter[str], reasons: Counter[str], trust: bool) -> Iterator[str]:
    yield f"{counts['accepted']:7}  accepted"
    yield f"{counts['refused']:7}  refused, and kept with the reasons"
    if counts["unverified"]:
        how = "decided on without their tests, since --trust was given" if trust else "never trained on; --trust accepts such"
        yield f"{counts['unverified']:7}  unverified, {how}"
    yield from (f"{'':9}{count:7}  {reason}" for reason, count in reasons.most_common(10))


def _tasks(paths: Sequence[Path]) -> list[Task]:
    from swefuse.tasks.store import load_tasks

    return [task for path in paths for task in load_tasks(path / "tasks.jsonl" if path.is_dir() else path)]


@filtered
def export(
    lib: LibraryArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write (.jsonl, .json, .parquet), or a folder.")],
    which: Filter,
    to: Annotated[str, _TO] = "swefuse",
    model: Annotated[
        Path | None, typer.Option("--model", metavar="DIR", help="For trl-ids: the model whose tokens are meant.")
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="For trl-ids: compact or tools; by default as for training.")] = "",
    snapshot: Annotated[str | None, typer.Option("--snapshot", metavar="NAME", help="Only what this snapshot holds.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write trajectories of a library for another trainer, accepted ones unless --refused is given; say what is not carried.

    Formats of preference take, task by task, accepted trajectories with such as failed.
    """
    from swefuse.library.exchange import preferences, transcribed
    from swefuse.library.formats import format_named
    from swefuse.library.formats.convert import save
    from swefuse.library.store import Library

    target = format_named(to)
    if (model is not None or dialect) and "ids" not in target.needs:
        raise UserError(f"--model and --dialect have no effect on {to}: they are for trl-ids, whose rows are tokens")
    if "ids" in target.needs and model is None:
        raise UserError(f"--to {to} writes tokens: name the model with --model")
    _not_over(out, lib)
    with Library(lib if snapshot is None else lib.with_name(f"{lib.name}@{snapshot}")) as library:
        if "rejected" in target.needs:
            found = list(preferences(_entries(library, which)))
        else:
            entries = _entries(library, which if which.accepted is not None else _accepted(which))
            found = (
                _tokens(entries, model, dialect) if model else [transcribed(entry, "entry" in target.carries) for entry in entries]
            )
    if not found:
        raise DataError(f"{lib}: nothing to write as {to}; 'swefuse library list' with the same options shows what there is")
    saved = save(out, target, found)
    if as_json:
        print_json(_summary(saved, target, out))
    else:
        say("\n".join(_told(saved, target, out)))


def _accepted(which: Filter) -> Filter:
    return replace(which, accepted=True)


def _entries(library: Library, which: Filter) -> Iterator[Entry]:
    return (library.get(summary.trajectory_id) for summary in library.query(which))


def _tokens(entries: Iterator[Entry], model: Path, dialect: str) -> list[Transcript]:
    """Rows of tokens with the mask that our own training would use."""
    with extras():
        from swefuse.learn.examples import make_example
        from swefuse.learn.model import load_tokenizer
        from swefuse.learn.tokens import codec_for
    from swefuse.library.formats.transcript import Transcript

    codec = codec_for(load_tokenizer(model), dialect)
    found = []
    for entry in entries:
        row = make_example(codec, entry.task, entry.trajectory)
        trained = set(row.positions)
        mask = tuple(int(at in trained) for at in range(len(row.ids)))
        found.append(Transcript(id=entry.trajectory.id, ids=row.ids, mask=mask))
    return found


def formats(as_json: JsonOption = False) -> None:
    """List the formats with what each of them carries and what it does not."""
    from swefuse.library.formats import FORMATS
    from swefuse.library.formats.transcript import FEATURES

    if as_json:
        print_json({
            name: {"about": one.about, "file": one.suffix, "one_per_file": one.whole, "carries": sorted(one.holds),
                   "not": [feature for feature in FEATURES if feature not in one.holds], "needs": list(one.needs)}
            for name, one in FORMATS.items()
        })  # fmt: skip
        return
    for name, one in FORMATS.items():
        say(f"{name:18} {one.about} ({'one a file' if one.whole else 'one a line'}, {one.suffix})")
        say(f"{'':18}   carries {', '.join(feature for feature in FEATURES if feature in one.holds)}")
        if missing := [feature for feature in FEATURES if feature not in one.holds]:
            say(f"{'':18}   not     {', '.join(missing)}")
