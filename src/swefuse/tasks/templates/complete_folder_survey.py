"""Something is to be found out about a folder, or done to its files: sizes, equal files, a free name, a drawing, a mirror."""

from textwrap import dedent

from swefuse.records import Kind
from swefuse.tasks.template import Template, integers, one_of, plural, rows, words


def _row(call: str, takes: str, why: str, text: str) -> dict[str, str]:
    doc, body, tests = (part.strip("\n") for part in dedent(text).split("---\n"))
    return {"call": call, "takes": takes, "why": why, "doc": f'"""{doc}\n"""', "body": body, "tests": tests}


SURVEYS = (
    _row("sizes", "$root", "pathlib gives no suffix for names that only begin with a full stop, which is what is wanted.", """
        Ending -> number of files and their bytes, over all files that `$walk` gives, the endings in alphabetical order.

        An ending is what follows the last full stop of a name, in small letters; names without one, or that only begin with a
        full stop, have the ending "".
        ---
        $found = {}
        for $path in $walk($root):
            ending = $path.suffix[1:].lower()
            count, size = $found.get(ending, (0, 0))
            $found[ending] = (count + 1, size + $path.stat().st_size)
        return dict(sorted($found.items()))
        ---
        def test_sizes(tree):
            (tree / ("UP." + "$ending".upper())).write_text("x" * $n)
            found = $survey(tree)
            assert found == {"": (1, 2), "$ending": (3, $n + 7), "md": (1, 4)}
            assert list(found) == sorted(found)


        def test_an_empty_folder(tmp_path):
            assert $survey(tmp_path) == {}
    """),
    _row("equal_files", "$root", "Files with one content are found by using the content as the key of a dict.", """
        Groups of files with the same content, as lists of paths below the folder with `/`, each in alphabetical order.

        Only groups of two or more count, and empty files belong to none. The groups are in the order of their first paths.
        ---
        $found = {}
        for $path in $walk($root):
            content = $path.read_bytes()
            if content:
                $found.setdefault(content, []).append($path.relative_to($root).as_posix())
        return sorted(sorted(group) for group in $found.values() if len(group) > 1)
        ---
        def test_groups(tree):
            for name in ("$words_2", "$words_0/z.$ending", "$words_1"):
                (tree / name).write_text("same $n")
            (tree / "void").touch()
            (tree / "$words_0" / "void").touch()
            (tree / "$words_0" / "more.md").write_text("read")
            (tree / "$words_0" / "SAME").write_text("Same $n")
            want = [sorted(["$words_2", "$words_0/z.$ending", "$words_1"]), sorted(["$words_0/more.md", "read.md"])]
            assert $survey(tree) == sorted(want)


        def test_no_groups(tree):
            assert $survey(tree) == []
    """),
    _row("drawing", "$root",
         "The lines of a folder within are its own drawing, each two spaces further in, so the function calls itself.", """
        The folder as lines: each name two spaces further in than that of its folder, folders with `/` at the end.

        Folders come before files, both in alphabetical order. Hidden files and folders, which begin with a full stop, are not
        shown. The folder itself has no line.
        ---
        $found = []
        for $path in sorted($root.iterdir(), key=lambda one: (one.is_file(), one.name)):
            if $path.name.startswith("."):
                continue
            if $path.is_dir():
                $found.append(f"{$path.name}/")
                $found += [f"  {line}" for line in $survey($path)]
            else:
                $found.append($path.name)
        return $found
        ---
        def test_drawing(tree):
            (tree / "$words_0" / "in" / "deep").mkdir(parents=True)
            (tree / "$words_0" / "in" / "deep" / "$words_1").touch()
            assert $survey(tree) == [
                "$words_0/", "  in/", "    deep/", "      $words_1", "  b.$ending", "LIST", "a.$ending", "read.md",
            ]


        def test_an_empty_folder(tmp_path):
            assert $survey(tmp_path) == []
    """),
    _row("mirror", "$root, target", "Relative paths of both sides as dicts make the three lists set operations.", """
        Make another folder hold the same files as `$walk` gives, and tell what was done.

        The answer has three sorted lists of paths with `/`: "new" for files that were missing there, "changed" for those with
        another content, which are written anew, and "gone" for files that `$walk` finds only there,
        which are deleted. Other files are not touched; the target and its folders are made as needed.
        ---
        target.mkdir(parents=True, exist_ok=True)
        here = {$path.relative_to($root).as_posix(): $path for $path in $walk($root)}
        there = {$path.relative_to(target).as_posix(): $path for $path in $walk(target)}
        $found = {"new": sorted(here.keys() - there.keys()), "changed": [], "gone": sorted(there.keys() - here.keys())}
        for name in sorted(here.keys() & there.keys()):
            if here[name].read_bytes() != there[name].read_bytes():
                $found["changed"].append(name)
        for name in $found["new"] + $found["changed"]:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(here[name].read_bytes())
        for name in $found["gone"]:
            there[name].unlink()
        return $found
        ---
        def test_mirror(tree, tmp_path):
            other = tmp_path / "other" / "$words_1"
            assert $survey(tree, other)["new"] == sorted(["$words_0/b.$ending", "LIST", "a.$ending", "read.md"])
            assert (other / "$words_0" / "b.$ending").read_text() == "bbbb"
            assert $survey(tree, other) == {"new": [], "changed": [], "gone": []}
            (tree / "read.md").unlink()
            (tree / "a.$ending").write_text("$words_2")
            assert $survey(tree, other) == {"new": [], "changed": ["a.$ending"], "gone": ["read.md"]}
            assert (other / "a.$ending").read_text() == "$words_2"
            assert not (other / "read.md").exists()


        def test_hidden_files_stay(tree, tmp_path):
            (tmp_path / "o").mkdir()
            (tmp_path / "o" / ".mine").write_text("x")
            assert $survey(tree, tmp_path / "o")["gone"] == []
            assert {one.name for one in (tmp_path / "o").iterdir()} == {".mine", "LIST", "$words_0", "a.$ending", "read.md"}
    """),
)  # fmt: skip

