"""A format: how a file's value becomes a transcript and a transcript such a value, and what gets lost on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from swefuse.errors import DataError
from swefuse.library.formats.delta import apply, delta, named
from swefuse.library.formats.transcript import FEATURES, Transcript, present, without

Reduced = tuple[Transcript, Counter[str]]
Json = dict[str, Any]


class Sign(NamedTuple):
    """What in a value speaks for a format, and how strongly: 3 where no other has it, 1 where others may."""

    strength: int
    evidence: str


def nothing(transcript: Transcript) -> Reduced:
    """For formats that lose nothing beside the features that they do not carry."""
    return transcript, Counter()


@dataclass(frozen=True, slots=True)
class Format:
    """An outside format.

    ``take(value, where)`` makes a transcript of one trajectory's value and raises DataError naming the place; ``make`` writes the
    plain form of one whose features are all in ``carries`` and that ``reduce`` has brought into the format's shape, telling what it
    lost. ``detect`` answers what in a value speaks for this format, or None. ``whole``: a file holds one
    trajectory, and its name ends with ``suffix``; else one a line. ``needs``: features without which a row says nothing. ``exact``:
    a transcript holds all there is, so that nothing is kept beside it. ``worded``: calls
    are written into the text in the format's own words, as ``reduce`` does.
    """

    name: str
    about: str
    carries: frozenset[str]
    take: Callable[[Any, str], Transcript]
    make: Callable[[Transcript], Any]
    detect: Callable[[Any], Sign | None]
    reduce: Callable[[Transcript], Reduced] = nothing
    finish: Callable[[Any, Any], Any] = lambda plain, full: full
    whole: bool = False
    suffix: str = ".jsonl"
    needs: tuple[str, ...] = ("turns",)
    exact: bool = False
    worded: bool = False

    @property
    def holds(self) -> frozenset[str]:
        """The features that come back as such when a file of the format is read."""
        return self.carries - {"calls", "arguments", "answers"} if self.worded else self.carries

    def reduced(self, transcript: Transcript) -> Reduced:
        """What of a transcript comes back when it is written in this format and read again, and what does not, counted."""
        lost = Counter({name: count for name, count in present(transcript).items() if name not in self.carries})
        if "rejected" in lost:  # its turns go with it
            lost -= present(Transcript(rejected=transcript.rejected)) - Counter(rejected=len(transcript.rejected))
        for name, difference in transcript.extras.items():
            if name != self.name:
                lost["fields"] += sum(named(difference).values())
        kept = without(transcript, self.carries)
        if "arguments" not in self.carries and "calls" in self.carries:
            changed = zip((*transcript.turns, *transcript.rejected), (*kept.turns, *kept.rejected), strict=False)
            pairs = [pair for before, after in changed for pair in zip(before.calls, after.calls, strict=True)]
            lost["arguments"] += sum(before.arguments != after.arguments for before, after in pairs)
        made, more = self.reduce(kept)
        return made, +(lost + more)

    def read(self, value: Any, where: str) -> Transcript:
        """The transcript of a value, with what only this format says of it in ``extras``. Raises DataError."""
        try:
            found = self.take(value, where)
            difference = None if self.exact else delta(self.make(self.reduced(found)[0]), value)
        except RecursionError as error:
            raise DataError(f"{where}: values lie in each other too deeply to be read") from error
        return found if difference is None else found.model_copy(update={"extras": {**found.extras, self.name: difference}})

    def write(self, transcript: Transcript) -> tuple[Any, Counter[str]]:
        """The value of a transcript, and what it does not hold, counted. Raises DataError where it would say nothing."""
        there = present(transcript)
        if lacking := [name for name in self.needs if not there[name]]:
            named_ = transcript.id or transcript.instance or "a trajectory"
            raise DataError(f"{named_} cannot be written as {self.name}: it lacks {', '.join(FEATURES[one] for one in lacking)}")
        kept, lost = self.reduced(transcript)
        plain = self.make(kept)
        return self.finish(plain, apply(plain, transcript.extras.get(self.name))), lost


def words(lost: Mapping[str, int]) -> dict[str, int]:
    """Losses in words, the most frequent first; what is no feature says itself."""
    told = {FEATURES.get(name, name): count for name, count in lost.items()}
    return dict(sorted(told.items(), key=lambda item: (-item[1], item[0])))
