"""The grammar of the agent's next message, given the files as they are: one thought and one action that applies.

An ``@edit`` of a Python file is one of four things. Which of them are open follows from the text of the file.

* Lines of Python put in before a line, at the level of that line or of a block that ends there.
* A whole statement with its block, all its lines, replaced by statements of its level; or nothing, where others stay beside it.
* Part of one line: a run of its tokens in which brackets are balanced, replaced by tokens in which brackets are balanced too and
  strings complete; or all of the line with its indentation, which stays. Runs begin and end with a token, since half a name is
  seldom meant, and there are few enough of them to be written as one chain of tokens per line. For a run that occurs on the line
  before, ``*NTH`` counts the occurrence.
* In a file that is no Python: any line, replaced by lines of any text, or lines put in before it.

Comments, and parts of a string that spans lines, can be replaced only with the statement that they are in.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from swefuse.errors import DataError, nearest
from swefuse.policy import syntax

ACTIONS = ("view", "search", "edit", "create", "run", "test", "undo", "submit")
LONGEST_REPEATED = 8  # tokens of a run that is offered with *NTH
_GROUP = 100  # levels of files that are indented otherwise are numbered from here, twice this and so on
_OPEN, _CLOSED = "([{", ")]}"
_CLAUSES = {"elif", "else", "except", "finally", "case"}
_FRAGMENT = r"""
piece_c: WORD_C | NUMBER_C | STRING_C | MARK_C | LPAR piece_i* RPAR_C | LSQB piece_i* RSQB_C | LBRACE piece_i* RBRACE_C
WORD_C: /[\p{XID_Start}_]\p{XID_Continue}*/ Z_C
MARK_C: /\*\*=?|\/\/=?|>>=?|<<=?|!=|->|:=|\.\.\.|[-+*\/%@&|^=<>]=?|[~.,:;]/ Z_C
"""


@dataclass(frozen=True, slots=True)
class State:
    """What an action is to apply to. ``editable``: the paths that may be edited, or created where there is no such file.
    ``actions``: the names of the actions that are open."""

    files: Mapping[str, str]
    editable: tuple[str, ...]
    actions: tuple[str, ...] = ACTIONS


@dataclass(frozen=True, slots=True)
class _Unit:
    """A token of a line, or a bracket with all that is in it. Columns are half open, in characters."""

    start: int
    end: int


def literal(text: str) -> str:
    """``text`` as a string or a regular expression of a grammar."""
    if all(char.isprintable() or char == "\t" for char in text):
        return json.dumps(text, ensure_ascii=False)
    return "/" + "".join(char if char.isalnum() else f"\\x{{{ord(char):x}}}" for char in text) + "/"


def _pieces(text: str) -> dict[int, list[tuple[int, int, str]]]:
    """Row -> ``(start, end, text)`` of the tokens that lie on it; a token that spans rows is there as an empty text on each."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    opened: list[tuple[int, int]] = []  # of formatted strings, whose parts are tokens in newer versions of Python
    skipped = {"NEWLINE", "NL", "COMMENT", "INDENT", "DEDENT", "ENDMARKER", "ENCODING"}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name, start = tokenize.tok_name[token.type], token.start
        if name.endswith("STRING_START"):
            opened.append(start)
        elif name.endswith("STRING_END"):
            start = opened.pop()
        if opened or name in skipped:
            continue
        if start[0] == token.end[0]:
            found.setdefault(start[0], []).append((start[1], token.end[1], token.string))
        else:
            for number in range(start[0], token.end[0] + 1):
                found.setdefault(number, []).append((0, 0, ""))
    return found


def _runs(pieces: Sequence[tuple[int, int, str]]) -> list[list[_Unit]]:
    """The sequences of units on a line: those outside, and those in each bracket that opens and closes there."""
    done: list[list[_Unit]] = []
    stack: list[list[_Unit]] = [[]]
    starts: list[int] = []
    for start, end, text in pieces:
        if text and text in _OPEN:
            starts.append(start)
            stack.append([])
        elif text and text in _CLOSED and starts:
            done.append(stack.pop())
            stack[-1].append(_Unit(starts.pop(), end))
        elif not text or text in _CLOSED:  # closes what another line opened, or belongs to two lines: a run ends here
            done += stack
            stack, starts = [[]], []
        else:
            stack[-1].append(_Unit(start, end))
    return [run for run in [*done, *stack] if run]


def _spans(line: str, runs: Sequence[Sequence[_Unit]], name: str) -> Iterator[str]:
    """Terminals: ``SPAN<name>`` is any run of tokens, each token with what may follow it being a terminal of its own."""
    heads = []
    for number, run in enumerate(runs):
        for at, unit in enumerate(run):
            token = f"U{name}_{number}_{at}"
            heads.append(token)
            after = ""
            if at + 1 < len(run):
                gap = line[unit.end : run[at + 1].start]
                after = f" ({literal(gap) if gap else ''} U{name}_{number}_{at + 1})?"
            yield f"{token}: {literal(line[unit.start : unit.end])}{after}"
    yield f"SPAN{name}: {' | '.join(heads)}"


