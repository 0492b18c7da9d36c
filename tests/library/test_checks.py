"""What each check of the gate refuses, and the right thing beside it that it lets through."""

from __future__ import annotations

from typing import Any

import pytest
from library_samples import FIX, TASK, WAY, item, passing, walk

from swefuse.library.checks.contamination import contamination
from swefuse.library.checks.hardcoded import hardcoded
from swefuse.library.checks.licence import licence, spdx
from swefuse.library.checks.observed import observed
from swefuse.library.checks.secrets import secrets
from swefuse.library.checks.size import length
from swefuse.library.checks.tamper import tamper
from swefuse.library.context import Context
from swefuse.library.evaluation import EvaluationSet
from swefuse.library.gate import find_check, gate
from swefuse.library.settings import GateConfig
from swefuse.records import Action, Call, Kind, Step, Suite, Task, Trajectory

V = passing()


def shown(at: int, observation: str, way: tuple[str, ...] = WAY) -> Trajectory:
    """An honest way of which one observation is another."""
    honest = walk(way)
    steps = list(honest.steps)
    steps[at] = steps[at].model_copy(update={"observation": observation})
    return honest.model_copy(update={"steps": tuple(steps)})


def ran(command: str) -> Trajectory:
    honest = walk(WAY)
    step = honest.steps[1].model_copy(update={"action": Action(name="run", text=command), "raw": "", "observation": "x"})
    return honest.model_copy(update={"steps": (honest.steps[0], step, *honest.steps[2:])})


def final(text: str, task: Task = TASK, path: str = "m.py") -> Trajectory:
    return walk(WAY, task, files={path: text})


def set_to(**settings: Any) -> Context:
    return Context.prepared(GateConfig(**settings))


@pytest.mark.parametrize(
    ("at", "observation", "reason"),
    [
        (0, "1>def f(x):\n2>    return x - 1", None),
        (0, "1>def f(x):\n2>    return x", "step 1: shows line 2 of m.py otherwise than it is"),
        (0, "1>def f(x):", "step 1: leaves lines of m.py out behind line 1, and does not say so"),
        (0, "2>    return x - 1", "step 1: leaves lines of m.py out before line 2, and does not say so"),
        (0, "[... 1 lines left out ...]\n2>    return x - 1", None),
        (0, "class Other: ...", "step 1: shows nothing of m.py"),
        (0, "[File: m.py]\ndef f(x):", None),  # another agent's way to show a file
        (1, "FAIL f(1,) gave 0, expected 2", None),
        (1, "FAIL f(1,) gave 0, expected 3", 'step 2: shows "FAIL f(1,) gave 0, expected 3", which no test of the task can give'),
        (1, "FAIL f(1,) gave 2, expected 2", 'step 2: shows "FAIL f(1,) gave 2, expected 2", which no test of the task can give'),
        (1, "PASS f(7,) gave 8", 'step 2: shows "PASS f(7,) gave 8", which no test of the task can give'),
        (
            3,
            "FAIL f(1,) gave 0, expected 2",
            'step 4: shows "FAIL f(1,) gave 0, expected 2" in the final state, of which the verdict',
        ),
    ],
)
def test_observations_show_what_is_there(at: int, observation: str, reason: str | None) -> None:
    found = observed(TASK, shown(at, observation), V)
    assert found is None if reason is None else (found or "").startswith(reason)


def test_a_search_shows_what_the_files_hold() -> None:
    way = ("@search return\n", *WAY[1:])
    assert observed(TASK, walk(way), V) is None
    assert observed(TASK, shown(0, "m.py:2>    return x", way), V) == "step 1: shows line 2 of m.py otherwise than it is"
    assert observed(TASK, shown(0, "no match", way), V) == "step 1: finds no 'return', which m.py holds"


