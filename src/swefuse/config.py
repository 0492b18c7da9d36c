"""Settings: a strict TOML file and ``--set a.b=value`` become one frozen, typed model.

Nothing is taken in silence. A key that does not exist, is given twice, has the wrong type or range, or would have no effect is a
ConfigError that names where it was given, the key and the remedy. Every field of a config model has a description, a nested
model is a section, and ``OnlyWhen`` declares when a key counts::

    class WeightConfig(BaseModel):
        model_config = ConfigDict(frozen=True, extra="forbid")
        mode: Literal["off", "soft"] = Field("off", description="How pairs are weighted.")
        strength: Annotated[float, OnlyWhen("mode", "soft")] = Field(2.0, ge=0, description="Exponent of the weight.")
"""

from __future__ import annotations

import json
import re
import tomllib
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from swefuse.errors import ConfigError, nearest

_TOLD = 6  # settings that differ which are named

T = TypeVar("T", bound=BaseModel)
Tree = dict[str, Any]
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class OnlyWhen:
    """The annotated key has an effect only while its neighbour ``key`` has one of ``values``; giving it otherwise is an error.

    A dotted ``key`` is one in a neighbouring section.
    """

    key: str
    values: tuple[Any, ...]

    def __init__(self, key: str, *values: Any) -> None:
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, slots=True)
class OnlyAbove:
    """The annotated key has an effect only while its neighbour ``key`` is above ``bound``; giving it otherwise is an error."""

    key: str
    bound: float = 0.0


class Setting(NamedTuple):
    """One key of a config model: dotted name, type with its range, default as TOML (empty: must be given) and description."""

    name: str
    type: str
    default: str
    description: str


def load(model: type[T], path: Path | None, overrides: Sequence[str] = (), option: str = "--set") -> T:
    """The config that a TOML file (or nothing) and ``key=value`` overrides, given by ``option``, describe.

    A value is TOML; what starts like a plain word is taken as text (``base=nano``). Overrides win over the file. Types are strict:
    ``"1"`` is no integer, ``1`` is a float. Raises ConfigError.
    """
    tree = _read(path) if path else {}
    sources = {key: str(path) for key in _leaves(tree, model)}
    seen: dict[str, str] = {}
    for text in overrides:
        key, value = _parse_override(text, option)
        for other, first in seen.items():
            if f"{key}.".startswith(f"{other}.") or f"{other}.".startswith(f"{key}."):
                raise ConfigError(f"{option} {text}: {other!r} is set twice, the first time by {first!r}; keep one of them")
        seen[key] = text
        _place(tree, key, value, f"{option} {text}")
        sources[key] = f"{option} {text}"
    _refuse_unknown(tree, model, sources)
    try:
        # JSON mode: strict about types, yet lists become tuples and text becomes paths and enum members
        config = model.model_validate_json(json.dumps(tree), strict=True)
    except ValidationError as error:
        raise ConfigError("; ".join(_explain(item, model, sources, option) for item in error.errors())) from error
    _refuse_ineffective(config, tree, sources)
    return config


def dump(config: BaseModel) -> str:
    """TOML text of all settings that have an effect; ``load`` of it gives an equal config."""
    return "\n".join(_dump(config, "")).lstrip("\n") + "\n"


def changed(path: Path, config: BaseModel) -> str:
    """What is set otherwise in a file that ``dump`` wrote, as ``apart`` tells it; empty where its run can be gone on with.

    ``workers`` may differ, since the number of processes changes no result. Raises ConfigError for a file that is no TOML.
    """
    try:
        before = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "it is not there"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is damaged: {error}") from error
    return apart(before, tomllib.loads(dump(config)), free=("workers",))


