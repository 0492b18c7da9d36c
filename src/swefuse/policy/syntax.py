"""The grammar of Python source for constrained decoding, as text in Lark for llguidance, and the parser that stands behind it.

How Python becomes context free. A line feed, the blank and comment lines after it and the indentation of the next line are one
lexeme, and there is one such lexeme for each level, so that a block at level n is a sequence of statements that ``NL<n>``
introduces. An indentation that is too deep stays a live prefix of that lexeme (a blank or comment line may follow) but never ends
it, so it cannot pass as space. Inside brackets lines break freely, so every rule of expressions exists twice, outside (``_o``) and
inside (``_i``), and each lexeme swallows the space that may follow it there. The lexer takes the longest lexeme and never goes
back: a keyword between operands comes in two forms, with space after it (``_S``) and without (``_T``, then no name may follow),
or ``a int`` would read as ``a in t``.

A grammar accepts all Python 3.11 whose indentation is regular, and some text that is not Python, such as ``f(**k, *a, b)``.
``problem_of`` stands behind it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Mapping

from swefuse.errors import DataError

LEVELS = 12  # of blocks; the deepest of the standard library has nine
KEYWORDS = (
    "False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is"
    "|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield"
)
# a line break in the regular expressions below; what it is differs: an action begins every line of new text with a plus
_BREAK = "\N{PILCROW SIGN}"
# what may stand between two lexemes, outside (O) and inside brackets (I)
_SPACE = {"O": rf"([ \t\f]|\\{_BREAK})", "I": rf"([ \t\f]|\\?{_BREAK}|#[^\n]*{_BREAK})"}
# keywords between operands, which need space before a name
_SPLIT = {
    "IN": "in", "IS": "is", "IF": "if", "ELSE": "else", "FOR": "for", "FROM": "from", "IMPORT": "import", "AS": "as",
    "EXCEPT": "except", "CASE": "case", "ASYNC": "async", "DEF": "def", "CLASS": "class", "AND": "and|or",
}  # fmt: skip
_PLAIN = (
    "assert", "await", "break", "continue", "del", "elif", "finally", "for", "from", "global", "if", "import", "lambda", "match",
    "nonlocal", "not", "pass", "raise", "return", "try", "while", "with", "yield",
)  # fmt: skip
_MARKS = {
    "RPAR": ")", "RSQB": "]", "RBRACE": "}", "COMMA": ",", "DOT": ".", "COLON": ":", "WALRUS": ":=", "EQ": "=", "STAR": "*",
    "DSTAR": "**", "SLASH": "/", "MINUS": "-", "BAR": "|", "ELL": "...",
}  # fmt: skip
_NUMBER = (
    r"0[xX](_?[0-9a-fA-F])+|0[oO](_?[0-7])+|0[bB](_?[01])+"
    r"|([0-9](_?[0-9])*(\.([0-9](_?[0-9])*)?)?|\.[0-9](_?[0-9])*)([eE][-+]?[0-9](_?[0-9])*)?[jJ]?"
)


def _strings() -> str:
    """Terminals of strings: FREE without and STRING with a prefix. A replacement field is checked for balanced braces only."""
    plain, octets, formed = [], [], []
    for q, other in ("'\"", "\"'"):
        for triple in (False, True):
            feed = f"|{_BREAK}" if triple else ""
            text, ascii_text = (
                rf"([^{q}\\\n]|\\(.|{_BREAK}){feed})",
                rf"([^{q}\\\n\x80-\U0010ffff]|\\([\x00-\x09\x0b-\x7f]|{_BREAK}){feed})",
            )
            stop = "" if triple else q
            string = rf"{other}[^\\\n{q}{other}]*{other}{feed}"
            inner = rf"([^{{}}\\\n{stop}]|{string})"
            nested = rf"\{{({inner}|\{{{inner}*\}})*\}}"
            field = rf"\{{[ ]*([^{{}}\\!:= \n{stop}]|{string}|{nested})({inner}|{nested})*\}}"
            part = rf"([^{{}}\\\n{q}]|\\([^{{}}\n]|{_BREAK})|\\?(\{{\{{|\}}\}}|{field}){feed})"
            plain.append(_quoted(q, text, triple))
            octets.append(_quoted(q, ascii_text, triple))
            formed.append(_quoted(q, part, triple))
    free, byte, form = "|".join(plain), "|".join(octets), "|".join(formed)
    return f"FREE: /{free}/\nSTRING: FREE | /[uUrR]({free})/ | /([bB][rR]?|[rR][bB])({byte})/ | /([fF][rR]?|[rR][fF])({form})/"


def _quoted(quote: str, text: str, triple: bool) -> str:
    """A string of pieces ``text``, each of which begins with anything but the quote."""
    return f"{quote * 3}({quote}?{quote}?{text})*{quote * 3}" if triple else f"{quote}{text}*{quote}"


_EXPRESSIONS = """
strings_c: STRING_C+
group_c: LPAR (yield_i | elements)? RPAR_C | LSQB elements? RSQB_C | LBRACE pairs? RBRACE_C
atom_c: NAME_C | NUMBER_C | CONST_C | ELL_C | strings_c | group_c
atom_t_c: FRACTION_C | ELL_C | FREE_C strings_c? | group_c
trailer_c: DOT_C NAME_C | LPAR arguments? RPAR_C | LSQB subscripts RSQB_C
primary_c: atom_c | AWAIT_C atom_c | primary_c trailer_c
primary_t_c: atom_t_c | primary_t_c trailer_c
operand_c: SIGN_C* primary_c
operand_t_c: SIGN_C+ primary_c | primary_t_c
further_c: OPERATOR_C operand_c | IN_S_C operand_c | IN_T operand_t_c | NOTIN_C operand_c | NOTIN_T_C operand_t_c
    | IS_S_C NOT_C? operand_c | IS_T operand_t_c