def test_an_error_that_calls_expect_can_be_shown() -> None:
    suite = Suite(form="calls", entry="m.py:f", calls=(Call(id="t0", args="(1,)", raises="ValueError"),), fail_to_pass=("t0",))
    task = TASK.model_copy(update={"suites": (suite,)})
    for row, right in [
        ("FAIL f(1,) gave 0, expected to raise ValueError", True),
        ("PASS f(1,) gave ValueError", True),
        ("FAIL f(1,) gave 0, expected to raise KeyError", False),
    ]:
        assert (observed(task, shown(1, row, (*WAY[:3], WAY[4])), V) is None) == right


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, None),
        ({"steps": 4}, "5 steps, more than 4"),
        ({"steps": 5}, None),
        ({"observation": 100}, "step 2: its observation has 1500 characters, more than 100"),
        ({"characters": 1000}, "characters in all, more than 1000"),
    ],
)
def test_length(settings: dict[str, int], reason: str | None) -> None:
    found = length(TASK, shown(1, "x" * 1500), V, set_to(**settings))
    assert found is None if reason is None else reason in (found or "")


@pytest.mark.parametrize(
    ("stated", "settings", "reason"),
    [
        ("MIT", {}, None),
        ("MIT License", {}, None),
        ("mit OR GPL-3.0-only", {}, None),
        ("MIT AND GPL-3.0-only", {}, "MIT AND GPL-3.0-only is not among the licences allowed"),
        ("(MIT OR GPL-2.0-only) AND Apache-2.0", {}, None),
        ("GPLv3", {}, "GPL-3.0-only is not among the licences allowed"),
        ("GPL-3.0-only", {"licences": ("gpl-3.0-only",)}, None),
        ("MIT", {"denied": ("MIT",)}, "MIT is denied"),
        ("Apache-2.0 WITH LLVM-exception", {}, None),
        ("", {}, None),
        ("", {"unknown_licence": False}, "no licence is stated"),
        ("my own words", {"unknown_licence": False}, "'my own words' is no known licence"),
    ],
)
def test_licence(stated: str, settings: dict[str, Any], reason: str | None) -> None:
    task = TASK.model_copy(update={"provenance": TASK.provenance.model_copy(update={"licence": stated})})
    assert licence(task, walk(WAY), V, set_to(**settings)) == reason


def test_names_of_licences() -> None:
    assert [spdx(name) for name in ("Apache License 2.0", "BSD", "new words")] == ["Apache-2.0", "BSD-3-Clause", None]


SECRETS = [
    "AKIA" + "Q3EGRZ7WN5TTB2LK",
    "ghp_" + "x8Kd02LmQw93ZrTtYb7Vn1Hc5Jf6Ps4UaEoG",
    "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "sk-proj-" + "x8Kd02LmQw93ZrTtYb7Vn1Hc5Jf6Ps4UaEoG",
    "postgresql://billing:Tr0ub4dor@db.fjordline.no/main",
    "mara.lindqvist@fjordline-systems.no",
    "db7.billing.corp",
    "http://10.20.30.40:8080/metrics",
]
HARMLESS = [
    "someone@example.com", "noreply@github.com", "git@github.com:a/b.git", "@pytest.mark.parametrize", "x@property.setter",
    "https://user:password@example.com/", "http://127.0.0.1:8000/", "192.168.0.1", "a@b.c", "self.matrix @ other.T",
    "xs.internal(1)", "http://192.0.2.7/", "sk-learn", "AKIAIOSFODNN7EXAMPLE", "value = base.lan_count", "1.2.3.4",
    "postgres://postgres:postgres@localhost/test",
]  # fmt: skip


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_found_wherever_they_are_new(text: str) -> None:
    raw = f"#I use {text} here\n@edit m.py:2\n--\n++\n"
    said = walk((*WAY[:2], raw, *WAY[3:]))
    held = final(f"def f(x):\n    return x + 1  # {text}\n")
    printed = shown(1, f"config: {text}")
    for trajectory in (said, held, printed):
        found = secrets(TASK, trajectory, V)
        assert found is not None and "holds" in found and text not in found
    own = TASK.model_copy(update={"files": {**TASK.files, "conf.txt": f"config: {text}\n"}})
    assert secrets(own, printed, V) is None  # it was the project's own, as a test's fixture is


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret(text: str) -> None:
    assert secrets(TASK, final(f"def f(x):\n    return x + 1  # {text}\n"), V) is None