def _repeated(line: str, runs: Sequence[Sequence[_Unit]]) -> dict[int, list[str]]:
    """NTH above 1 -> the texts of runs whose NTH occurrence on the line is the run."""
    found: dict[int, set[str]] = {}
    for run in runs:
        for first in range(len(run)):
            for last in range(first, min(len(run), first + LONGEST_REPEATED)):
                start, text = run[first].start, line[run[first].start : run[last].end]
                count = sum(line.startswith(text, at) for at in range(start)) + 1
                if count > 1:
                    found.setdefault(count, set()).add(text)
    return {count: sorted(texts) for count, texts in sorted(found.items())}


def _blocks(tree: ast.Module, lines: Sequence[str]) -> Iterator[tuple[int, int, int, bool]]:
    """``(first row, last row, level, alone)`` of every statement that fills its lines; rows are counted from 1."""
    pending: list[tuple[ast.AST, int]] = [(tree, -1)]
    while pending:
        node, level = pending.pop()
        for name, body in ast.iter_fields(node):
            for child in body if isinstance(body, list) else ():
                if isinstance(child, ast.ExceptHandler | ast.match_case):
                    pending.append((child, level + (name == "cases")))
                elif isinstance(child, ast.stmt):
                    if name == "orelse" and lines[child.lineno - 1].encode()[child.col_offset :].startswith(b"elif"):
                        pending.append((child, level))
                        continue
                    pending.append((child, level + 1))
                    if _fills(child, lines):
                        first = min([child.lineno, *(item.lineno for item in getattr(child, "decorator_list", ()))])
                        yield first, child.end_lineno or first, level + 1, len(body) == 1 and node is not tree


def _fills(node: ast.stmt, lines: Sequence[str]) -> bool:
    before = lines[node.lineno - 1].encode()[: node.col_offset]
    after = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset :].strip()
    return not before.strip() and (not after or after.startswith(b"#"))


def _insertions(text: str) -> Iterator[tuple[int, range]]:
    """``(row, levels)``: before which rows, counted from 1, statements of which levels may be put in."""
    rows, before, decorated = text.split("\n"), -1, False
    for row, level in syntax.depths(text):
        word = rows[row].split("#")[0].strip().partition(" ")[0].rstrip(":")
        lowest = level + (word in _CLAUSES)
        if not decorated and lowest <= max(level, before):
            yield row + 1, range(lowest, max(level, before) + 1)
        before, decorated = level, word.startswith("@")
    yield len(rows) + (rows[-1] != ""), range(max(before, 0) + 1)


def _python(text: str, name: str, base: int) -> Iterator[tuple[int, str, list[str]]]:
    """``(row, what may follow its number, terminals)``: the edits of a file that parses. ``base``: the number of its level 0."""
    lines = text.split("\n")
    tree = syntax.tree_of(text)
    for row, levels in _insertions(text):
        yield row, " | ".join(f"put{base + level}" for level in levels), []
    for first, last, level, alone in _blocks(tree, lines):
        old = " ".join(f"MINUS {f'ROW{name}_{row}' if lines[row - 1] else ''}" for row in range(first, last + 1))
        terminals = [f"ROW{name}_{row}: {literal(lines[row - 1])}" for row in range(first, last + 1) if lines[row - 1]]
        yield first, f"{old} {f'put{base + level}' if alone else f'(put{base + level} | END)'}", terminals
    for row, pieces in _pieces(text).items():
        line, runs = lines[row - 1], _runs(pieces)
        if not runs:
            continue
        own = f"{name}_{row}"
        yield row, f"MINUS SPAN{own} PLUS fragment END", list(_spans(line, runs, own))
        if line[0].isspace() and any(run[0].start == pieces[0][0] and run[-1].end == pieces[-1][1] for run in runs):
            lead = line[: pieces[0][0]]
            made = [f"ROW{own}: {literal(line)}", f"AT{own}: PLUS {literal(lead)}"]
            yield row, f"MINUS ROW{own} AT{own} fragment END", made
        for nth, texts in _repeated(line, runs).items():
            yield row, f'"*{nth}" MINUS SPAN{own}X{nth} PLUS fragment END', [f"SPAN{own}X{nth}: {' | '.join(map(literal, texts))}"]


def _plain(text: str, name: str) -> Iterator[tuple[int, str, list[str]]]:
    """The same of a file that is no Python."""
    lines = text.split("\n")
    for row, line in enumerate(lines, 1):
        if line:
            yield row, f"MINUS ROW{name}_{row} (ANY | END)", [f"ROW{name}_{row}: {literal(line)}"]
        if line or row < len(lines):
            yield row, "ANY", []
    yield len(lines) + (lines[-1] != ""), "ANY", []