TEMPLATE = Template(
    kind=Kind.COMPLETE,
    domain="files",
    instruction="$ask",
    parameters={
        "what": rows(*SURVEYS),
        "noun": words("thing", 1),
        "words": words("text", 3),
        "module": one_of("${thing}_files", "folders", "survey", "${thing}_folder", "disk"),
        "survey": one_of("${what_call}", "${thing}_${what_call}", "${what_call}_of", "folder_${what_call}", "make_${what_call}"),
        "walk": one_of("all_files", "visible_files", "walk_${things}", "files_below", "${thing}_files_in"),
        "total": one_of("size_below", "bytes_of", "${thing}_bytes", "weigh", "used_space"),
        "root": one_of("root", "folder", "top", "${thing}_folder", "base"),
        "path": one_of("path", "file", "place", "each", "${thing}_path"),
        "found": one_of("found", "result", "out", "report"),
        "ending": one_of("txt", "csv", "log", "json", "xml", "ini"),
        "n": integers(10, 99),
        "ask": one_of(
            "Write `$survey` in `$module.py`. The docstring says what it gives; paths are pathlib's.",
            "`$survey` has no body yet ($module.py). It is to go through a $thing folder as its docstring says.",
            "The tool for $thing folders lacks `$survey` in `$module.py`; please add what the docstring asks for.",
        ),
    },
    where=lambda v: v["noun_0"] != "test",
    derive=lambda v: {"thing": v["noun_0"], "things": plural(v["noun_0"]), "body": "raise NotImplemented" + "Error"},
    files={
        "$module.py": '''
            """What there is in folders of $things."""


            def $walk($root):
                """All files of a folder and of those within it, in order of their paths; nothing that is hidden."""
                $found = []
                for $path in sorted($root.iterdir()):
                    if $path.name.startswith("."):
                        continue
                    if $path.is_dir():
                        $found += $walk($path)
                    else:
                        $found.append($path)
                return $found


            def $total($root):
                """Bytes of all $things in a folder."""
                return sum($path.stat().st_size for $path in $walk($root))


            def $survey($what_takes):
                $what_doc
                $body
        ''',
    },
    repair={"body": "$what_body"},
    tests={
        "test_$module.py": """
            import pytest

            from $module import $survey, $total


            @pytest.fixture
            def tree(tmp_path):
                top = tmp_path / "tree"
                (top / "$words_0").mkdir(parents=True)
                (top / ".hidden").mkdir()
                for name, text in {
                    "a.$ending": "abc", "$words_0/b.$ending": "bbbb", "read.md": "read", "LIST": "$n", ".hidden/c": "no",
                }.items():
                    (top / name).write_text(text)
                return top


            def test_bytes(tree):
                assert $total(tree) == 13


            $what_tests
        """,
    },
    thoughts="$what_why",
)
