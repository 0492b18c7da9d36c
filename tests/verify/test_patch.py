"""Patches of every shape that models, mailers and git produce: applied right, or refused with the line and the reason."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swefuse.errors import PatchError
from swefuse.verify.patch import apply_patch, make_patch

BEFORE = {"m.py": "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"}
PATCH = b"--- a/m.py\n+++ b/m.py\n@@ -2,3 +2,3 @@\n b = 2\n-c = 3\n+c = 30\n d = 4\n"
AFTER = {"m.py": "a = 1\nb = 2\nc = 30\nd = 4\ne = 5\n"}

lines = st.lists(
    st.sampled_from(["x = 1", "", "    return x", "-- ", "+ y", "\\ z", "@@ -1 +1 @@", "é\udcff", "--- q", "a\r"]), max_size=12
)
texts = st.builds(lambda rows, end: "\n".join(rows) + ("\n" if end and rows else ""), lines, st.booleans())
paths = st.sampled_from(["m.py", "pkg/a b.py", "é.py", 'q"uote.py', "a/deep/x.txt", "b/b", "tab\there"])
states = st.dictionaries(paths, texts, max_size=4)


def git(folder: Path, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *arguments], cwd=folder, input=data, capture_output=True, env=env, check=False)


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode("utf-8", "surrogateescape"))


def read(folder: Path) -> dict[str, str]:
    found = [p for p in sorted(folder.rglob("*")) if p.is_file() and ".git" not in p.parts]
    return {str(p.relative_to(folder)): p.read_bytes().decode("utf-8", "surrogateescape") for p in found}


@given(states, states)
@settings(max_examples=200, deadline=None)
def test_a_made_patch_leads_from_one_state_to_the_other_and_back(before: dict[str, str], after: dict[str, str]) -> None:
    forth, back = make_patch(before, after), make_patch(after, before)
    assert (forth == b"") == (before == after)
    if before != after:
        assert apply_patch(before, forth).files == after
        assert apply_patch(after, back).files == before
        assert apply_patch(before, forth).notes == ()


@given(states, states)
@settings(max_examples=25, deadline=None)
def test_git_applies_what_we_make_and_we_apply_what_git_makes(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("git")
    git(folder, "init", "-q")
    write(folder, before)
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x", "--allow-empty")
    if before != after:
        done = git(folder, "apply", "--whitespace=nowarn", "-", data=make_patch(before, after))
        assert done.returncode == 0, done.stderr
        assert read(folder) == after
        git(folder, "add", "-A")
        theirs = git(folder, "diff", "--cached", "--text", "-M", "HEAD").stdout
        if theirs:
            assert apply_patch(before, theirs).files == after


def test_the_plain_case() -> None:
    assert apply_patch(BEFORE, PATCH).files == AFTER
    assert make_patch(BEFORE, AFTER).endswith(b"@@ -1,5 +1,5 @@\n a = 1\n b = 2\n-c = 3\n+c = 30\n d = 4\n e = 5\n")


@pytest.mark.parametrize(
    ("patch", "note"),
    [
        pytest.param(b"Here is the fix:\n```diff\n" + PATCH + b"```\nIt works.\n", "", id="prose and a fence"),
        pytest.param(b"\n" + PATCH.rstrip(b"\n"), "", id="leading line feed, final one stripped"),
        pytest.param(PATCH.replace(b"-2,3 +2,3", b"-2,7 +2,9"), "line 3: the hunk header counts wrong", id="counts too high"),
        pytest.param(PATCH.replace(b"-2,3 +2,3", b"-2 +2"), "line 3: the hunk header counts wrong", id="counts too low"),
        pytest.param(PATCH.replace(b"-2,3", b"-4,3"), "", id="the hunk has moved"),
        pytest.param(PATCH.replace(b"\n", b"\r\n"), "line 3: line ends of the patch differ", id="CRLF patch, LF file"),
        pytest.param(PATCH.replace(b"a/m.py", b"m.py").replace(b"b/m.py", b"m.py"), "", id="no prefix"),
        pytest.param(PATCH.replace(b"a/m.py", b"m.py.orig\t2026-01-01").replace(b"b/m.py", b"m.py\t2026"), "", id="a backup"),
        pytest.param(b"diff --git a/db b/db\nBinary files a/db and b/db differ\n" + PATCH, "line 2: a binary section", id="binary"),
        pytest.param(PATCH + b"-- \n2.39.5\n", "", id="a mail's signature"),
    ],
)
def test_what_tools_do_to_patches_is_read_through_and_noted(patch: bytes, note: str) -> None:
    applied = apply_patch(BEFORE, patch)
    assert applied.files == AFTER
    assert [text[: len(note)] for text in applied.notes] == ([note] if note else [])


def test_a_file_with_crlf_keeps_its_line_ends() -> None:
    before = {path: text.replace("\n", "\r\n") for path, text in BEFORE.items()}
    applied = apply_patch(before, PATCH)
    assert applied.files == {path: text.replace("\n", "\r\n") for path, text in AFTER.items()}
    assert len(applied.notes) == 1
    exact = make_patch(before, applied.files)
    assert apply_patch(before, exact).files == applied.files and apply_patch(before, exact).notes == ()


def test_bytes_that_are_no_utf8_survive() -> None:
    before = {"m.py": "# caf\udce9\nx = 1\n"}
    patch = b"--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n # caf\xe9\n-x = 1\n+x = 2  # \xe9\n"
    assert apply_patch(before, patch).files == {"m.py": "# caf\udce9\nx = 2  # \udce9\n"}


@pytest.mark.parametrize(
    ("marks", "after"), [((True, True), "x = 2"), ((True, False), "x = 2\n"), ((False, False), "x = 2\n"), ((False, True), "x = 2")]
)
def test_the_final_line_feed(marks: tuple[bool, bool], after: str) -> None:
    mark = "\n\\ No newline at end of file"
    patch = f"--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-x = 1{mark * marks[0]}\n+x = 2{mark * marks[1]}\n"
    for before in ("x = 1", "x = 1\n"):
        assert apply_patch({"m.py": before}, patch.encode()).files == {"m.py": after}


def test_lines_behind_one_without_line_feed_are_lines_of_their_own() -> None:
    patch = b"--- a/m.py\n+++ b/m.py\n@@ -1 +1,2 @@\n x = 1\n+y = 2\n"
    assert apply_patch({"m.py": "x = 1"}, patch).files == {"m.py": "x = 1\ny = 2\n"}


def test_of_equal_places_the_nearest_is_meant() -> None:
    before = {"m.py": "x = 1\n\n" * 5}
    for start, changed in ((1, 0), (5, 2), (6, 2), (9, 4), (40, 4)):
        patch = f"--- a/m.py\n+++ b/m.py\n@@ -{start} +{start} @@\n-x = 1\n+x = 2\n"
        rows = ["x = 2\n\n" if number == changed else "x = 1\n\n" for number in range(5)]
        assert apply_patch(before, patch.encode()).files == {"m.py": "".join(rows)}


def test_renames_copies_and_removals() -> None:
    rename = b"diff --git a/m.py b/n.py\nsimilarity index 90%\nrename from m.py\nrename to n.py\n"
    assert apply_patch(BEFORE, rename).files == {"n.py": BEFORE["m.py"]}
    edited = rename + PATCH.replace(b"b/m.py", b"b/n.py")
    assert apply_patch(BEFORE, edited).files == {"n.py": AFTER["m.py"]}
    assert apply_patch(BEFORE, rename.replace(b"rename", b"copy")).files == {**BEFORE, "n.py": BEFORE["m.py"]}
    assert apply_patch(BEFORE, make_patch(BEFORE, {})).files == {}
    assert apply_patch({"e": ""}, b"diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000\n").files == {}


REFUSED = {
    "nothing": (b"", "the patch is empty"),
    "blanks": (b" \n\n", "the patch is empty"),
    "prose": (b"I could not find the bug.\n", "no diff in the text"),
    "a hunk alone": (b"@@ -1 +1 @@\n-a = 1\n+a = 2\n", "line 1 of the patch: a hunk without"),
    "no such file": (PATCH.replace(b"m.py", b"n.py"), "line 1 of the patch: there is no file n.py; did you mean 'm.py'"),
    "other lines": (PATCH.replace(b"-c = 3", b"-c = 4"), "the hunk does not fit m.py: line 3 is 'c = 3', not 'c = 4'"),
    "behind the end": (PATCH.replace(b" d = 4", b" d = 9"), "line 4 is 'd = 4', not 'd = 9'"),
    "leaves the tree": (PATCH.replace(b"m.py", b"../evil"), "line 1 of the patch: path 'a/../evil' leaves the workspace"),
    "absolute": (PATCH.replace(b"a/m.py", b"/etc/passwd").replace(b"b/m.py", b"/etc/passwd"), "leaves the workspace"),
    "git's own folder": (b"--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n", "names a protected place"),
    "a link": (b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n", "line 2 of the patch: mode 120000"),
    "a submodule": (b"diff --git a/l b/l\nnew file mode 160000\n", "mode 160000"),
    "binary data": (b"diff --git a/l b/l\nGIT binary patch\nliteral 3\nKcmZQz\n", "line 2 of the patch: binary data"),
    "made twice": (b"--- /dev/null\n+++ b/m.py\n@@ -0,0 +1 @@\n+x\n", "m.py is to be made and exists already"),
    "for an empty file": (b"--- a/m.py\n+++ b/m.py\n@@ -0,0 +1 @@\n+x\n", "it is for an empty file, and this one has 5 lines"),
    "half a removal": (b"--- a/m.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a = 1\n", "does not remove all of it"),
    "no hunk": (b"--- a/m.py\n+++ b/m.py\nnothing\n", "line 3 of the patch: a hunk header"),
    "context only": (b"--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n a = 1\n", "line 3 of the patch: the hunk changes nothing"),
    "an unnamed file": (b"diff --git nonsense\nnew file mode 100644\n", "the file is not named"),
    "too large": (b"x" * (5 << 20), "bytes, more than"),
    "renamed onto another": (b"diff --git a/m.py b/m.py\nrename from x\nrename to m.py\n", "there is no file x"),
}  # fmt: skip


@pytest.mark.parametrize(("patch", "reason"), REFUSED.values(), ids=REFUSED)
def test_the_others_are_refused_with_the_line_and_the_reason(patch: bytes, reason: str) -> None:
    before = dict(BEFORE)
    with pytest.raises(PatchError) as error:
        apply_patch(before, patch)
    assert reason in str(error.value)
    assert before == BEFORE


@given(st.binary(max_size=300) | st.lists(st.sampled_from(PATCH.split(b"\n")), max_size=14).map(b"\n".join))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_applied_or_refused(patch: bytes) -> None:
    try:
        files = apply_patch(BEFORE, patch).files
    except PatchError:
        return
    assert set(files) == {"m.py"}
