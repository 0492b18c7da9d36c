"""What several templates share: functions before and after a refactoring, and docstrings in the styles that people write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from keyword import iskeyword
from textwrap import dedent, indent

from swefuse.tasks.template import Parameter, Values, drawn, one_of, rows
from swefuse.tasks.words import WORDS

CALLS = 6
CALL_GAPS = tuple(f"$case_call{at}" for at in range(CALLS))
STYLES = {
    "google": "with the sections Args, Returns or Yields, Raises and Examples",
    "sphinx": "with the fields :param:, :returns: or :yields:, and :raises:",
    "numpy": "with underlined sections as NumPy has them",
    "prose": "in plain sentences",
}
STYLE = rows(*({"key": key, "ask": text} for key, text in STYLES.items()))
DOC_ASKS = one_of(
    "`$case_target` in $module.py has no docstring. Write one $style_ask: what it takes, what comes back, which errors there are, "
    "and examples that run.",
    "Callers keep reading the code of `$case_target` ($module.py) to find out what it does. Please document it $style_ask, with a "
    "few doctests; the code stays as it is.",
    "Document `$case_target` of `$module.py` $style_ask. Every parameter, the result and each error it raises belong in there, and "
    "at least one example whose answer is right.",
    "The documentation build complains: `$case_target` in `$module.py` is public and undocumented. Add a docstring $style_ask, "
    "including examples that doctest accepts. Change nothing else.",
    "We want to publish $module.py, and `$case_target` is the last function without a description. Describe it $style_ask; show "
    "by examples what it gives and when it refuses.",
)


ASKS = one_of(
    "`$func` in $module.py is harder to follow than what it decides. $smell Make it simpler; its answers stay what they are.",
    "A review stopped at `$func` ($module.py). $smell Please bring its complexity down; results must be the same as today.",
    "Our limit for cyclomatic complexity is exceeded by `$func` in `$module.py`. $smell Refactor it: fewer branches, same "
    "parameters, and no change that a caller could see.",
    "Before we build on it, `$func` of $module.py has to be cleaned up. $smell Its behaviour must not change.",
    "$smell This is about `$func`, which stands in `$module.py`. Rewrite it with fewer decisions; callers must not notice.",
    "Simplify `$func` in $module.py. $smell All tests pass today and must still pass afterwards; the signature stays.",
    "New colleagues ask what `$func` ($module.py) really does. $smell Say the same with less branching.",
)


def nouns(count: int) -> Parameter:
    """Different names of things that may be identifiers and follow "a": gaps ``name_0``, ``name_1`` and so on."""
    fit = [word for word in WORDS["thing"] if not iskeyword(word) and word[0] not in "aeiou"]
    return drawn(lambda rng: {str(at): word for at, word in enumerate(rng.sample(fit, count))})


def case(calls: Sequence[str], head: str, bad: str, good: str, before: str = "", **texts: str) -> dict[str, str]:
    """A function as it is and as it could be, for ``rows`` of a parameter named ``case``, with the calls of ``CALL_GAPS``.

    ``head``: signature and docstring. ``before``: what the good one needs above of it.
    """
    start, above = _plain(head), f"{_plain(before)}\n\n\n" if before else ""
    bodies = {"bad": f"{start}\n{indent(_plain(bad), '    ')}", "good": f"{above}{start}\n{indent(_plain(good), '    ')}"}
    padded = [*calls, *[calls[-1]] * (CALLS - len(calls))]
    return bodies | {key: _plain(text) for key, text in texts.items()} | {f"call{at}": call for at, call in enumerate(padded)}


def documented(
    code: str, summary: str, told: Mapping[str, str], gives: str, errors: Mapping[str, str], examples: str, target: str = "$func"
) -> dict[str, str]:
    """A function and its docstring in every style, for ``rows`` of a parameter named ``case``.

    ``code`` has the gap ``$doc`` alone on the line of the docstring; all but ``told`` and ``errors`` may span lines. ``told``: what
    each parameter is. ``gives``: a sentence that starts with Return or Yield. ``errors``: when each is raised. Descriptions have
    neither a capital letter nor a full stop. ``target``: the function, or ``$Class.$func``.
    """
    texts = {f"in_{style}": _docstring(style, summary, told, gives, errors, _plain(examples)) for style in STYLES}
    return {"code": _plain(code), "target": target, **texts}


def undocumented(values: Values, *wants: object) -> Values:
    """What a template of ``documented`` cases derives: no docstring, the one to write, and the answers ``$want0``, ``$want1``, …"""
    answers = {f"want{at}": repr(want) for at, want in enumerate(wants)}
    return {"doc": "", "written": values[f"case_in_{values['style_key']}"], **answers}


def _docstring(style: str, summary: str, told: Mapping[str, str], gives: str, errors: Mapping[str, str], examples: str) -> str:
    verb, _, result = gives.partition(" ")
    if style == "google":
        parts = ["Args:\n" + _listed("    {}: {}.", told), f"{verb}s:\n    {_upper(result)}."]
        parts += ["Raises:\n" + _listed("    {}: {}.", errors)] if errors else []
        parts.append("Examples:\n" + indent(examples, "    "))
    elif style == "numpy":
        parts = ["Parameters\n----------\n" + _listed("{}\n    {}.", told), f"{verb}s\n{'-' * (len(verb) + 1)}\n{_upper(result)}."]
        parts += ["Raises\n------\n" + _listed("{}\n    {}.", errors)] if errors else []
        parts.append("Examples\n--------\n" + examples)
    elif style == "sphinx":
        lines = [f":param {name}: {text}" for name, text in told.items()] + [f":{verb.lower()}s: {result}"]
        parts = ["\n".join(lines + [f":raises {error}: {text}" for error, text in errors.items()]), examples]
    else:
        sentences = [f"``{name}`` is {text}." for name, text in told.items()] + [f"{verb}s {result}."]
        parts = ["\n".join(sentences + [f"Raises {error} {text}." for error, text in errors.items()]), examples]
    return '"""' + "\n\n".join([summary, *parts]) + '\n"""'


def _listed(line: str, told: Mapping[str, str]) -> str:
    return "\n".join(line.format(name, _upper(text)) for name, text in told.items())


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(text: str) -> str:
    return dedent(text).strip()