chain_c: operand_c further_c*
chain_t_c: operand_t_c further_c*
not_c: NOT_C* chain_c
either_c: AND_S_C not_c | AND_T chain_t_c
or_c: not_c either_c*
or_t_c: chain_t_c either_c*
choice_c: IF_S_C or_c otherwise_c | IF_T or_t_c otherwise_c
otherwise_c: ELSE_S_C test_c | ELSE_T test_t_c
test_c: or_c choice_c? | LAMBDA_C plain_c? COLON_C test_c
test_t_c: or_t_c choice_c?
named_c: test_c | NAME_C WALRUS_C test_c
star_c: STAR_C or_c | test_c
list_c: star_c (COMMA_C star_c)* COMMA_C?
star_t_c: STAR_C or_c | test_t_c
list_t_c: star_t_c (COMMA_C star_c)* COMMA_C?
yield_c: YIELD_C list_c? | YIELD_C FROM_C test_c
plain_c: plainparam_c (COMMA_C plainparam_c)* COMMA_C?
plainparam_c: NAME_C (EQ_C test_c)? | STAR_C NAME_C? | DSTAR_C NAME_C | SLASH_C
target_c: NAME_C | primary_c DOT_C NAME_C | primary_c LSQB subscripts RSQB_C | nested_c
nested_c: LPAR targets_i? RPAR_C | LSQB targets_i? RSQB_C
targets_c: startarget_c (COMMA_C startarget_c)* COMMA_C?
startarget_c: STAR_C? target_c
targets_t_c: (STAR_C target_c | nested_c | primary_t_c (DOT_C NAME_C | LSQB subscripts RSQB_C)) (COMMA_C startarget_c)* COMMA_C?
within_c: IN_S_C list_c | IN_T list_t_c
as_c: AS_S_C target_c | AS_T nested_c
pattern_c: orpattern_c (AS_S_C NAME_C)?
orpattern_c: closed_c (BAR_C closed_c)*
dotted_c: NAME_C (DOT_C NAME_C)*
value_c: MINUS_C? NUMBER_C (SIGN_C NUMBER_C)?
closed_c: NAME_C | CONST_C | strings_c | value_c | dotted_c (LPAR fields? RPAR_C)? | closedgroup_c
closedgroup_c: LPAR patterns_i? RPAR_C | LSQB patterns_i? RSQB_C | LBRACE mapping? RBRACE_C
starpattern_c: STAR_C NAME_C | pattern_c
patterns_c: starpattern_c (COMMA_C starpattern_c)* COMMA_C?
"""
_BRACKETS = """
starnamed: STAR_I or_i | named_i
elements: starnamed (COMMA_I starnamed)* COMMA_I? | named_i loops
loops: loop+
loop: (ASYNC_S_I? FOR_S_I targets_i | ASYNC_S_I? FOR_T targets_t_i) (IN_S_I or_i | IN_T or_t_i) condition*
condition: IF_S_I or_i | IF_T or_t_i
pair: test_i COLON_I test_i | DSTAR_I or_i
pairs: pair (COMMA_I pair)* COMMA_I? | test_i COLON_I test_i loops | elements
argument: named_i | NAME_I EQ_I test_i | STAR_I test_i | DSTAR_I test_i | named_i loops
arguments: argument (COMMA_I argument)* COMMA_I?
subscript: test_i? COLON_I test_i? (COLON_I test_i?)? | STAR_I or_i | named_i
subscripts: subscript (COMMA_I subscript)* COMMA_I?
bases: LPAR arguments? RPAR_O
hint: COLON_I test_i
parameter: NAME_I hint? (EQ_I test_i)? | STAR_I (NAME_I (hint | COLON_I STAR_I or_i)?)? | DSTAR_I NAME_I hint? | SLASH_I
parameters: parameter (COMMA_I parameter)* COMMA_I?
field: pattern_i | NAME_I EQ_I pattern_i
fields: field (COMMA_I field)* COMMA_I?
entry: (CONST_I | strings_i | value_i | dotted_i) COLON_I pattern_i | DSTAR_I NAME_I
mapping: entry (COMMA_I entry)* COMMA_I?
"""
_SIMPLE = """
small: list_o | yield_o | assignment | target_o AUGMENT (yield_o | list_o) | target_o COLON_O test_o (EQ_O (yield_o | list_o))?
    | PASS_O | BREAK_O | CONTINUE_O | DEL_O targets_o | RETURN_O list_o? | RAISE_O (test_o cause?)?
    | (GLOBAL_O | NONLOCAL_O) NAME_O (COMMA_O NAME_O)* | ASSERT_O test_o (COMMA_O test_o)? | IMPORT_O module (COMMA_O module)*
    | FROM_O (DOTS | DOTS? dotted_o) imported