def test_hosts_of_ones_own() -> None:
    trajectory = shown(1, "connected to build3.fjordline.example")
    assert secrets(TASK, trajectory, V) is None
    assert secrets(TASK, trajectory, V, set_to(internal=("fjordline.example",))) is not None


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("git show HEAD~1", "history"),
        ("cd /repo && git --no-pager log -p", "history"),
        ("git checkout v2.0 -- m.py", "history"),
        ("pip download mod==2.0", "network"),
        ("curl -s https://host/fix.patch", "network"),
        ("python -c 'import requests; requests.get(u)'", "network"),
        ("cat /usr/lib/python3/site-packages/mod.py", "installed"),
        ("git status", None),
        ("git diff", None),
        ("git diff HEAD", None),
        ("git checkout -- m.py", None),
        ("python -m pytest -q", None),
        ("grep -n curl m.py", None),
        ("python -c 'import m; print(m.f(1))'", None),
    ],
)
def test_commands_that_look_the_answer_up(command: str, what: str | None) -> None:
    found = tamper(TASK, ran(command), V)
    assert found is None if what is None else what in (found or "")


@pytest.mark.parametrize(
    ("path", "text", "what"),
    [
        ("conftest.py", "x = 1\n", "can change how tests run"),
        ("pytest.ini", "[pytest]\n", "can change how tests run"),
        ("own.pth", "import m\n", "can change how tests run"),
        ("m.py", 'import os\nRUN = "PYTEST_CURRENT_TEST" in os.environ\n', "asks whether it is tested"),
        ("m.py", "import requests\nx = requests.get(u)\n", "loads from the network"),
        ("m.py", "x = 1  # \u202e\n", "U+202E, which nobody sees"),
        ("m.py", "x = 1  # \u00e9\U0001f600\n", None),
        ("test_new.py", "import pytest\n\n\ndef test_g():\n    assert True\n", None),
    ],
)
def test_files_that_change_the_judge_or_hide(path: str, text: str, what: str | None) -> None:
    found = tamper(TASK, final(text, path=path), V)
    assert found is None if what is None else what in (found or "")


def test_what_was_written_in_between_counts() -> None:
    way = (*WAY[:2], "@create conftest.py\n+x = 1\n", "@undo\n", *WAY[2:])
    assert (tamper(TASK, walk(way), V) or "").startswith("step 3: conftest.py")


def test_tests_that_were_there_say_as_much_as_before() -> None:
    suites = tuple(suite.model_copy(update={"files": ()}) for suite in TASK.suites)
    own = "def test_a():\n    assert f(1) == 2\n\n\ndef test_b():\n    assert f(2) == 3\n"
    task = TASK.model_copy(update={"suites": suites, "protected": (), "files": {"m.py": TASK.files["m.py"], "test_own.py": own}})
    for text, what in [
        (own + "\n\ndef test_c():\n    assert f(3) == 4\n", None),
        (own.replace("f(2) == 3", "True"), "test_b has 0 assertions of 1"),
        (own.partition("\n\n\ndef test_b")[0] + "\n", "the test test_b is gone"),
        ("import pytest\n\n\n@pytest.mark.skip\n" + own, "test_a is skipped now"),
    ]:
        found = tamper(task, final(text, task, "test_own.py"), V)
        assert found is None if what is None else what in (found or "")


CALLS = tuple(Call(id=f"t{x}", args=f"({x},)", want=str(x * x)) for x in (0, 1, 7, 12, 31))


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("    if x == 31:\n        return 961\n    return x\n", True),
        ("    return 961 if x == 31 else x\n", True),
        ("    return {7: 49, 12: 144}.get(x)\n", True),
        ("    for a, b in [(7, 49), (12, 144)]:\n        if a == x:\n            return b\n", True),
        ("    match x:\n        case 12:\n            return 144\n", True),
        ("    if x == 0:\n        return 0\n    return x * x\n", False),  # how code begins
        ("    if x in (0, 1):\n        return x\n    return x * x\n", False),
        ("    if x == 31:\n        return 7\n    return x * x\n", False),  # no test says so
        ("    return x * x\n", False),
    ],
)
def test_values_of_tests_that_are_written_down(body: str, wrong: bool) -> None:
    suite = Suite(form="calls", entry="m.py:f", calls=CALLS, fail_to_pass=tuple(call.id for call in CALLS))
    task = TASK.model_copy(update={"suites": (suite,)})
    text = f"def f(x):\n{body}"
    assert (hardcoded(task, final(text, task)) is not None) == wrong
    assert hardcoded(task.model_copy(update={"reference": {"m.py": text}}), final(text, task)) is None
    assert hardcoded(task.model_copy(update={"files": {**TASK.files, "m.py": text}}), final(text + "\n", task)) is None


