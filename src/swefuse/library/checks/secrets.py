"""Would something get out that must not: keys, tokens, e-mail addresses of people, names and addresses of internal machines?

The patterns are of forms that nothing else has. What is made up for documentation, and what the task's own files hold, is let be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from swefuse.library.context import USUAL, Context
from swefuse.library.parts import changed_files, known_lines
from swefuse.records import Task, Trajectory, Verdict

_KEYS = {
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "a key of AWS": r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})\b",
    "a token of GitLab": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a token of Slack": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a key of Google": r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    "a key of a model's provider": r"\bsk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{32,}",
    "a token of Hugging Face": r"\bhf_[A-Za-z0-9]{30,}\b",
    "a token of npm": r"\bnpm_[A-Za-z0-9]{36}\b",
    "a token of PyPI": r"\bpypi-AgE[A-Za-z0-9_-]{50,}",
    "a key of Stripe": r"\b[rs]k_live_[A-Za-z0-9]{20,}",
    "a key of SendGrid": r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    "a web token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}",
    "a bearer token": r"(?i:authorization\s*:\s*(?:bearer|basic)\s+)[A-Za-z0-9+/._~-]{20,}",
    "a name with its password": r"\b[a-z][a-z0-9+.-]{1,15}://[^\s:/@'\"{}<>$]{1,64}:[^\s:/@'\"{}<>$*]{4,128}@[A-Za-z0-9.-]+",
}
_KEY = re.compile("|".join(f"(?P<k{at}>{form})" for at, form in enumerate(_KEYS.values())))
_NAMES = tuple(_KEYS)
_HINT = re.compile(
    r"-----BEGIN|A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox|sk-|hf_|npm_|pypi-|k_live_|SG\.|eyJ|(?i:authorization)|://|@"
)
_MAIL = re.compile(r"(?<![\w.+%:/-])([A-Za-z0-9][\w.+%-]{0,63})@((?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24})(?![\w-])")
_NOBODY = re.compile(
    r"(?:no-?reply|do-?not-?reply|git|user(?:name)?|name|you(?:r\.?name)?|someone|somebody|nobody|me|test\w*|example\w*|foo|bar|baz"
    r"|alice|bob|carol|john(?:\.?doe)?|jane(?:\.?doe)?|joe|admin|info|root|a|b|c|x|y|z|u|user\d+)",
    re.IGNORECASE,
)
_FREE_MAIL = re.compile(
    r"(?:.*\.)?(?:example(?:\.\w+)?|invalid|test|localhost|local|users\.noreply\.github\.com|domain\.\w+|(?:my|your)?company\.\w+"
    r"|(?:my|your)site\.\w+|foo\.\w+|bar\.\w+|[a-z]\.[a-z]{1,3}|server\.\w+|host\.\w+|email\.\w+|mail\.com|test\.\w+|acme\.\w+)",
    re.IGNORECASE,
)
_MODULE = re.compile(
    r"(?:py|js|ts|rb|go|rs|txt|md|rst|toml|json|html|setter|getter|deleter|fixture|property|mark|parametrize|wraps)"
)
_ENDS = ("internal", "intranet", "corp", "lan", "private", "home.arpa", "cluster.local", "svc.local")
_PRIVATE = re.compile(
    r"(?:://(?:[^\s/@]*@)?|@|\bssh +|\bping +|\bhost\w* *[=:] *[\"']?)"
    r"((?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2,3})(?![\d.])"
)
_PLACEHOLDER = re.compile(
    r"(?:x{4,}|\*{3,}|\.{3}|<[^>]*>|\$\{|%\(|example|placeholder|dummy|changeme|your[-_]|1234567890|abcdef)", re.IGNORECASE
)
_LIKELY_PASSWORDS = re.compile(r"://(?:user(?:name)?|me|foo|admin|root|postgres|guest|test|u|a|alice|bob):", re.IGNORECASE)


def secrets(task: Task, trajectory: Trajectory, verdict: Verdict, context: Context = USUAL) -> str | None:
    """Nothing that is new in a trajectory, in messages, observations or changed files, looks like what must not get out.

    Keys and tokens by their issuers' forms, URLs with a password, e-mail addresses, hosts in internal domains, and private
    addresses in URLs. Addresses for documentation (``example.com``, ``noreply``) and obvious stand-ins are none.

    Example: ``#I use AKIA…`` -> ``step 2: holds a key of AWS, AKIA****``. The reason shows only the beginning.
    """
    known: frozenset[str] | None = None
    internal = _internal(context.settings.internal)
    for where, text in _texts(task, trajectory):
        if not (_HINT.search(text) or internal.search(text)):
            continue
        known = known_lines(task) if known is None else known
        for line in text.split("\n"):
            if bare(line) in known or line.strip() in known:
                continue
            if (found := next(_found(line, internal), None)) is not None:
                return f"{where}: holds {found[0]}, {found[1][:4]}****"
    return None


_MARKS = re.compile(r"^(?:[+-]|(?:[^\s:>]+:)?\d+>)")


def bare(line: str) -> str:
    """A line without the number, sign or place that views, edits and searches put before it."""
    return _MARKS.sub("", line).strip()


def _texts(task: Task, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    for number, step in enumerate(trajectory.steps, 1):
        yield f"step {number}", step.raw
        yield f"step {number}", step.observation
    for path in changed_files(task, trajectory):
        yield path, trajectory.files[path]


@lru_cache(maxsize=64)
def _internal(ends: tuple[str, ...]) -> re.Pattern[str]:
    listed = "|".join(re.escape(end.lstrip(".")) for end in (*_ENDS, *ends))
    return re.compile(rf"(?:(?<=://)|(?<=@)|(?<![\w.-]))((?:[a-z0-9-]+\.)+(?:{listed}))(?![\w.(-])", re.IGNORECASE)


def _found(line: str, internal: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for match in _KEY.finditer(line):
        name = _NAMES[int((match.lastgroup or "k0")[1:])]
        example = _LIKELY_PASSWORDS.search(match[0]) or _FREE_MAIL.fullmatch(match[0].rpartition("@")[2])
        if _PLACEHOLDER.search(match[0]) or (name == "a name with its password" and example):
            continue
        yield name, match[0]
    for match in _MAIL.finditer(line):
        if (
            not _NOBODY.fullmatch(match[1])
            and not _FREE_MAIL.fullmatch(match[2])
            and not _MODULE.fullmatch(match[2].rpartition(".")[2])
        ):
            yield "an e-mail address", match[0]
    for match in internal.finditer(line):
        yield "the name of an internal host", match[1]
    for match in _PRIVATE.finditer(line):
        if not match[1].startswith("127.") and match[1].count(".") == 3:
            yield "the address of an internal host", match[1]