assignment: (targets_o EQ_O)+ (yield_o | list_o)
cause: FROM_S_O test_o | FROM_T test_t_o
module: dotted_o (AS_S_O NAME_O)?
imported: IMPORT_S_O STAR_O | IMPORT_T STAR_O | IMPORT_S_O alias_o (COMMA_O alias_o)*
    | (IMPORT_S_O | IMPORT_T) LPAR alias_i (COMMA_I alias_i)* COMMA_I? RPAR_O
alias_o: NAME_O (AS_S_O NAME_O)?
alias_i: NAME_I (AS_S_I NAME_I)?
line: small (SEMI small)* SEMI?
context_o: test_o as_o?
context_i: named_i as_i?
contexts: context_o (COMMA_O context_o)* | LPAR context_i (COMMA_I context_i)* COMMA_I? RPAR_O
except_o: (EXCEPT_S_O | EXCEPT_T) (STAR_O test_o (AS_S_O NAME_O)?)? | EXCEPT_S_O test_o (AS_S_O NAME_O)?
    | EXCEPT_T test_t_o (AS_S_O NAME_O)?
case_o: (CASE_S_O patterns_o | CASE_T casetight) (IF_S_O named_o | IF_T test_t_o)?
casetight: (STAR_O NAME_O | tightpattern (BAR_O closed_o)* (AS_S_O NAME_O)?) (COMMA_O starpattern_o)* COMMA_O?
tightpattern: MINUS_O NUMBER_O (SIGN_O NUMBER_O)? | FREE_O strings_o? | closedgroup_o
"""
# N is the level of the statement, M the one of its block
_COMPOUND = """
stmtN: line | compoundN
blockM: (NLM stmtM)+
suiteN: COLON_O line | COLON_O blockM
elseN: NLN ELSE_S_O suiteN | NLN ELSE_T suiteN
compoundN: IF_O named_o suiteN (NLN ELIF_O named_o suiteN)* elseN?
    | WHILE_O named_o suiteN elseN?
    | (ASYNC_S_O FOR_S_O targets_o | FOR_O targets_o | ASYNC_S_O FOR_T targets_t_o) within_o suiteN elseN?
    | TRY_O suiteN ((NLN except_o suiteN)+ elseN? (NLN FINALLY_O suiteN)? | NLN FINALLY_O suiteN)
    | (ASYNC_S_O? WITH_O) contexts suiteN
    | (AT named_o NLN)* (ASYNC_S_O? DEF_S_O NAME_O LPAR parameters? RPAR_O (ARROW test_o)? | CLASS_S_O NAME_O bases?) suiteN
    | MATCH_O list_o COLON_O (NLM case_o suiteM)+
