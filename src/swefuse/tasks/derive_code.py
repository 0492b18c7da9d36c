"""Tasks of writing what was taken out of a repository: a body, a docstring, a file of tests."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterator, Sequence

from swefuse.code.functions import body_hash
from swefuse.errors import DataError
from swefuse.records import Kind, Outcome, Suite, Task
from swefuse.tasks.commits import is_source
from swefuse.tasks.derive_edits import BODY, body_taken, without_docstring, without_tests
from swefuse.tasks.derive_parts import Made, Order, Refusal, View, named_like, unique
from swefuse.tasks.mutate import Order as Bugs
from swefuse.tasks.mutate import try_bugs
from swefuse.tasks.proving import How, prove_task
from swefuse.tasks.proving import Refusal as Unproven
from swefuse.tasks.sites import Site, injected, node_of, sites
from swefuse.tasks.steps import solution
from swefuse.tasks.survey import Refusal as Unrun
from swefuse.tasks.survey import Surveyed, guards, state
from swefuse.tasks.symptoms import SHOWN
from swefuse.tasks.workers import verifier

REPEATS = 2
ENOUGH_TESTS = 2  # that fail without a body, where no docstring says what it does
FEWEST_BUGS = 4  # that the tests of a file notice
TESTS_CPU_S = 1.0  # of a test file that is run on every bug
FUNCTIONS = 1 / 3  # of what is reached in a module, for bugs are only put into functions that are no methods
NAMED = 8
DOCSTRING, TESTS = "docstring", "tests"


def proven(task: Task) -> Made:
    """The task with its evidence, or why it does not prove itself."""
    found = prove_task(task, How(repeats=REPEATS))
    return Made(refusal=found.refusal, detail=found.detail) if found.refusal else Made(found.task)


def site_at(text: str, order: Order) -> Site:
    """The function that an order is about. Raises DataError where it is not there."""
    path, name = order.place
    found = next((one for one in sites(path, text) if one.name == name), None)
    if found is None:
        raise DataError(f"there is no function {order.subject}")
    return found


def bodies(seen: View, rng: random.Random) -> Iterator[tuple[str, str, tuple[str, ...], tuple[Surveyed, ...]]]:
    """Functions whose body can be taken out: subject, what is asked, data and test files."""
    places = list(seen.reached)
    rng.shuffle(places)
    for site in places:
        if unique(seen.files, site) and body_taken(seen.files[site.path], site):
            yield f"{site.path}:{site.name}", BODY, (), seen.reached[site]


def complete(order: Order) -> Made:
    """Take a body out and see which tests fail without it."""
    reference = state(order.repository, order.commit)
    path, name = order.place
    site = site_at(reference[path], order)
    flaw = body_taken(reference[path], site)
    if flaw is None:
        raise DataError(f"the body of {order.subject} cannot be taken out")
    found = try_bugs(Bugs(order.repository, order.commit, order.environment, name, (flaw,), order.tests))
    failing, passing, dropped = found.failing, found.passing, found.dropped
    if found.refusal == Unrun.ALL_FAIL:  # of a bug that says little; a body may be all that a file tests
        failing = next(one.passing for one in order.tests if one.tests == found.tests)
    elif found.refusal:
        return Made(refusal=found.refusal, detail=found.detail)
    node = node_of(reference[path], site)
    said = ast.get_docstring(node) is not None
    if not said and len(failing) < ENOUGH_TESTS:
        return Made(refusal=Refusal.UNSAID, detail=", ".join(failing)[:300])
    files = injected(reference, (flaw,))
    task = Task.make(
        Kind.COMPLETE, instruction=_missing(order, failing, said), files=files, editable=(path,),
        protected=guards(files, found.tests), reference=dict(reference), provenance=order.provenance(body_hash(node)),
        suites=(Suite(form="pytest", files=(found.tests,), fail_to_pass=failing, pass_to_pass=passing),),
        solution=solution(files, reference, f"`{name}` has no body yet; its tests say what it must do."),
        evidence=order.evidence(len(dropped), len(failing) + len(passing)),
    )  # fmt: skip
    return proven(task)


def _missing(order: Order, failing: Sequence[str], said: bool) -> str:
    path, name = order.place
    what = "Its docstring says what it does. " if said else ""
    head = f"{what}Without it {'these tests fail' if failing[1:] else 'this test fails'}:"
    names = [f"- {id_}" for id_ in failing[:SHOWN]] + [f"- and {len(failing) - SHOWN} more"] * (len(failing) > SHOWN)
    return "\n".join([f"The body of `{name}` in {path} is missing: write it. {head}", *names, "The tests must stay as they are."])


def docstrings(seen: View, rng: random.Random) -> Iterator[tuple[str, str, tuple[str, ...], tuple[Surveyed, ...]]]:
    """Functions with a docstring that holds examples."""
    places = [site for path in sorted(seen.files) if is_source(path) for site in sites(path, seen.files[path])]
    rng.shuffle(places)
    for site in places:
        said = ast.get_docstring(node_of(seen.files[site.path], site)) or ""
        public = not site.name.rpartition(".")[2].startswith("_")  # an example must not need what is private
        if public and ">>>" in said and unique(seen.files, site) and without_docstring(seen.files[site.path], site) is not None:
            yield f"{site.path}:{site.name}", DOCSTRING, (), ()


def docgen(order: Order) -> Made:
    """Take a docstring out; the verifier of the kind says whether it holds all that it must."""
    reference = state(order.repository, order.commit)
    path, name = order.place
    site = site_at(reference[path], order)
    text = without_docstring(reference[path], site)
    if text is None:
        raise DataError(f"the docstring of {order.subject} cannot be taken out")
    files, last = {**reference, path: text}, name.rpartition(".")[2]
    words = (
        f"`{name}` in {path} has no docstring: write it, and leave the code as it is. Say what the function does, name every "
        "parameter, what it returns or yields (with a form of that word), and each exception class that it raises. Show at least "
        f"one example in the form of doctest that calls `{last}` and shows what comes. All examples must hold, without imports and "
        "private names."
    )
    task = Task.make(
        Kind.DOCGEN, instruction=words, files=files, editable=(path,), suites=(), goal={"function": order.subject},
        reference=dict(reference), provenance=order.provenance(body_hash(node_of(reference[path], site))),
        solution=solution(files, reference, f"The docstring must name all that `{name}` takes, gives and raises.", False),
        evidence=order.evidence(),
    )  # fmt: skip
    verdict = verifier().verify(task, reference)  # most docstrings lack something; one look costs less than a proof
    if verdict.outcome is Outcome.FAILED:
        return Made(refusal=Unproven.REFERENCE_FAILS, detail=verdict.reason[:300])
    return proven(task)


def files_of_tests(seen: View, rng: random.Random) -> Iterator[tuple[str, str, tuple[str, ...], tuple[Surveyed, ...]]]:
    """Test files that can be written anew, each with the module that it is about: named like it, or the only one it reaches."""
    found = []
    for one in seen.project.surveys:
        if one.refusal or one.dropped or one.cpu_s > TESTS_CPU_S or without_tests(seen.files[one.tests]) is None:
            continue
        places = set(one.reached)
        inside = [site for site in seen.reached if (site.path, site.first) in places]
        all_, plain = Counter(site.path for site in inside), Counter(site.path for site in inside if "." not in site.name)
        paths = [path for path in sorted(plain) if plain[path] >= FUNCTIONS * all_[path]]
        about = [path for path in paths if named_like(path, one.tests)] or paths[: len(paths) == 1]
        for path in about:
            names = [site.name for site in inside if site.path == path and "." not in site.name]
            found.append((path, tuple([name for name in names if not name.startswith("_")] or names), one))
    rng.shuffle(found)
    for path, about_names, test_file in found:
        yield f"{path}:{about_names[0]}", TESTS, about_names, (test_file,)


def testgen(order: Order) -> Made:
    """Take the tests out of a test file; those that are there must notice bugs of the module."""
    reference = state(order.repository, order.commit)
    module, _ = order.place
    tests = order.tests[0].tests
    text = without_tests(reference[tests])
    if text is None:
        raise DataError(f"the tests of {tests} cannot be taken out")
    files = {**reference, tests: text}
    there = "It holds what the tests need beside. " if text else ""
    words = (
        f"Write tests of {_listed(order.data)} in {module} into {tests}. {there}They must pass on the code as it is, and small "
        "bugs put into the module must make some fail. How the code is spelled must not matter to them. Only this file may change."
    )
    task = Task.make(
        Kind.TESTGEN, instruction=words, files=files, editable=(tests,), suites=(), goal={"module": module, "tests": tests},
        protected=(module, *(path for path in sorted(files) if path not in (module, tests))), reference=dict(reference),
        provenance=order.provenance(body_hash(node_of(reference[module], site_at(reference[module], order)))),
        solution=solution(files, reference, f"Each test must tell {module} from one that is a little wrong.", False),
        evidence=order.evidence(),
    )  # fmt: skip
    made = proven(task)
    if made.task is not None:
        verdict = verifier().verify(made.task, reference)  # what the bugs do is remembered
        if verdict.outcome is not Outcome.PASSED or verdict.parts.get("mutants", 0.0) < FEWEST_BUGS:
            return Made(refusal=Refusal.FEW_BUGS, detail=f"{verdict.parts.get('mutants', 0.0):.0f} bugs")
    return made


def _listed(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names[:NAMED]]
    return ", ".join(shown) + (f" and {len(names) - NAMED} more" if names[NAMED:] else "")