def test_values_of_test_files_count_too() -> None:
    tests = "from m import f\n\n\ndef test_f():\n    assert f(31) == 961\n"
    task = TASK.model_copy(update={"files": {**TASK.files, "test_m.py": tests}})
    suites = (Suite(form="pytest", files=("test_m.py",), fail_to_pass=("test_m.py::test_f",)),)
    task = task.model_copy(update={"suites": suites})
    assert hardcoded(task, final("def f(x):\n    if x == 31:\n        return 961\n", task)) is not None


PROBLEM = "def total(numbers):\n    found = 0\n    for each in numbers:\n        found += each * each\n    return found\n"
WORDS = "return the sum of the squares of all of the given numbers as one whole number"


def test_functions_and_words_of_an_evaluation_set() -> None:
    context = Context(evaluation=(EvaluationSet.made("set", [("p/1", WORDS, PROBLEM)], 13),))
    renamed = PROBLEM.replace("total", "energy").replace("numbers", "xs").replace("each", "x").replace("found", "acc")
    told = contamination(TASK, final(renamed), V, context)
    assert told == "m.py: energy is p/1 of set, up to names and docstring"
    assert contamination(TASK, final(renamed.replace("x * x", "x + x")), V, context) is None
    asked = TASK.model_copy(update={"instruction": f"Please {WORDS.title()}!"})
    found = contamination(asked, walk(WAY, asked), V, context)
    assert (found or "").startswith('instruction: 13 words of p/1 of set: "return the sum of the squares')
    few = TASK.model_copy(update={"instruction": " ".join(WORDS.split()[:12])})
    assert contamination(few, walk(WAY, few), V, context) is None
    assert contamination(TASK, final(renamed), V) is None  # no set, no question
    looked = TASK.model_copy(update={"files": {**TASK.files, "other.py": renamed}})
    assert contamination(looked, walk(WAY, looked), V, context) is None  # nobody saw it
    assert contamination(looked, walk(("@view other.py\n", *WAY), looked), V, context) is not None


def test_a_task_that_is_held_out_is_not_trained_on() -> None:
    assert contamination(TASK.model_copy(update={"split": "unseen"}), walk(WAY), V) is not None
    assert contamination(TASK.model_copy(update={"split": "train"}), walk(WAY), V) is None


def test_the_honest_way_passes_all_of_them() -> None:
    one = item()
    assert [check(*one) for check in (observed, length, licence, secrets, tamper, contamination)] == [None] * 6
    assert isinstance(one[1].steps[2], Step) and FIX in WAY and one[0].kind is Kind.BUGFIX


@pytest.mark.parametrize(
    ("check", "line", "told"), [("types", "TOTAL: int = 'none'", "assignment"), ("bandit", "import telnetlib", "B401")]
)
def test_analysers_that_are_asked_for_refuse_what_is_new(check: str, line: str, told: str) -> None:
    task, one, verdict = item()
    (path,) = one.files
    worse = one.model_copy(update={"files": {path: f"{one.files[path]}\n\n{line}\n"}})
    context = Context(GateConfig(checks=("syntax", check)))
    right, wrong = gate([(task, one, verdict), (task, worse, verdict)], context=context)
    assert right.accepted and right.gate_version.endswith(f"with syntax, {check}")
    assert not wrong.accepted and wrong.reasons[0].startswith(f"{check}: {path}: {told}")
    assert " ".join((find_check(check)(task, worse, verdict) or "").split()) == wrong.reasons[0].removeprefix(f"{check}: ")
