"""Which functions are held out. Whole functions, by body hash; what looks too much like one of them is refused for training.

``corpus`` gives ``unseen`` (new algorithms), ``composed`` gives ``recombined`` (known parts, new combination), ``real`` gives
``real``.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace

from swefuse.code.functions import Source, body_statements, function, normal_names, rename
from swefuse.tasks.spec import FunctionSpec

TRAIN = "train"
REAL = "real"
HELDOUT = {"corpus": "unseen", "composed": "recombined", "real": REAL}
SIMILAR = 0.7
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}


def split_functions(specs: Iterable[FunctionSpec], sizes: dict[str, int], seed: int) -> tuple[list[FunctionSpec], Counter[str]]:
    """The functions with their ``split``, in the given order, and how many were refused for which reason.

    ``sizes`` maps each family to the number of held-out functions; they are spread over its topics, drawn from ``seed``.
    """
    refused: Counter[str] = Counter()
    unique: dict[str, FunctionSpec] = {}
    for spec in specs:
        if spec.body_hash in unique:
            refused["same body as another function"] += 1
        else:
            unique[spec.body_hash] = spec
    heldout: set[str] = set()
    for family, size in sizes.items():
        heldout |= _draw([spec for spec in unique.values() if spec.family == family], size, seed)
    shapes = {key: shingles(spec) for key, spec in unique.items()}
    kept: list[FunctionSpec] = []
    for key, spec in unique.items():
        if key in heldout:
            kept.append(replace(spec, split=HELDOUT[spec.family]))
        elif any(similarity(shapes[key], shapes[other]) > SIMILAR for other in heldout):
            refused["too similar to a held-out function"] += 1
        else:
            kept.append(replace(spec, split=TRAIN))
    return kept, refused


class Evaluation:
    """Functions that figures are made on, and what is too much like one of them."""

    def __init__(self, specs: Iterable[FunctionSpec]) -> None:
        self.hashes = {spec.body_hash: spec.key for spec in specs}
        self.shapes = {spec.key: shingles(spec) for spec in specs}

    def like(self, spec: FunctionSpec) -> tuple[str, float] | None:
        """The key of the evaluation function that ``spec`` equals or resembles, with how much (1: the same body), or None."""
        if spec.body_hash in self.hashes:
            return self.hashes[spec.body_hash], 1.0
        shape = shingles(spec)
        near = ((key, similarity(shape, other)) for key, other in self.shapes.items())
        best = max(near, key=lambda item: item[1], default=("", 0.0))
        return best if best[1] > SIMILAR else None


def _draw(specs: list[FunctionSpec], size: int, seed: int) -> set[str]:
    """Body hashes of ``size`` functions, as evenly over the topics as they allow."""
    topics: dict[str, list[str]] = defaultdict(list)
    for spec in specs:
        topics[spec.topic].append(spec.body_hash)
    ranked: list[tuple[int, str, str]] = []
    for keys in topics.values():
        drawn = sorted((_rank(seed, key), key) for key in keys)
        ranked += [(turn, rank, key) for turn, (rank, key) in enumerate(drawn)]
    return {key for _, _, key in sorted(ranked)[:size]}


def _rank(seed: int, key: str) -> str:
    return hashlib.sha256(f"{seed}|{key}".encode()).hexdigest()


def shingles(spec: FunctionSpec) -> frozenset[tuple[str, ...]]:
    """All runs of five tokens in the body, locals numbered: what two copies share even when a few tokens differ."""
    source = Source(spec.text)
    renamed = rename(source, function(source.tree, spec.name), normal_names(function(source.tree, spec.name)))
    body = "\n".join(ast.unparse(statement) for statement in body_statements(function(ast.parse(renamed), spec.name)))
    tokens = [t.string.strip() for t in tokenize.generate_tokens(io.StringIO(body).readline) if t.type not in _LAYOUT]
    return frozenset(tuple(tokens[at : at + 5]) for at in range(max(1, len(tokens) - 4)))


def similarity(left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]) -> float:
    """Jaccard similarity, or 0 where their sizes alone keep it at or below SIMILAR."""
    if min(len(left), len(right)) <= SIMILAR * max(len(left), len(right)):
        return 0.0
    return len(left & right) / len(left | right)