"""


def _terminals(indents: Mapping[int, str]) -> Iterator[str]:
    yield f"KEYWORD: /{KEYWORDS}/"
    yield r"NAME: /[\p{XID_Start}_]\p{XID_Continue}*/ & ~KEYWORD"
    yield f"NUMBER: /{_NUMBER}/"
    yield r"FRACTION: /\.[0-9](_?[0-9])*([eE][-+]?[0-9](_?[0-9])*)?[jJ]?/"
    yield _strings()
    for c, space in _SPACE.items():
        yield f"Z_{c}: /{space}*/"
        yield f"W_{c}: /{space}+/"
        yield from (f"{word}_{c}: {word} Z_{c}" for word in ("NAME", "NUMBER", "FRACTION", "FREE", "STRING"))
        yield rf"OPERATOR_{c}: /\*\*?|\/\/?|%|@|\+|-|<<|>>|&|\||\^|<=?|>=?|==|!=/ Z_{c}"
        yield rf"SIGN_{c}: /[-+~]/ Z_{c}"
        yield f"CONST_{c}: /None|True|False/ Z_{c}"
        yield f'NOTIN_{c}: "not" W_{c} "in" W_{c}'
        yield f'NOTIN_T_{c}: "not" W_{c} "in"'
        yield from (f'{name}_{c}: "{mark}" Z_{c}' for name, mark in _MARKS.items())
        yield from (f'{word.upper()}_{c}: "{word}" Z_{c}' for word in _PLAIN)
        yield from (f"{name}_S_{c}: /{word}/ W_{c}" for name, word in _SPLIT.items())
    yield from (f"{name}_T: /{word}/" for name, word in _SPLIT.items())
    yield from (f'{name}: "{mark}" Z_I' for name, mark in (("LPAR", "("), ("LSQB", "["), ("LBRACE", "{")))
    yield from (f'{name}: "{mark}" Z_O' for name, mark in (("SEMI", ";"), ("AT", "@"), ("ARROW", "->")))
    yield r"AUGMENT: /(\*\*|\*|\/\/|\/|%|@|\+|-|<<|>>|&|\||\^)=/ Z_O"
    yield rf"DOTS: /\.([ \t\f.]|\\{_BREAK})*/"
    yield rf"BLANK: /[ \t\f]*(#[^\n]*)?{_BREAK}/"
    yield "LEAD: BLANK+"
    yield rf"TAIL: /(#[^\n]*)?({_BREAK}[ \t\f]*(#[^\n]*)?)+|#[^\n]*/"
    yield from (rf"NL{n}: /(#[^\n]*)?{_BREAK}/ BLANK* /\f*{spaces(indent)}/" for n, indent in indents.items())


def spaces(indent: str) -> str:
    """White space as it is written in a regular expression or a string of a grammar."""
    return indent.replace("\t", r"\t").replace("\f", r"\f")


def _compound(level: int, last: bool) -> str:
    """The statements of a level; those of the last one have no blocks."""
    text = _COMPOUND
    if last:
        text = re.sub(r"blockM: .*\n| \| COLON_O blockM|    \| MATCH_O.*\n", "", text)
    return re.sub(r"(?<=[a-zL])([NM])\b", lambda m: str(level if m[1] == "N" else level + 1), text)


def in_context(text: str, where: str) -> str:
    """Rules written for either side of a bracket (``_c``, ``_C``) as those outside (``where`` "o") or inside ("i")."""
    return re.sub(r"_c\b", "_" + where, re.sub(r"_C\b", "_" + where.upper(), text))


def rules(indents: Mapping[int, str], feed: str = r"\n") -> str:
    """Rules and terminals of Python. ``indents``: the white space before a statement, by level; ``feed``: what a line break is
    written as. ``stmt<n>`` is a statement of level n, ``NL<n>`` what comes before it, TAIL what may follow the last one."""
    rows = [_compound(n, n + 1 not in indents) for n in indents]
    rows += [in_context(_EXPRESSIONS, "o"), in_context(_EXPRESSIONS, "i")]
    rows += [_BRACKETS, _SIMPLE, *_terminals(indents)]
    return "\n".join(rows).replace(_BREAK, feed) + "\n"


def python_grammar(indent: str = "    ", levels: int = LEVELS, start: str = "module", base_level: int = 0) -> str:
    """The grammar of Python 3.11 source that is indented by ``indent``, blocks at most ``levels`` deep.

    ``start`` "module" is a whole file. "block" is one or more statements of level ``base_level`` from the start of a line, and
    "statements" the same from where the first one begins. Raises DataError for other words or a level that is not there.
    """
    if not 0 <= base_level <= levels or (start == "module" and base_level) or not re.fullmatch(r"\t|[ ]+", indent):
        raise DataError(f"no grammar of a {start} at level {base_level} of {levels}, indented by {indent!r}")
    sequence = f"stmt{base_level} (NL{base_level} stmt{base_level})*"
    starts = {
        "module": f"start: LEAD? ({sequence})? TAIL?",
        "block": f"start: FIRST {sequence} TAIL?\nFIRST: BLANK* /\\f*{spaces(indent) * base_level}/",
        "statements": f"start: {sequence} TAIL?",
    }
    if start == "block" and not base_level:
        starts["block"] = f"start: LEAD? {sequence} TAIL?"
    if start not in starts:
        raise DataError(f"a grammar starts with one of {', '.join(starts)}, not {start!r}")
    return f"%llguidance {{}}\n{starts[start]}\n{rules({n: indent * n for n in range(levels + 1)})}"


def depths(text: str) -> list[tuple[int, int]]:
    """``(row, level)`` of every logical line, rows counted from 0. Raises what tokenize raises."""
    found, level, fresh = [], 0, True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.INDENT:
            level += 1
        elif token.type == tokenize.DEDENT:
            level -= 1
        elif token.type == tokenize.NEWLINE:
            fresh = True
        elif fresh and token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
            found.append((token.start[0] - 1, level))
            fresh = False
    return found


def indent_of(text: str) -> str:
    """What one level of ``text`` is indented by: a tab, or the spaces that most of its indented lines use; else four spaces."""
    steps: dict[str, int] = {}
    try:
        rows, places = text.split("\n"), depths(text)
    except (tokenize.TokenError, SyntaxError):
        return "    "
    for row, level in places:
        lead = rows[row][: len(rows[row]) - len(rows[row].lstrip(" \t\f"))]
        if level and len(lead) % level == 0 and lead == lead[: len(lead) // level] * level:
            unit = lead[: len(lead) // level]
            steps[unit] = steps.get(unit, 0) + 1
    return max(steps, key=lambda unit: steps[unit], default="    ")


def as_written(text: str) -> str | None:
    """``text`` in the form that a model is held to, or None if it does not parse.

    Only two things are changed. Line ends become line feeds and a byte order mark goes. A logical line whose indentation is not its
    level times ``indent_of(text)`` is indented by that; continuation lines, comments and strings stay as they are.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if problem_of(text):
        return None
    unit, rows = indent_of(text), text.split("\n")
    for row, level in depths(text):
        rows[row] = unit * level + rows[row].lstrip(" \t\f")
    return "\n".join(rows)


def tree_of(text: str) -> ast.Module:
    """``ast.parse`` without its warnings of escapes and literals in the text. Raises what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def problem_of(text: str) -> str:
    """Why ``text`` is no Python, with the line; empty if it parses."""
    try:
        tree_of(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:  # a null character; brackets nested too deep
        return str(error) or type(error).__name__
    return ""


def last_good(text: str) -> int:
    """The length of the longest beginning of ``text`` that ends with a line and parses; 0 if none does. There a text can go on."""
    end = len(text)
    while end and problem_of(text[:end]):
        end = text.rfind("\n", 0, end - 1) + 1
    return end
