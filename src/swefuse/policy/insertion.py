"""The grammar of Python that is written into the middle of a file, where what stands before and after is given.

The statements before the place say which blocks are open there, and by what header. What is written goes on in the innermost one,
may close blocks, as a rule down to the body of the innermost function or class, and may add the clauses (``else``, ``except``) that
their headers allow. What follows holds the blocks open that it stands in.
"""

from __future__ import annotations

import codeop
import io
import re
import tokenize
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from swefuse.errors import DataError
from swefuse.policy import syntax

# what may follow the block under a header of level n, by the header's word
_ELSE = "(ELSE_S_O suite{n} | ELSE_T suite{n})"
_EXCEPTS = "except_o suite{n} (NL{n} except_o suite{n})* else{n}? (NL{n} FINALLY_O suite{n})?"
_CLAUSES = {
    "if": f"(ELIF_O named_o suite{{n}} (NL{{n}} ELIF_O named_o suite{{n}})* else{{n}}? | {_ELSE})",
    "for": _ELSE,
    "try": f"({_EXCEPTS} | FINALLY_O suite{{n}})",
    "except": f"({_EXCEPTS} | {_ELSE} (NL{{n}} FINALLY_O suite{{n}})? | FINALLY_O suite{{n}})",
    "else": "FINALLY_O suite{n}",  # if it is the one of a try statement; the parser tells
}
_CLAUSES |= {"elif": _CLAUSES["if"], "while": _CLAUSES["for"]}
EMPTY = '""'
_CONTINUING = {"elif", "else", "except", "finally"}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text goes on: for each open level its white space and the word of the header that opened it (level 0: none)."""

    indents: tuple[str, ...]
    headers: tuple[str, ...]
    fresh: bool  # the innermost block has no statement yet

    @property
    def level(self) -> int:
        return len(self.indents) - 1


def _lines(text: str) -> Iterator[tuple[list[tokenize.TokenInfo], int]]:
    """The tokens of each logical line, and how the level changes before it. Raises DataError inside a bracket or a string."""
    row: list[tokenize.TokenInfo] = []
    change = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.INDENT, tokenize.DEDENT):
                change += 1 if token.type == tokenize.INDENT else -1
            elif token.type == tokenize.NEWLINE:
                yield row, change
                row, change = [], 0
            elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
                row.append(token)
    except (tokenize.TokenError, SyntaxError) as error:
        raise DataError(f"the text before the place cannot be read ({error}); it must end with a statement or a header") from error


def _place(prefix: str, unit: str) -> _Place:
    indents, headers = [""], [""]
    word, header = "", False
    for row, change in _lines(prefix):
        if change > 0:
            indents.append(row[0].line[: row[0].start[1]])
            headers.append(word)
        elif change < 0:
            del indents[change:], headers[change:]
        words = [token.string for token in row[:2]]
        word = words[1] if words[0] == "async" and len(words) > 1 else words[0]
        header = row[-1].string == ":"
    if header:
        indents.append(indents[-1] + unit)
        headers.append(word)
    return _Place(tuple(indents), tuple(headers), header)


def _floor(place: _Place, suffix: str, lowest: int | None) -> int:
    """The lowest level at which something may be written."""
    scopes = [level for level, word in enumerate(place.headers) if word in ("def", "class")]
    floor = lowest if lowest is not None else scopes[-1] if scopes else 0
    code = re.search(r"^([ \t\f]*)([^\s#]\w*)", suffix, re.M)
    if code:
        if code[1] not in place.indents:
            raise DataError(f"what follows the place ({code[0].strip()!r}) is indented like no block that is open there")
        floor = max(floor, place.indents.index(code[1]) + (code[2] in _CONTINUING))
    if floor > place.level:
        raise DataError(f"what follows the place ({suffix.strip().partition(chr(10))[0]!r}) needs a deeper block before it")
    return floor


def _leads(place: _Place, floor: int, begun: str | None) -> Iterator[tuple[int, str]]:
    """``(level, rule)`` for what comes before the first statement, for each level at which it may stand.

    ``begun`` is the white space that the line has already, None if the line before is not ended.
    """
    for n in range(floor, place.level + 1):
        indent = place.indents[n]
        if begun is None:
            yield n, f"lead{n}: NL{n}"
        elif indent.startswith(begun):
            first = f" | /{syntax.spaces(indent[len(begun) :])}/" if indent != begun else ""
            yield n, f"lead{n}: LEAD{n}{'' if first else '?'}\nLEAD{n}: BLANK+ /\\f*{syntax.spaces(indent)}/{first}"


def _levels(place: _Place, floor: int, leads: set[int]) -> Iterator[str]:
    """Rules: ``more<n>`` what may follow a statement of level n, ``rest<n>`` what may follow a block of level n, ``enter<n>`` what
    may come first at level n or below."""
    for n in range(floor, place.level + 1):
        low, word = n - 1, place.headers[n]
        clause = _CLAUSES.get(word, "").format(n=low)
        rest, enter = [], [f"lead{n} item{n} more{n}"] if n in leads else []
        closing = n > floor and not (place.fresh and n == place.level)
        if n > floor and clause:
            rest.append(f"NL{low} {clause} more{low}")
        if closing and clause and low in leads:
            enter.append(f"lead{low} {clause} more{low}")
        if n > floor and word != "try":  # a try block cannot do without a clause
            rest += [f"NL{low} item{low} more{low}", f"rest{low}", '""']
        if closing and word != "try":
            enter.append(f"enter{low}")
        yield f"item{n}: {f'case_o suite{n}' if word == 'match' else f'stmt{n}'}"
        yield f"more{n}: (NL{n} item{n})* rest{n}"
        yield f"rest{n}: {' | '.join(rest) or EMPTY}"
        if enter:
            yield f"enter{n}: {' | '.join(enter)}"


def body_grammar(prefix: str, suffix: str = "", lowest: int | None = None) -> str:
    """The grammar of what may be written between ``prefix`` and ``suffix``: at least one statement, in lines of the right level.

    ``prefix`` ends with a whole statement or a header, with or without its line feed, and may hold some of the next line's
    indentation. ``suffix`` is whole lines or begins with a line feed; where it is whole lines, so is what is written. The levels
    that are open keep their own indentation, deeper ones add that of the file. Blocks may be closed down to level ``lowest``,
    as far as ``suffix`` allows; None: the body of the innermost function or class, if the place is in one. Raises DataError for
    a place inside a bracket or a string, or where no statement can stand.
    """
    unit = syntax.indent_of(prefix if re.search(r"^[ \t]+\S", prefix, re.M) else suffix)
    place = _place(prefix, unit)
    floor = _floor(place, suffix, lowest)
    last = prefix.rpartition("\n")[2]
    begun = last if not last.strip() else None
    leads = dict(_leads(place, floor, begun))
    if not leads or (place.fresh and place.level not in leads):
        raise DataError(f"the line is begun with {begun!r}, which no block at the place is indented by")
    top = max(place.level + 2, syntax.LEVELS)
    indents = [*place.indents, *(place.indents[-1] + unit * n for n in range(1, top - place.level + 1))]
    end = r"END: /(#[^\n]*)?\n/ BLANK*" if suffix and not suffix.startswith("\n") else ""
    head = [r"%llguidance {}", f"start: enter{place.level} {'END' if end else 'TAIL?'}", end]
    return "\n".join([*head, *leads.values(), *_levels(place, floor, set(leads)), syntax.rules(dict(enumerate(indents)))])


def body_check(prefix: str) -> Callable[[str], int]:
    """How many characters of what is being written behind ``prefix`` may stand: all, unless it cannot become Python.

    For ``Freedom.check``. What a grammar of lines lets through and the parser does not, such as two parameters of one name, ends at
    the last statement before it.
    """

    def check(text: str) -> int:
        if can_become(prefix + text):
            return len(text)
        return max(0, syntax.last_good(prefix + text) - len(prefix))

    return check


def body_of(prefix: str, text: str, suffix: str = "") -> str:
    """The longest beginning of what was written, in whole lines, with which the file parses; ``pass`` where there is none.

    For a body that was cut by a limit of tokens.
    """
    ends = [at for at in range(len(text), 0, -1) if at == len(text) or text[at - 1] == "\n"]
    good = next((text[:end] for end in ends if text[:end].strip() and not syntax.problem_of(f"{prefix}{text[:end]}{suffix}")), None)
    if good is not None:
        return good
    place = _place(prefix, syntax.indent_of(prefix))
    return ("" if prefix.endswith("\n") else "\n") + place.indents[-1] + "pass\n"


def can_become(text: str) -> bool:
    """Whether a text is the beginning of a Python file, as far as the parser can tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            codeop.compile_command(text, "<text>", "exec")
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            return False
    return True
