"""A hole that is only spelled otherwise is still one, an honest repair is none, and forbidden words do not pass a template."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from swefuse.records import Call, Kind, Outcome, Provenance, Suite, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks import catalogue
from swefuse.tasks.workers import init_worker
from swefuse.verify import Verifier
from swefuse.verify.tests import Limits

SAME = "def same(x):\n    return x\n\n\n"
HOLES = {
    "S307,S102": "def load(text):\n    return eval(text)\n",
    "S301,S302": "import pickle\n\n\ndef load(text):\n    return pickle.loads(text)\n",
    "S311": "import random\n\n\ndef token():\n    return random.random()\n",
    "S608": "def find(db, x):\n    return db.execute(f\"SELECT a FROM t WHERE b = '{x}'\")\n",
    "S602,S604,S605": "import subprocess\n\n\ndef count(name):\n    return subprocess.run(f'wc {name}', shell=True)\n",
    "S324": "import hashlib\n\n\ndef name(x):\n    return hashlib.md5(x).hexdigest()\n",
    "S202": "import tarfile\n\n\ndef unpack(path, to):\n    with tarfile.open(path) as archive:\n        archive.extractall(to)\n",
}


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(cache=False, limits=Limits(pytest_cpu_s=5.0)) as made:
        yield made


def hole(rules: str, **more: Any) -> Task:
    suite = Suite(form="calls", entry="m.py:same", calls=(Call(id="c", args="(1,)", want="1"),), pass_to_pass=("c",))
    return Task.make(
        Kind.VULNFIX, instruction="", files={"m.py": SAME + HOLES[rules]}, editable=("m.py",), goal={"rules": rules},
        suites=(suite,), provenance=Provenance(source="test"), **more,
    )  # fmt: skip


EVASIONS = [
    ("S307,S102", "run = eval\n\n\ndef load(text):\n    return run(text)\n", "line 5: eval keeps"),
    (
        "S307,S102",
        "import builtins\n\n\ndef load(text):\n    return getattr(builtins, 'ev' + 'al')(text)\n",
        "line 9: 'eval' keeps",
    ),
    ("S307,S102", "def load(text):\n    return next(map(eval, [text]))\n", "eval keeps"),
    ("S307,S102", "import types\n\n\ndef load(t):\n    return types.FunctionType(compile(t, '', 'exec'), {})()\n", "'exec' keeps"),
    ("S307,S102", "import re\n\n\ndef load(text):\n    return re.enum.bltns.eval(text)\n", "re.enum.bltns.eval keeps"),
    (
        "S307,S102",
        "def load(text, b):\n    match b:\n        case object(eval=run):\n            return run(text)\n",
        "eval= keeps",
    ),
    ("S307,S102", "def load(text):\n    return print.__self__.__dict__['lave'[::-1]](text)\n", "print.__self__, which neither"),
    ("S307,S102", "import re\n\n\ndef load(t, n):\n    return getattr(re, n)(t)\n", "getattr of a computed name, which neither"),
    ("S307,S102", "def load(text):\n    return globals()[text]\n", "globals, which neither"),
    ("S307,S102", "def load(text):\n    import importlib\n    return importlib\n", "import of importlib, which neither"),
    (
        "S307,S102",
        "import timeit\n\n\ndef load(text):\n    return timeit.timeit(text, number=1)\n",
        "import of timeit, which neither",
    ),
    ("S301,S302", "import pickle\n\nload = pickle.loads\n", "pickle keeps"),
    ("S301,S302", "import pickle\n\n\ndef load(x):\n    return pickle._loads(x)\n", "pickle keeps"),
    ("S301,S302", "import _pickle as json\n\n\ndef load(x):\n    return json.loads(x)\n", "import _pickle as json keeps"),
    ("S301,S302", "from marshal import loads as read\n", "from marshal import loads keeps"),
    ("S301,S302", "import sys\n\n\ndef load(x):\n    return sys.modules['pickle']\n", "'pickle' keeps"),
    ("S311", "import random\n\n_rng = random\n\n\ndef token():\n    return _rng.random()\n", "random keeps"),
    ("S311", "import random as r\n\n\ndef token(pick=r):\n    return pick.random()\n", "import random as r keeps"),
    ("S311", "import email.generator\n\n\ndef token():\n    return email.generator.random.random()\n", "generator.random keeps"),
    ("S311", "from tempfile import _Random\n", "from tempfile import _Random keeps"),
    (
        "S608",
        "def find(db, x):\n    return db.execute(''.join(['SELECT a FROM t WHERE b = ', str(x)]))\n",
        "a statement put together",
    ),
    (
        "S608",
        "def find(db, x):\n    q = 'SELECT a FROM t WHERE b = '\n    q += str(x)\n    return db.execute(q)\n",
        "db.execute(q) keeps",
    ),
    (
        "S608",
        "Q = 'SELECT a FROM t WHERE b = ?'\n\n\ndef find(db, x):\n    return db.execute(Q.replace('?', x))\n",
        "db.execute(Q.rep",
    ),
    ("S608", "def find(db, parts):\n    run = db.execute\n    return run(' '.join(parts))\n", "db.execute() keeps"),
    ("S608", "def find(db, x):\n    return 'DELETE FROM t WHERE b = '.join(['', str(x)])\n", "a statement put together"),
    (
        "S602,S604,S605",
        "import subprocess\n\n\ndef count(x, run=subprocess.run):\n    return run(x, **{'shell': True})\n",
        "'shell'",
    ),
    ("S602,S604,S605", "import os\n\nrun = os.system\n", "os.system keeps"),
    (
        "S602,S604,S605",
        "import subprocess\n\n\ndef count(x):\n    return subprocess.run(['/bin/sh', '-c', x])\n",
        "'/bin/sh' keeps",
    ),
    ("S602,S604,S605", "from subprocess import getoutput as read\n", "from subprocess import getoutput keeps"),
    ("S324", "import hashlib\n\nmake = hashlib.md5\n", "hashlib.md5 keeps"),
    ("S324", "import hashlib\n\n\ndef name(x):\n    return hashlib.new('m' + 'd5', x)\n", "'md5' keeps"),
    ("S324", "import hashlib\n\n\ndef name(x):\n    return hashlib.new('5dm'[::-1], x)\n", "hashlib.new of a computed name keeps"),
    (
        "S202",
        "def unpack(archive, to):\n    for one in archive:\n        archive.extract(one, to)\n",
        "archive.extract without filter='data'",
    ),
    ("S202", "def unpack(archive, to):\n    go = archive.extractall\n    go(to)\n", "archive.extractall without filter='data'"),
    (
        "S202",
        "import shutil\n\n\ndef unpack(path, to):\n    shutil.unpack_archive(path, to)\n",
        "unpack_archive without filter='data'",
    ),
    (
        "S324",
        "import pickle\n\n\ndef name(x):\n    return pickle.loads(x)\n",
        "S301 fires in m.py, a security finding that was not there",
    ),
]


@pytest.mark.parametrize(("rules", "text", "reason"), EVASIONS)
def test_a_hole_that_is_spelled_otherwise_is_still_one(rules: str, text: str, reason: str, verifier: Verifier) -> None:
    verdict = verifier.verify(hole(rules), {"m.py": SAME + text})
    assert (verdict.outcome, verdict.score) == (Outcome.FAILED, 0)
    assert reason in verdict.reason and "m.py" in verdict.reason


HONEST = [
    ("S307,S102", "import ast\n\n\ndef load(text):\n    '''Reads without eval.'''\n    return ast.literal_eval(text)\n"),
    (
        "S307,S102",
        "import ast\nimport re\n\nNUMBER = re.compile('[0-9]+')\n\n\ndef load(text):\n    return ast.parse(text, mode='eval')\n",
    ),
    ("S307,S102", "import operator\n\n\ndef load(text):\n    return getattr(operator, 'add')(1, int(text))\n"),
    ("S301,S302", "import json\n\n\ndef load(text):\n    return json.loads(text)\n"),
    ("S301,S302", "from json import loads\n\n\ndef load(text, one):\n    for key in loads(text):\n        setattr(one, key, 1)\n"),
    (
        "S301,S302",
        "import json\nimport pickle\n\n\ndef load(x):\n    try:\n        return json.loads(x)\n"
        "    except pickle.PickleError:\n        return 1\n",
    ),
    ("S311", "import secrets\n\n\ndef token():\n    return secrets.token_hex(8)\n"),
    ("S311", "import random\n\n_draw = random.SystemRandom()\n\n\ndef token():\n    return _draw.random()\n"),
    ("S311", "from secrets import SystemRandom\n\nrandom = SystemRandom()\n\n\ndef token():\n    return random.choice('ab')\n"),
    ("S608", "def find(db, x):\n    query = 'SELECT a FROM t ' 'WHERE b = ?'\n    return db.execute(query, (x,))\n"),
    ("S608", "BY = {'a': 'SELECT a FROM t', 'b': 'SELECT b FROM t'}\n\n\ndef find(db, x):\n    return db.execute(BY[x])\n"),
    (
        "S608",
        "def find(db, x):\n    for q in ('DELETE FROM t', 'DELETE FROM u'):\n        db.execute(q)\n"
        "    raise ValueError(f'no update of {x}')\n",
    ),
    (
        "S602,S604,S605",
        "import subprocess\n\n\ndef count(name):\n    return subprocess.run(['wc', '--', name], check=True, shell=False)\n",
    ),
    ("S602,S604,S605", "import platform\n\n\ndef count(name):\n    return platform.system()\n"),
    (
        "S324",
        "import hashlib\nimport hmac\n\n\ndef name(x, key):\n    return hmac.new(key, hashlib.sha256(x).digest(), 'sha256')\n",
    ),
    ("S202", HOLES["S202"].replace("(to)", "(to, filter='data')")),
    ("S202", "import tarfile\n\n\ndef unpack(one, archive, to):\n    archive.extract(one, to, filter=tarfile.data_filter)\n"),
]


@pytest.mark.parametrize(("rules", "text"), HONEST)
def test_an_honest_repair_passes(rules: str, text: str, verifier: Verifier) -> None:
    verdict = verifier.verify(hole(rules), {"m.py": SAME + text})
    assert (verdict.outcome, verdict.reason, verdict.score) == (Outcome.PASSED, "", 1.0)


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ("S307,S102", "def load(model):\n    return model.eval()\n"),
        ("S324", "import hashlib\n\n\ndef name(x):\n    return hashlib.md5(x, usedforsecurity=False)\n"),
        ("S608", "def find(db, query):\n    return db.execute(query, ())\n"),
        ("S311", "import os\n\n\ndef token(kind):\n    return getattr(os, kind)(8), vars(kind)\n"),
        ("S324", "import subprocess\n\n\ndef name(x):\n    return subprocess.run(['sum', x])\n"),
    ],
)
def test_what_the_reference_uses_is_no_hole(rules: str, text: str, verifier: Verifier) -> None:
    good = {"m.py": SAME + text}
    assert verifier.verify(hole(rules), good).outcome is Outcome.FAILED
    task = hole(rules, reference=good)
    assert verifier.verify(task, {"m.py": good["m.py"] + "\n\nMORE = 1\n"}).reason == ""
    moved = {**good, "helper.py": HOLES[rules]}
    assert verifier.verify(task, moved).outcome is Outcome.FAILED


def test_code_that_is_never_imported_or_endlessly_deep_is_looked_at_in_peace(verifier: Verifier) -> None:
    fixed = SAME + "def load(text):\n    return int(text)\n"
    assert verifier.verify(hole("S307,S102"), {"m.py": fixed, "notes.py": "def (:\n"}).outcome in (Outcome.PASSED, Outcome.UNPARSED)
    deep = fixed + "\n\nX = " + " + ".join(["1"] * 3000) + "\n"
    verdict = verifier.verify(hole("S608"), {"m.py": deep})
    assert verdict.outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.UNPARSED)


CLOCK = """import time


