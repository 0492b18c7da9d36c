"""How much real Python the grammar of constrained decoding accepts, and what a mask costs.

``python benchmarks/syntax.py --json`` prints one flat JSON object on its last line; progress and rejected files go to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from swefuse.policy import syntax

LARGEST = 50_000  # bytes
# not the library itself: its tests, and packages that were installed beside it
LEFT_OUT = {"test", "tests", "idle_test", "site-packages"}


def library(tests: bool = False) -> list[Path]:
    """Modules of the standard library, those of its tests only if asked for."""
    root = Path(os.__file__).parent
    out = {"site-packages"} if tests else LEFT_OUT
    return sorted(path for path in root.rglob("*.py") if not out & set(path.relative_to(root).parts))


@cache
def compiled(indent: str) -> tuple[Any, str]:
    from llguidance import LLMatcher, LLTokenizer

    return LLTokenizer("byte"), LLMatcher.grammar_from_lark(syntax.python_grammar(indent))


def reject(path: Path) -> str | None:
    """Empty if the module is accepted, None if it does not count, else where it is not."""
    from llguidance import LLMatcher

    raw = path.read_bytes()
    try:
        text = syntax.as_written(raw.decode("utf-8")) if len(raw) <= LARGEST else None
    except UnicodeDecodeError:
        return None
    if text is None:
        return None
    tokenizer, grammar = compiled(syntax.indent_of(text))
    matcher, data = LLMatcher(tokenizer, grammar), list(text.encode("utf-8"))
    taken = matcher.try_consume_tokens(data)
    if taken == len(data) and matcher.is_accepting():
        return ""
    before = bytes(data[:taken]).decode("utf-8", "replace")
    after = bytes(data[taken : taken + 40]).decode("utf-8", "replace")
    return f"{path}:{before.count(chr(10)) + 1}: {before[-80:]!r} <> {after!r} {matcher.get_error()[:200]}"


def grammar_accept(workers: int = 1, tests: bool = False) -> dict[str, float]:
    """Per cent of the modules of at most 50 KB that the grammar accepts, and how many they are."""
    counted, rejected = 0, []
    with ProcessPoolExecutor(workers) as pool:
        for answer in pool.map(reject, library(tests), chunksize=16):
            counted += answer is not None
            if answer:
                rejected.append(answer)
                print(f"rejected {answer}", file=sys.stderr, flush=True)
    return {"grammar_accept": round(100 * (counted - len(rejected)) / counted, 3), "grammar_modules": counted}


SIZES = {"mask_ms_32k": 32_000, "mask_ms_50k": 50_000}
MODULES, TOKENS = 24, 1500  # how many modules are fed, and how much of each


def texts(paths: list[Path]) -> list[str]:
    """Those modules that count, as they would be written."""
    found = []
    for path in paths:
        try:
            found.append(syntax.as_written(path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return [text for text in found if text]


def vocabulary(size: int, folder: Path) -> Any:
    """Byte-level BPE with the usual split into words, trained on the whole library, tests included; kept in ``folder``."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    file = folder / f"bpe-{size}.json"
    if not file.exists():
        print(f"training a tokenizer of {size} entries", file=sys.stderr, flush=True)
        core = Tokenizer(models.BPE())
        core.pre_tokenizer, core.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False)
        core.train_from_iterator((path.read_text(encoding="utf-8", errors="replace") for path in library(tests=True)), trainer)
        folder.mkdir(parents=True, exist_ok=True)
        core.save(str(file))
    return PreTrainedTokenizerFast(tokenizer_file=str(file), eos_token="<|end|>")


def mask_ms(folder: Path | None = None) -> dict[str, float]:
    """Mean CPU milliseconds of one mask, a bool for each token, while real modules are fed token by token.

    The first masks of a grammar, when the lexer is still cold, are in the mean. The tokenizers are kept in ``folder``.
    """
    import torch

    from swefuse.policy.masks import Vocabulary

    folder = folder or Path(tempfile.gettempdir()) / "swefuse-syntax"
    modules = library()
    sources = texts(modules[:: len(modules) // MODULES])
    threads, means = torch.get_num_threads(), {}
    torch.set_num_threads(1)
    for name, size in SIZES.items():
        tokenizer = vocabulary(size, folder)
        known = Vocabulary(tokenizer)
        spent = count = 0.0
        for text in sources:
            matcher = known.matcher(syntax.python_grammar(syntax.indent_of(text)))
            for token in tokenizer(text)["input_ids"][:TOKENS]:
                start = time.process_time()
                allowed = matcher.allowed()
                spent += time.process_time() - start
                count += 1
                if not allowed[token]:
                    raise RuntimeError(f"{name}: the mask forbids the next token of {text[:200]!r}")
                matcher.accept(token)
        means[name] = round(1000 * spent / count, 3)
        print(f"{name}: {means[name]} ms over {int(count)} tokens, {known.size} entries", file=sys.stderr, flush=True)
    torch.set_num_threads(threads)
    return means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--tests", action="store_true", help="count the modules of the library's tests too")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object; they always are")
    args = parser.parse_args()
    print(json.dumps(grammar_accept(args.workers, args.tests) | mask_ms()))


if __name__ == "__main__":
    main()
