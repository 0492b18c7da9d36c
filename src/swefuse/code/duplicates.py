"""Near-duplicates among many texts: MinHash over runs of five tokens (Broder, On the resemblance and containment of documents,
1997), found through locality-sensitive hashing with the library rensa.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import rensa

SIMILAR = 0.7
RUN = 5
_PERMUTATIONS, _BANDS, _SEED = 128, 16, 0
_TOKEN = re.compile(r"\w+|[^\w\s]")


def shingles(text: str) -> list[str]:
    """Every run of RUN tokens (words, numbers, single signs), each once; of a shorter text all of it."""
    tokens = _TOKEN.findall(text)
    return sorted({" ".join(tokens[at : at + RUN]) for at in range(max(1, len(tokens) - RUN + 1))})


def similarity(left: str, right: str) -> float:
    """Exact Jaccard similarity of the shingles of two texts, in [0, 1]."""
    one, other = set(shingles(left)), set(shingles(right))
    return len(one & other) / len(one | other)


def structure(text: str) -> str:
    """A module with every name, and every value of a type, made the same: what stays when only names and numbers are exchanged.

    A text that does not parse is its own structure.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(node, ast.Constant) and field == "value":
                node.value = type(value).__name__
            elif isinstance(value, str):
                setattr(node, field, "")
            elif isinstance(value, list) and value and all(isinstance(one, str) for one in value):
                setattr(node, field, [""] * len(value))
    return ast.dump(tree)


class NearIndex:
    """Texts that were added, and which of them a new one nearly repeats: an estimated Jaccard similarity of at least ``similar``.

    The estimate has a standard error of 0.04.
    """

    def __init__(self, similar: float = SIMILAR) -> None:
        self._similar = similar
        self._held: list[rensa.RMinHash] = []
        self._lsh = rensa.RMinHashLSH(threshold=similar, num_perm=_PERMUTATIONS, num_bands=_BANDS)

    def nearest(self, text: str) -> int | None:
        """Number, in order of adding, of the most similar text if that is similar enough, else None."""
        return self._nearest(_minhash(shingles(text)))

    def add(self, text: str) -> int | None:
        """Add a text unless it nearly repeats an earlier one, whose number is then given."""
        made = _minhash(shingles(text))
        found = self._nearest(made)
        if found is None:
            self._lsh.insert(len(self._held), made)
            self._held.append(made)
        return found

    def _nearest(self, made: rensa.RMinHash) -> int | None:
        close = [(self._held[key].jaccard(made), -key) for key in self._lsh.query(made)]
        best = max(close, default=(0.0, 0))
        return -best[1] if best[0] >= self._similar else None


def _minhash(tokens: Sequence[str]) -> rensa.RMinHash:
    made = rensa.RMinHash(num_perm=_PERMUTATIONS, seed=_SEED)
    made.update(list(tokens))
    return made