def apart(before: Mapping[str, Any], now: Mapping[str, Any], free: Sequence[str] = ()) -> str:
    """The keys in which two tables of settings differ, except those with a last part in ``free``: at most 3, and how many more.

    Example: ``tau was 0.5, is 0.1, seed was 0, is 1 and 2 more``.
    """
    one, two = _flat(before), _flat(now)
    names = [name for name in {**one, **two} if name.rpartition(".")[2] not in free and one.get(name) != two.get(name)]
    told = [f"{name} was {one.get(name)}, is {two.get(name)}" for name in names[:_TOLD]]
    return f"{', '.join(told)}{f' and {len(names) - _TOLD} more' if len(names) > _TOLD else ''}"


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return found


def _dump(config: BaseModel, prefix: str) -> Iterator[str]:
    sections = []
    for name, value in _effective(config):
        if isinstance(value, BaseModel):
            sections.append((prefix + _key(name), value))
        elif value is not None:
            yield f"{_key(name)} = {_toml(value)}"
    for name, section in sections:
        yield f"\n[{name}]"
        yield from _dump(section, f"{name}.")


def fields(model: type[BaseModel]) -> list[Setting]:
    """Every key of a config model in the order of definition, sections after the plain keys of their parent."""
    return list(_settings(model, ""))


def _settings(model: type[BaseModel], prefix: str) -> Iterator[Setting]:
    sections = []
    for name, field in model.model_fields.items():
        if section := _section(field):
            sections.append((name, section))
            continue
        default = "" if field.is_required() else _toml_or_none(field.get_default(call_default_factory=True))
        yield Setting(prefix + name, _type_of(field), default, field.description or "")
    for name, section in sections:
        yield from _settings(section, f"{prefix}{name}.")


def _read(path: Path) -> Tree:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from error