def _edit(path: str, text: str, name: str, base: int) -> list[str]:
    """Rules and terminals of the edits of one file; the first is ``edit<name>``. ``base`` below 0: a file that is no Python."""
    ways: dict[int, dict[str, None]] = {}
    terminals: dict[str, None] = {}
    for row, way, made in _python(text, name, base) if base >= 0 else _plain(text, name):
        ways.setdefault(row, {})[way] = None
        terminals |= dict.fromkeys(made)
    rows = [f"row{name}_{row}: {' | '.join(ways[row])}" for row in sorted(ways)]
    choice = " | ".join(f'"{row}" row{name}_{row}' for row in sorted(ways))
    return [f"edit{name}: {literal(f'@edit {path}:')} ({choice})", *rows, *terminals]


def _reads(path: str, text: str) -> bool:
    """Whether ``text`` is Python with one kind of line end."""
    return path.endswith(".py") and "\r" not in text and not syntax.problem_of(text)


def _changes(state: State) -> tuple[list[str], list[str], dict[int, str]]:
    """Names of the rules for edits and creations, all their rules, and the white space of each level."""
    names, made, bases = [], [], {"    ": 0}
    for number, path in enumerate(sorted({path for path in state.editable if not {":", "*", "\n"} & set(path) and path})):
        name, text = str(number), state.files.get(path)
        if text is None and "create" in state.actions:
            names.append(f"create{name}")
            made.append(f"create{name}: {literal(f'@create {path}')} {'PLUS source' if path.endswith('.py') else 'ANY'}")
        elif text is not None and "edit" in state.actions:
            base = bases.setdefault(syntax.indent_of(text), len(bases) * _GROUP) if _reads(path, text) else -1
            names.append(f"edit{name}")
            made += _edit(path, text, name, base)
    return names, made, {base + n: unit * n for unit, base in bases.items() for n in range(syntax.LEVELS + 1)}


def _view(path: str, text: str) -> str:
    """A file, or what stands around one of its lines."""
    count = text.removesuffix("\n").count("\n") + 1
    return f"{literal(path)} (/:({up_to(count)})/)?"


def up_to(most: int) -> str:
    """A pattern of the whole numbers from 1 to ``most`` (at least 1), without leading zeros."""
    digits = str(most)
    shorter = f"[1-9][0-9]{{0,{len(digits) - 2}}}|" if len(digits) > 1 else ""
    same = []
    for at, digit in enumerate(digits):
        low, high = "1" if at == 0 else "0", chr(ord(digit) - 1)
        if low <= high:
            same.append(f"{digits[:at]}[{low}-{high}][0-9]{{{len(digits) - at - 1}}}")
    return shorter + "|".join([*same, digits])


def action_grammar(state: State) -> str:
    """The grammar of one message of ``collect.actions`` that applies to ``state``: ``#`` lines, then an action.

    An edit may still put what stands there already, and the file may not parse after it. Raises DataError for an unknown action, or
    if none is open.
    """
    for name in state.actions:
        if name not in ACTIONS:
            raise DataError(f"unknown action {name!r}{nearest(name, ACTIONS)}")
    names, made, levels = _changes(state)
    views = [_view(path, state.files[path]) for path in sorted(state.files) if path and "\n" not in path]
    if "view" in state.actions and views:
        names.append("view")
        made.append(f'view: "@view " ({" | ".join(views)}) END')
    for name in ("search", "run"):
        if name in state.actions:
            names.append(name)
            made.append(f'{name}: "@{name} " TEXT END')
    bare = [f'"@{name}"' for name in ("test", "undo", "submit") if name in state.actions]
    if bare:
        names.append("bare")
        made.append(f"bare: ({' | '.join(bare)}) END")
    if not names:
        raise DataError(f"no action is open: of {', '.join(state.actions) or 'none'} none applies to these files")
    feed = r"\n\+"
    return "\n".join(
        [
            r"%llguidance {}",
            f"start: THOUGHT? ({' | '.join(names)})",
            r"THOUGHT: /#[^\n]+\n(#[^\n]*\n)*/",
            r"TEXT: /[^\n]+/",
            # the line feed that ends the message belongs to the last line: the lexer, which never goes back, takes it for one more
            r"ANY: /(\n\+[^\n]*)+\n/ & ~/\n\+\n/",
            r"CLOSE: /(#[^\n]*)?(\n\+[ \t\f]*(#[^\n]*)?)*\n/",
            r'END: "\n"',
            r'MINUS: "\n-"',
            r'PLUS: "\n+"',
            "source: LEAD? (stmt0 (NL0 stmt0)*)? CLOSE",
            *(f"put{n}: FEED{n} stmt{n} (NL{n} stmt{n})* CLOSE" for n in levels),
            *(rf"FEED{n}: /{feed}/ BLANK* /\f*{syntax.spaces(indent)}/" for n, indent in levels.items()),
            *made,
            "fragment: piece_o+",
            syntax.in_context(_FRAGMENT, "o"),
            syntax.in_context(_FRAGMENT, "i"),
            syntax.rules(levels, feed),
        ]
    )
