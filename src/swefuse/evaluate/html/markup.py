"""Markup that is escaped unless it says that it is markup, and numbers as the report writes them."""

from __future__ import annotations

import html
from collections.abc import Iterable

_MINUS = "\u2212"
_NONE = "\u2013"


def _visible() -> dict[int, str]:
    # What a terminal or a browser would act on (escape codes, text that runs backwards, invisible signs) is written as an escape.
    controls = [code for code in [*range(0x20), *range(0x7F, 0xA0)] if chr(code) not in "\t\n"]
    signs = [0x61C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF, *range(0xFFF9, 0xFFFC)]
    shown = {code: f"\\x{code:02x}" for code in controls} | {code: f"\\u{code:04x}" for code in [*signs, *range(0xD800, 0xE000)]}
    return shown | {code: f"\\U{code:08x}" for code in range(0xE0000, 0xE0080)}


_SHOWN = _visible()


def clean(text: str) -> str:
    """``text`` with control, direction and invisible characters written as ``\\x1b`` or ``\\u202e``; tab and newline stay."""
    return text.translate(_SHOWN)


def one_line(text: str) -> str:
    """``clean`` for names and labels: white space becomes single blanks."""
    return clean(" ".join(text.split()))


class Html(str):
    """Markup that goes into the page as it is. Only this module makes it."""

    __slots__ = ()

    def __html__(self) -> str:
        """Tells templates that escape everything else that this is markup."""
        return self


def join(parts: Iterable[str]) -> Html:
    """Concatenate; plain strings are cleaned and escaped, ``Html`` is taken as it is."""
    return Html("".join(part if isinstance(part, Html) else html.escape(clean(part)) for part in parts))


def el(tag: str, *children: str, **attrs: str | float | bool | None) -> Html:
    """One element. ``cls`` is written ``class``, ``_`` becomes ``-``; None and False leave an attribute out, True writes it bare.

    Children and values are cleaned and escaped unless they are ``Html``.
    """
    written = []
    for name, value in attrs.items():
        if value is None or value is False:
            continue
        name = "class" if name == "cls" else name.rstrip("_").replace("_", "-")
        written.append(f" {name}" if value is True else f' {name}="{html.escape(clean(_attr(value)))}"')
    return Html(f"<{tag}{''.join(written)}>{join(children)}</{tag}>")


def svg(*children: str, **attrs: str | float | bool | None) -> Html:
    """An inline drawing. With ``label`` it is one picture with that text; without, it is decoration."""
    label = attrs.pop("label", None)
    spoken: dict[str, str | float | bool | None] = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
    return el("svg", *children, **spoken, **attrs)


def _attr(value: str | float) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)


def percent(value: float | None, digits: int = 1) -> str:
    """A share in [0, 1] as a percentage without its sign; a dash for None."""
    return _NONE if value is None else f"{100 * value:.{digits}f}"


def points(value: float) -> str:
    """A difference of shares in percentage points, signed."""
    return f"{100 * value:+.1f}".replace("-", _MINUS)


def fraction(value: float | None) -> str:
    """A value in [0, 1] with three decimals; a dash for None."""
    return _NONE if value is None else f"{value:.3f}"


def figure(value: float, digits: int = 4) -> str:
    """A number for axes and read-outs: whole numbers with thousands separated from 1,000 on, else ``digits`` significant digits."""
    text = f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.{digits}g}"
    return text.replace("-", _MINUS)


def duration(seconds: float) -> str:
    """Seconds as people say them: ``4.2 s``, ``3 min 05 s``, ``2 h 07 min``."""
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
