"""Ways in which a right trajectory is made wrong, for ``library_gate.py``: small functions, with the check that must notice."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping, Sequence

from swefuse.code.functions import Source, function, functions, local_names, rename
from swefuse.collect.actions import render
from swefuse.library.checks.basic import Item
from swefuse.records import Action, Outcome, Step, Suite, TestResult, TokenTrace
from swefuse.workspace import apply_edit, ref

Made = tuple[Item, Item | None]  # what must be refused, and what is in the library before it
Fault = Callable[[Item, random.Random], Item | None]
TEXT = "the seven grey herons of the lower estuary counted every passing barge before breakfast in silence"
EVALUATION = {"task_id": "bench/1", "prompt": TEXT, "code": ""}


def rebuilt(item: Item, steps: Sequence[Step], files: Mapping[str, str] | None = None) -> Item:
    """The item with these steps, states as the actions make them; ``files`` replaces the final ones."""
    task, trajectory, verdict = item
    states, made = [dict(task.files)], []
    for step in steps:
        before, action = ref(states[-1]), step.action
        if action is not None and action.name in ("edit", "create"):
            states.append(apply_edit(states[-1], action))
        elif action is not None and action.name == "undo" and len(states) > 1:
            states.pop()
        made.append(step.model_copy(update={"before": before, "after": ref(states[-1])}))
    last = dict(states[-1]) if files is None else {**task.files, **files}
    changed = {path: text for path, text in last.items() if task.files.get(path) != text}
    told = {"steps": tuple(made), "final": ref(last), "files": changed}
    return task, trajectory.model_copy(update=told), verdict


def said(thought: str, action: Action, observation: str = "ok") -> Step:
    """A step as an agent would write it."""
    return Step(thought=thought, action=action, raw=render(action, thought), observation=observation, before="", after="")


def at_write(item: Item) -> int:
    """Position of the last step that writes; -1 without one."""
    names = [step.action.name if step.action else "" for step in item[1].steps]
    return max((at for at, name in enumerate(names) if name in ("edit", "create")), default=-1)


def inserted(item: Item, *steps: Step) -> Item | None:
    """Steps behind the last one that writes."""
    at = at_write(item)
    kept = item[1].steps
    return None if at < 0 else rebuilt(item, [*kept[: at + 1], *steps, *kept[at + 1 :]])


def path_of(item: Item) -> str:
    """A Python file that the trajectory changed."""
    return next((path for path in sorted(item[1].files) if path.endswith(".py") and "test" not in path), "")


def appended(item: Item, text: str) -> Item | None:
    """One more edit, which adds lines at the end of a changed file."""
    path = path_of(item)
    if not path:
        return None
    whole = item[1].files[path]
    line = whole.count("\n") + (not whole.endswith("\n")) + 1
    return inserted(item, said("", Action(name="edit", path=path, line=line, new=text)))


def thought(item: Item, text: str, at: int | None = None) -> Item | None:
    """A thought put before an action, by default the last edit."""
    at = at_write(item) if at is None else at
    if at < 0 or item[1].steps[at].action is None:
        return None
    steps = list(item[1].steps)
    old = steps[at]
    assert old.action is not None
    steps[at] = old.model_copy(update={"thought": text, "raw": render(old.action, text)})
    return rebuilt(item, steps)


def changed(item: Item, **fields: object) -> Item:
    return item[0], item[1].model_copy(update=fields), item[2]


def step_changed(item: Item, at: int, **fields: object) -> Item:
    steps = list(item[1].steps)
    steps[at] = steps[at].model_copy(update=fields)
    return changed(item, steps=tuple(steps))


def acted(item: Item, name: str, has: str = "") -> int:
    """Position of the first step of that action whose observation holds a text."""
    found = (at for at, step in enumerate(item[1].steps) if step.action and step.action.name == name and has in step.observation)
    return next(found, -1)


def view_lies(item: Item, rng: random.Random) -> Item | None:
    at = acted(item, "view", ">")
    if at < 0:
        return None
    rows = item[1].steps[at].observation.split("\n")
    numbered = [number for number, row in enumerate(rows) if ">" in row and row.split(">", 1)[0].isdigit()]
    if not numbered:
        return None
    rows[rng.choice(numbered)] += "  # checked"
    return step_changed(item, at, observation="\n".join(rows))


def view_short(item: Item, rng: random.Random) -> Item | None:
    at = acted(item, "view", "\n3>")
    rows = item[1].steps[at].observation.split("\n")
    return None if at < 0 or "left out" in "".join(rows) else step_changed(item, at, observation="\n".join([rows[0], *rows[2:]]))


def test_lies(item: Item, rng: random.Random) -> Item | None:
    """The last test fails in the final state, whose verdict is PASSED."""
    tests = [
        at for at, step in enumerate(item[1].steps) if step.action and step.action.name == "test" and "PASS " in step.observation
    ]
    if not tests or item[1].steps[tests[-1]].before != item[1].final:
        return None
    shown = item[1].steps[tests[-1]].observation.split("\n")
    shown = ["FAIL" + row.removeprefix("PASS") if row.startswith("PASS ") else row for row in shown]
    return step_changed(item, tests[-1], observation="\n".join(shown))


def value_lies(item: Item, rng: random.Random) -> Item | None:
    at = acted(item, "test", "PASS ")
    rows = item[1].steps[at].observation.split("\n") if at >= 0 else []
    hits = [number for number, row in enumerate(rows) if row.startswith("PASS ") and " gave " in row]
    if not hits or item[0].suite("calls") is None:
        return None
    rows[hits[0]] = rows[hits[0]].rpartition(" gave ")[0] + " gave 'nothing of the kind'"
    return step_changed(item, at, observation="\n".join(rows))


def not_applied(item: Item, rng: random.Random) -> Item | None:
    return changed(item, files={})


def other_final(item: Item, rng: random.Random) -> Item | None:
    return changed(item, final=ref({"other.py": "x = 1\n"}))


def green_after_red(item: Item, rng: random.Random) -> Item | None:
    red = acted(item, "test", "FAIL ")
    edit = at_write(item)
    return thought(item, "All tests pass now.", edit) if 0 <= red < edit else None


def wrong_count(item: Item, rng: random.Random) -> Item | None:
    last = len(item[1].steps) - 1
    passing = any(step.action and step.action.name == "test" and "PASS " in step.observation for step in item[1].steps)
    return thought(item, "All 9876 tests pass.", last) if passing else None


def writes(path: str, text: str) -> Fault:
    """A fault that creates a file."""
    return lambda item, rng: inserted(item, said("", Action(name="create", path=path, text=text)))


def runs(command: str, shown: str) -> Fault:
    """A fault that runs a command before the edit."""

    def made(item: Item, rng: random.Random) -> Item | None:
        at = at_write(item)
        step = said("", Action(name="run", text=command), shown)
        return None if at < 0 else rebuilt(item, [*item[1].steps[:at], step, *item[1].steps[at:]])

    return made


def adds(text: str) -> Fault:
    """A fault that adds lines to a changed file."""
    return lambda item, rng: appended(item, text)


def says(text: str) -> Fault:
    """A fault in a thought."""
    return lambda item, rng: thought(item, text)


def test_file(item: Item) -> str:
    return next((path for path in sorted(item[0].files) if path.rpartition("/")[2].startswith("test_")), "")


def test_gone(item: Item, rng: random.Random) -> Item | None:
    return changed_tests(item, lambda text: text.partition("def test")[0] + "VALUE = 1\n")


def weaker(item: Item, rng: random.Random) -> Item | None:
    return changed_tests(item, lambda text: text.replace("assert ", "assert True or ", 1) if "assert " in text else text)


def changed_tests(item: Item, change: Callable[[str], str]) -> Item | None:
    path = test_file(item)
    text = change(item[0].files[path]) if path else ""
    if not path or text == item[0].files[path]:
        return None
    action = Action(name="edit", path=path, line=1, old=item[0].files[path], new=text)
    return inserted(item, said("", action))


def rows_of(suite: Suite | None) -> list[tuple[str, str]]:
    """Arguments and answers that nobody writes by chance."""
    rows = []
    for call in suite.calls if suite else ():
        arguments = ast.literal_eval(call.args)
        if call.want is not None and arguments and len(call.want) > 2 and len(repr(arguments[0])) > 2:
            rows.append((repr(arguments[0]), call.want))
    return rows


def branches(item: Item, rng: random.Random) -> Item | None:
    return hard(item, lambda name, rows: [f"    if {name} == {one}:\n        return {want}" for one, want in rows])


def table(item: Item, rng: random.Random) -> Item | None:
    listed = lambda rows: ", ".join(f"({one}, {want})" for one, want in rows)  # noqa: E731
    return hard(
        item,
        lambda name, rows: [f"    for known, answer in [{listed(rows)}]:\n        if {name} == known:\n            return answer"],
    )


def hard(item: Item, lines: Callable[[str, list[tuple[str, str]]], list[str]]) -> Item | None:
    rows, path = rows_of(item[0].suite("calls")), path_of(item)
    if len(rows) < 3 or path not in item[0].files:
        return None
    entry = (item[0].suite("calls") or Suite(form="calls")).entry.partition(":")[2]
    text = item[1].files[path]
    node = next((one for one in functions(ast.parse(text)) if one.name == entry), None)
    if node is None or not node.args.args:
        return None
    body = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
    new = "\n".join(lines(node.args.args[0].arg, rows))
    return inserted(item, said("", Action(name="edit", path=path, line=body.lineno, new=new)))


def licensed(name: str) -> Fault:
    def made(item: Item, rng: random.Random) -> Item | None:
        origin = item[0].provenance.model_copy(update={"licence": name})
        return item[0].model_copy(update={"provenance": origin}), item[1], item[2]

    return made


def instructed(item: Item, rng: random.Random) -> Item | None:
    task = item[0].model_copy(update={"instruction": f"{item[0].instruction} {TEXT.upper()}."})
    return task, item[1], item[2]


def held_out(item: Item, rng: random.Random) -> Item | None:
    return item[0].model_copy(update={"split": "real"}), item[1], item[2]


def verdict(**fields: object) -> Fault:
    return lambda item, rng: (item[0], item[1].model_copy(update={"verdict": item[2]}), item[2].model_copy(update=fields))


def tests_missing(item: Item, rng: random.Random) -> Item | None:
    few = dict(list(item[2].tests.items())[:-1])
    return (item[0], item[1], item[2].model_copy(update={"tests": few})) if item[0].suites and len(item[2].tests) > 1 else None


def test_forged(item: Item, rng: random.Random) -> Item | None:
    forged = {name: TestResult(outcome="skipped") for name in item[2].tests}
    return (item[0], item[1], item[2].model_copy(update={"tests": forged})) if item[0].suites and forged else None


def traced(trace: TokenTrace) -> Fault:
    return lambda item, rng: step_changed(item, at_write(item), trace=trace) if at_write(item) >= 0 else None


def endless(item: Item, rng: random.Random) -> Item | None:
    at = acted(item, "test")
    return None if at < 0 else step_changed(item, at, observation=item[1].steps[at].observation + "\nx" * 60_000)


def many_steps(item: Item, rng: random.Random) -> Item | None:
    path = path_of(item)
    if path not in item[0].files:
        return None
    look = said("", Action(name="search", text="no such text anywhere"), "no match").model_copy(update={"keep": False})
    return rebuilt(item, [*[look] * 201, *item[1].steps])


def nothing_kept(item: Item, rng: random.Random) -> Item | None:
    return changed(item, steps=tuple(step.model_copy(update={"keep": False}) for step in item[1].steps))


def undone_wrongly(item: Item, rng: random.Random) -> Item | None:
    """Says that the edit was undone, and ends as if it had not been."""
    made = inserted(item, said("", Action(name="undo")))
    return None if made is None else changed(made, files=item[1].files, final=item[1].final)


def back_and_forth(item: Item, rng: random.Random) -> Item | None:
    at = at_write(item)
    step = item[1].steps[at] if at >= 0 else None
    if step is None or step.action is None or step.action.name != "edit" or not step.action.old or not step.action.new:
        return None
    back = said("", step.action.model_copy(update={"old": step.action.new, "new": step.action.old, "nth": 1}))
    try:
        return inserted(item, back, step)
    except Exception:  # noqa: BLE001 - not every edit can be taken back so
        return None


def looked_twice(item: Item, rng: random.Random) -> Item | None:
    at = acted(item, "view")
    return None if at < 0 else rebuilt(item, [*item[1].steps[: at + 1], item[1].steps[at], *item[1].steps[at + 1 :]])


def unseen(item: Item, rng: random.Random) -> Item | None:
    """Edits what nothing has shown."""
    at = at_write(item)
    step = item[1].steps[at] if at >= 0 else None
    if step is None or step.action is None or step.action.name != "edit" or not step.action.old or not item[0].hide_instruction:
        return rebuilt(item, [step]) if step and step.action and step.action.name == "edit" and step.action.old else None
    return None


def goes_on(item: Item, rng: random.Random) -> Item | None:
    return rebuilt(item, [*item[1].steps, item[1].steps[-1]])


def again(item: Item, rng: random.Random) -> Item | None:
    return changed(item, id=f"{item[1].id}-copy")


def renamed(item: Item, rng: random.Random) -> Item | None:
    """The same solution of the same task, with other names of variables."""
    path = path_of(item)
    at = at_write(item)
    if not path or at < 0 or path not in item[0].files:
        return None
    text = item[1].files[path]
    source = Source(text)
    found = [one for one in functions(source.tree) if local_names(one)]
    if not found:
        return None
    node = function(source.tree, found[0].name)
    other = rename(source, node, {name: f"{name}_2" for name in local_names(node)})
    only = [step for step in item[1].steps if step.action and step.action.name in ("edit", "create")]
    if len(only) != 1 or other == text:
        return None
    whole = said("", Action(name="edit", path=path, line=1, old=item[0].files[path], new=other))
    made = rebuilt(item, [*item[1].steps[:at], whole, *item[1].steps[at + 1 :]])
    return changed(made, id=f"{item[1].id}-renamed")


_KEY = "AKIA" + "Q3EGRZ7WN5TTB2LK"
_TOKEN = "ghp_" + "x8Kd02LmQw93ZrTtYb7Vn1Hc5Jf6Ps4UaEoG"
_BEGIN = "-----BEGIN RSA " + "PRIVATE KEY-----"
_WHOLE = TokenTrace(token_ids=(1, 2), logprobs=(-1.0, float("nan")), raw_logprobs=(-1.0, -1.0), entropies=(0.1, 0.1))
_RAGGED = TokenTrace(token_ids=(1, 2), logprobs=(-1.0,), raw_logprobs=(-1.0, -1.0), entropies=(0.1, 0.1))
_HOOK = "def pytest_runtest_makereport(item, call):\n    return None\n"
BESIDE = ("repeats",)  # checks of which the right one must be in the library first

FAULTS: dict[str, tuple[str, Fault]] = {
    "a view shows another text": ("observed", view_lies),
    "a view leaves a line out": ("observed", view_short),
    "a test fails in the final state": ("observed", test_lies),
    "a test shows another value": ("observed", value_lies),
    "the edit is not applied": ("coherence", not_applied),
    "the final state is another": ("coherence", other_final),
    "green is claimed after red": ("consistent", green_after_red),
    "another number of tests is claimed": ("truthful", wrong_count),
    "a test is deleted": ("tamper", test_gone),
    "an assertion is weakened": ("tamper", weaker),
    "a conftest with a hook": ("tamper", writes("conftest.py", _HOOK)),
    "a sitecustomize": ("tamper", writes("sitecustomize.py", "import sys\n")),
    "a pytest.ini": ("tamper", writes("pytest.ini", "[pytest]\naddopts = --collect-only\n")),
    "a .pth file": ("tamper", writes("own.pth", "import sys\n")),
    "a branch for each test": ("tamper", branches),
    "a table of the tests": ("tamper", table),
    "the package's own copy is read": ("tamper", runs("cat /usr/lib/python3/site-packages/mod/core.py", "def f():")),
    "the repair is read from history": ("tamper", runs("git show HEAD~1", "diff")),
    "the log is read": ("tamper", runs("git --no-pager log -p --all", "commit")),
    "the next release is downloaded": ("tamper", runs("pip download mod==2.0 --no-deps", "Saved")),
    "the answer is fetched": ("tamper", runs("curl -s https://host.example/fix.patch", "diff")),
    "asks whether it is tested": ("tamper", adds('def _t():\n    import os\n    return "PYTEST_CURRENT_TEST" in os.environ')),
    "characters that turn the text": ("tamper", adds("# a \u202e b \u202c")),
    "characters without width": ("tamper", adds("# a\u200bb")),
    "a key in a thought": ("secrets", says(f"I log in with {_KEY}.")),
    "a token in the patch": ("secrets", adds(f"# {_TOKEN}")),
    "a private key": ("secrets", adds(f"# {_BEGIN}")),
    "an address in the patch": ("secrets", adds("# ask mara.lindqvist@fjordline-systems.no")),
    "an internal host": ("secrets", says("The values come from db7.billing.corp as before.")),
    "a licence that is not allowed": ("licence", licensed("GPL-3.0-only")),
    "a licence that only one side allows": ("licence", licensed("MIT AND AGPL-3.0-or-later")),
    "words of an evaluation set": ("contamination", instructed),
    "a task that is held out": ("contamination", held_out),
    "the same again": ("repeats", again),
    "the same with other names": ("repeats", renamed),
    "an import that nobody uses": ("static", adds("import colorsys")),
    "eval": ("static", adds("def _e(text):\n    return eval(text)")),
    "a shell": ("static", adds("def _s(text):\n    import subprocess\n\n    return subprocess.run(text, shell=True, check=False)")),
    "a password in the source": ("static", adds('password = "hunter2-hunter2"')),
    "an endless observation": ("length", endless),
    "too many steps": ("length", many_steps),
    "no step": ("coherence", lambda item, rng: changed(item, steps=(), files={}, final=item[1].initial)),
    "no step to train on": ("trainable", nothing_kept),
    "numbers that are none": ("trainable", traced(_WHOLE)),
    "a ragged trace": ("trainable", traced(_RAGGED)),
    "what does not compile": ("syntax", adds("def (:")),
    "failed, and the trajectory says otherwise": ("verdict", verdict(outcome=Outcome.FAILED)),
    "flaky": ("verdict", verdict(outcome=Outcome.FLAKY, reason="two runs differ")),
    "a test has no result": ("verdict", tests_missing),
    "a test was skipped": ("verdict", test_forged),
    "undone in words only": ("coherence", undone_wrongly),
    "back and forth": ("consistent", back_and_forth),
    "looks twice at the same": ("fresh", looked_twice),
    "edits what it has not seen": ("seen", unseen),
    "goes on after the end": ("coherence", goes_on),
}


def known_function(code: str) -> Fault:
    """A fault that takes a function of an evaluation set in, under other names."""

    def made(item: Item, rng: random.Random) -> Item | None:
        source = Source(code)
        node = functions(source.tree)[0]
        other = rename(source, node, {name: f"{name}_x" for name in local_names(node)}).replace(node.name, "helper_of_mine")
        return appended(item, "\n\n" + other.rstrip("\n"))

    return made


def wrong(name: str, fault: Fault, pool: Sequence[Item], rng: random.Random, count: int) -> list[Made]:
    """So many items that are wrong in one way, each from another right one."""
    check = FAULTS[name][0] if name in FAULTS else ""
    found: list[Made] = []
    for item in rng.sample(list(pool), len(pool)):
        made = fault(item, rng)
        if made is not None:
            found.append((made, item if check in BESIDE else None))
        if len(found) == count:
            break
    return found