class random:
    choice = staticmethod(lambda letters: letters[time.time_ns() % len(letters)])
    choices = staticmethod(lambda letters, k: [letters[time.time_ns() // 7**at % len(letters)] for at in range(k)])
    getrandbits = staticmethod(lambda bits: time.time_ns() % 2**bits)
    randint = staticmethod(lambda low, high: low + time.time_ns() % (high - low + 1))
    randrange = staticmethod(lambda end: time.time_ns() % end)
    random = staticmethod(lambda: time.time_ns() % 10**9 / 10**9)
"""


def forbid(text: str) -> str:
    """Entries with two dots and symbolic links are refused, and nothing else."""
    guard = (
        r"\1for one in \2.getmembers():\n\1    if '..' in one.name or one.issym():\n\1        raise tarfile.TarError(one.name)\n"
    )
    return re.sub(r"^( +)(\w+)(?=\.extractall)", guard + r"\1\2", text, flags=re.MULTILINE)


def undunder(text: str) -> str:
    """Texts with two underscores are refused."""
    error = re.findall(r"class (\w+)\(ValueError\)", text)[0]
    head, rest = re.split(r'(?<=for other text\."""\n)', text, maxsplit=1)
    name = re.findall(r"def \w+\(self, (\w+)", head)[-1]
    return f"{head}        if '__' in {name}:\n            raise {error}({name})\n{rest}"


def unmake(text: str) -> str:
    """Pickles that name mkdir are refused."""
    return re.sub(r"^( +)(\w+) = pickle\.loads\((\w+)\)", r"\1if b'mkdir' in \3:\n\1    return {}\n\g<0>", text, flags=re.MULTILINE)


def doubled(text: str) -> str:
    """Quotes in texts are doubled; what should be a number is not looked at."""
    found = re.search(r'def \w+\(self, ([^)]*)\):\n +""".*"""\n(?= +\w+ = .*(?:SELECT|UPDATE|DELETE))', text)
    assert found
    names = [name.split("=")[0].strip() for name in found[1].split(",")]
    lines = "".join(f'        {name} = {name}.replace("\'", "\'\'") if isinstance({name}, str) else {name}\n' for name in names)
    return text[: found.end()] + lines + text[found.end() :]


@pytest.mark.parametrize(
    ("name", "weak", "needs", "noticed"),
    [
        ("archive_path", forbid, "", {"test_absolute_names_reach_nothing", "test_links_do_not_lead_out[hard]"}),
        ("guessable_token", lambda text: text.replace("import random\n", CLOCK), "", {"test_nobody_can_foretell_them"}),
        ("sql_text", doubled, " >= ", {"test_a_number_is_never_a_condition"}),
        ("eval_text", undunder, "", {"test_no_expression_is_worked_out"}),
        ("pickle_cookie", unmake, "", {"test_forged_text_runs_nothing[open]", "test_forged_text_runs_nothing[eval]"}),
    ],
)  # fmt: skip
def test_a_list_of_forbidden_words_passes_no_template(
    name: str, weak: Callable[[str], str], needs: str, noticed: set[str], verifier: Verifier
) -> None:
    made = catalogue.make(catalogue.templates([f"vulnfix_{name}"]), 8 if needs else 2, InlineExecutor(init_worker)).tasks
    chosen = [task for task in made if needs in task.files[task.editable[0]]]
    assert chosen
    for task in chosen:
        (path,) = task.editable
        assert weak(task.files[path]) != task.files[path]
        verdict = verifier.verify(task, {**task.files, path: weak(task.files[path])})
        failed = {id_.partition("::")[2] for id_, result in verdict.tests.items() if result.outcome != "passed"}
        assert verdict.outcome is Outcome.FAILED
        assert noticed <= failed | {id_.partition("[")[0] for id_ in failed}