def _parse_override(text: str, option: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not all(part.isidentifier() for part in key.split(".")):
        raise ConfigError(f"{option} {text}: should read KEY=VALUE, such as seed=7 or policy.rate=1e-4")
    if not value:
        raise ConfigError(f"{option} {text}: the value is missing; an empty text is written {key}='\"\"'")
    try:
        # inside an inline table neither a comment nor a line feed can hide a part of the value
        parsed = tomllib.loads(f"table = {{value = {value}}}")["table"]
    except tomllib.TOMLDecodeError as error:
        if value[0] in "\"'[{":
            raise ConfigError(f"{option} {text}: the value is not valid TOML: {error}") from error
        return key, value
    plain = list(parsed) == ["value"] and isinstance(parsed["value"], bool | int | float | str | list | dict)
    return key, parsed["value"] if plain else value


def _place(tree: Tree, key: str, value: Any, where: str) -> None:
    *parents, last = key.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
        if not isinstance(tree, dict):
            raise ConfigError(f"{where}: {parent!r} is a value, not a section")
    tree[last] = value


def _section(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _leaves(tree: Tree, model: type[BaseModel] | None, prefix: str = "") -> Iterator[str]:
    """Dotted names of what is given; tables of unknown keys and of mapping fields count as one value."""
    for name, value in tree.items():
        field = model.model_fields.get(name) if model else None
        section = _section(field) if field else None
        if section and isinstance(value, dict):
            yield from _leaves(value, section, f"{prefix}{name}.")
        else:
            yield prefix + name


def _refuse_unknown(tree: Tree, model: type[BaseModel], sources: Mapping[str, str]) -> None:
    names = [setting.name for setting in fields(model)]
    valid = {*names, *(name[:dot] for name in names for dot in range(len(name)) if name[dot] == ".")}
    for key in _leaves(tree, model):
        where = _source(key, sources)
        parent: type[BaseModel] | None = model
        value: Any = tree
        for part in key.split("."):
            field = parent.model_fields.get(part) if parent else None
            if field is None:
                raise ConfigError(f"{where}: there is no setting {key!r}{nearest(key, valid)}")
            parent, value = _section(field), value[part]
        if parent:
            raise ConfigError(f"{where}: {key!r} is a section; its keys: {', '.join(parent.model_fields)}")
        if not isinstance(value, bool | int | float | str | list | dict):
            raise ConfigError(f"{where}: {key!r} is a date or time, which no setting takes; put text in quotes")


def _refuse_ineffective(config: BaseModel, tree: Tree, sources: Mapping[str, str]) -> None:
    for key in _leaves(tree, type(config)):
        owner: Any = config
        *parents, last = key.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        if condition := _unmet(owner, last):
            wanted = _wanted(condition)
            now = _toml_or_none(attrgetter(condition.key)(owner))
            neighbour = ".".join([*parents, condition.key])
            raise ConfigError(
                f"{_source(key, sources)}: {key!r} has no effect, it counts only when {neighbour} is {wanted} (it is {now}); "
                f"leave it out or change {neighbour!r}"
            )


def _unmet(owner: BaseModel, name: str) -> OnlyWhen | OnlyAbove | None:
    for item in type(owner).model_fields[name].metadata:
        if isinstance(item, OnlyWhen) and attrgetter(item.key)(owner) not in item.values:
            return item
        if isinstance(item, OnlyAbove) and not getattr(owner, item.key) > item.bound:
            return item
    return None


def _wanted(condition: OnlyWhen | OnlyAbove) -> str:
    if isinstance(condition, OnlyAbove):
        return f"above {condition.bound:g}"
    return " or ".join(_toml(value) for value in condition.values)


def _effective(config: BaseModel) -> Iterator[tuple[str, Any]]:
    for name in type(config).model_fields:
        if _unmet(config, name) is None:
            yield name, getattr(config, name)


def _source(key: str, sources: Mapping[str, str]) -> str:
    while key not in sources and "." in key:
        key = key.rpartition(".")[0]
    return sources.get(key) or next((where for given, where in sources.items() if given.startswith(f"{key}.")), "config")


def _explain(item: Mapping[str, Any], model: type[BaseModel], sources: Mapping[str, str], option: str) -> str:
    path = [part for part in item["loc"] if isinstance(part, str)]
    key = ".".join(path)
    if item["type"] == "missing":
        file = ", or in the config file" if option == "--set" else ""  # other options belong to no file
        return f"{key!r} must be given: {option} {key}=VALUE{file}"
    message = str(item["msg"]).removeprefix("Value error, ")
    where = _source(key, sources) if key else "config"
    if item["type"] == "literal_error":
        setting = next((s for s in fields(model) if s.name == key), None)
        choices = setting.type.replace("'", "").split(" | ") if setting else []
        message += nearest(str(item["input"]), choices).replace("; valid", "; choices")
    shown = f" = {_toml(item['input'])}" if isinstance(item["input"], bool | int | float | str) else ""
    what = f"{where}: {key}{shown}" if key else where
    return f"{what}: {message[:1].lower()}{message[1:]}"


_BOUNDS: dict[type, Callable[[Any], str]] = {
    Ge: lambda bound: f">= {bound.ge}",
    Gt: lambda bound: f"> {bound.gt}",
    Le: lambda bound: f"<= {bound.le}",
    Lt: lambda bound: f"< {bound.lt}",
}


def _type_of(field: FieldInfo) -> str:
    bounds = [_BOUNDS[type(item)](item) for item in field.metadata if type(item) in _BOUNDS]
    return ", ".join([_type_name(field.annotation), *bounds])


def _type_name(kind: Any) -> str:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " | ".join(repr(arg) for arg in args)
    if origin in (Union, types.UnionType):
        return " | ".join(_type_name(arg) for arg in args if arg is not type(None))
    if origin is not None:
        return f"{_type_name(origin)} of {_type_name(args[-1] if args[-1] is not Ellipsis else args[0])}"
    return {Path: "path", str: "text", tuple: "list", dict: "table"}.get(kind, getattr(kind, "__name__", str(kind)))


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _toml(name)


def _toml_or_none(value: Any) -> str:
    return "none" if value is None else _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # JSON's escapes are TOML's, but for DEL, which JSON leaves as it is
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
