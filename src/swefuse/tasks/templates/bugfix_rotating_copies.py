"""Numbered copies of a file: they are rotated, listed and thinned out, with a fault in one of the steps."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, drawn, integers, one_of, plural, rows, words

GOOD = {
    "number": "int($number) if $number.isdigit() else None",
    "prefix": '$path.name + "."',
    "order": "sorted(found)",
    "shift": "reversed($list_copies($path))",
    "limit": "$number >= $keep",
    "first": "$path.replace($copy($path, 1))",
    "parents": "$path.parent.mkdir(parents=True, exist_ok=True)",
    "newest": "$copies[0][1]",
}
# fmt: off
BUGS = (
    ("number", "int($number)",
     "Since someone put a file `$noun_0.$suffix.old` next to the copies, every `$rotate` stops with a ValueError.",
     "Whatever follows the name is taken for a number, though foreign files may stand there too."),
    ("prefix", "$path.stem",
     "The copies of another file whose name begins alike turn up in the list of copies, or are counted twice.",
     "The names have to begin with the whole name and a full stop, not just with the part before the ending."),
    ("order", "sorted(found, key=lambda entry: entry[1].name)",
     "With ten copies or more, some are lost when the next one is made.",
     "Copies are sorted by name, so that 10 comes before 2, and one is renamed onto another."),
    ("shift", "$list_copies($path)",
     "After a few turns all copies but one are gone.",
     "The copies have to move up from the highest number down, or each one takes the place of the next."),
    ("limit", "$number > $keep",
     "There is always one copy more than `$keep` allows.",
     "The copy with the highest number allowed would get a higher one, so it has to go as well."),
    ("first", "$path.replace($copy($path, len($list_copies($path)) + 1))",
     "The latest text has the highest number instead of number 1, or overwrites another.",
     "The place for the newest copy was freed at number 1, but the file is moved to the end."),
    ("parents", "$path.parent.mkdir(exist_ok=True)",
     "Writing to a folder two levels deep that is not there yet fails with FileNotFoundError.",
     "mkdir makes only the last folder unless it is told to make its parents."),
    ("newest", "$copies[-1][1]",
     "`$restore` brings back the oldest text, not the latest.",
     "Copies are in order of their numbers, and the newest has number 1, so it is the first."),
)
# fmt: on

TEMPLATE = Template(
    kind=Kind.BUGFIX,
    domain="files",
    instruction="$bug_complaint $place",
    parameters={
        "noun": words("thing", 2),
        "module": one_of("copies", "rotation", "${noun_0}_files", "backups", "${noun_0}_store"),
        "copy": one_of("copy_path", "numbered", "${noun_0}_copy", "nth_copy", "path_of"),
        "list_copies": one_of("list_copies", "copies_of", "${noun_0}_copies", "numbered_copies", "find_copies"),
        "rotate": one_of("rotate", "make_room", "push_copies", "rotate_${nouns}", "shift_copies"),
        "save": one_of("save", "write_${noun_0}", "save_text", "store_${noun_0}", "put"),
        "restore": one_of("restore", "undo", "bring_back", "restore_${noun_0}", "revert"),
        "path": one_of("path", "target", "file", "${noun_0}_path", "place"),
        "keep": one_of("keep", "limit", "most", "kept", "copies_kept"),
        "suffix": one_of("txt", "log", "json", "csv", "dat", "ini", "xml"),
        "number": one_of("number", "rank", "place_no", "position"),
        "other": one_of("other", "entry", "sibling", "candidate"),
        "copies": one_of("copies", "numbered_files", "older", "held"),
        "number_of": one_of("_number", "_copy_number", "_rank_of", "number_in_name"),
        "few": integers(2, 5),
        "beside": one_of('$path.with_name(f"{$path.name}.{$number}")', '$path.parent / f"{$path.name}.{$number}"'),
        "none": one_of("if not $copies:", "if len($copies) == 0:"),
        "many": integers(11, 15),
        "place": one_of(
            "All of it is in `$module.py`.",
            "`$save` in `$module.py` is what our jobs call.",
            "See `$module.py`. Files that are no copies must never be touched.",
        ),
        "bug": rows(*({**GOOD, place: text, "complaint": said, "why": why} for place, text, said, why in BUGS)),
        "data": drawn(lambda rng: dict(zip("ab", words("text", 2).draw(rng).values(), strict=True))),
    },
    where=lambda v: "test" not in v.values(),  # pytest would collect what is named after it
    derive=lambda v: {"nouns": plural(v["noun_0"])},
    files={
        "$module.py": '''
            """Files of $nouns with numbered copies: `$noun_0.$suffix.1` is the newest."""


            def $copy($path, $number):
                """Where a copy of a file is kept."""
                return $beside


            def $number_of($path, $other):
                """The number of a copy; None for a file that is none."""
                prefix = $bug_prefix
                if not $other.name.startswith(prefix):
                    return None
                $number = $other.name.rpartition(".")[2]
                return $bug_number


            def $list_copies($path):
                """Number and path of each copy, the newest first."""
                found = []
                for $other in $path.parent.iterdir():
                    $number = $number_of($path, $other)
                    if $number is not None:
                        found.append(($number, $other))
                return $bug_order


            def $rotate($path, $keep):
                """Every copy moves up by one, and the file becomes copy 1. At most `$keep` copies stay."""
                for $number, $other in $bug_shift:
                    if $bug_limit:
                        $other.unlink()
                    else:
                        $other.replace($copy($path, $number + 1))
                if $path.exists():
                    $bug_first


            def $save($path, text, $keep=$few):
                """Write a file, keeping what it held before as a copy."""
                $bug_parents
                $rotate($path, $keep)
                $path.write_text(text)


            def $restore($path):
                """Put the newest copy back in place of the file; False if there is none."""
                $copies = $list_copies($path)
                $none
                    return False
                newest = $bug_newest
                newest.replace($path)
                return True
        ''',
    },
    repair={f"bug_{place}": text for place, text in GOOD.items()},
    tests={
        "test_$module.py": """
            import pytest

            from $module import $list_copies, $restore, $save


            @pytest.fixture
            def path(tmp_path):
                return tmp_path / "$data_a" / "in" / "$noun_0.$suffix"


            def texts(path):
                return [(number, copy.read_text()) for number, copy in $list_copies(path)]


            def test_the_newest_copy_is_number_one(path):
                for text in ("a", "b", "c"):
                    $save(path, text)
                assert path.read_text() == "c"
                assert texts(path) == [(1, "b"), (2, "a")]


            def test_only_some_copies_are_kept(path):
                for number in range($few + 4):
                    $save(path, str(number))
                assert texts(path) == [(at, str($few + 3 - at)) for at in range(1, $few + 1)]


            def test_many_copies(path):
                for number in range($many + 1):
                    $save(path, str(number), $keep=$many)
                assert texts(path) == [(at, str($many - at)) for at in range(1, $many + 1)]


            def test_other_files_are_left_alone(path):
                $save(path, "a")
                others = [path.with_name(name) for name in ("$noun_0.$suffix.old", "${noun_0}_$data_b.$suffix.1", "$noun_1.4")]
                for other in others:
                    other.write_text("mine")
                $save(path, "b")
                assert texts(path) == [(1, "a")]
                assert [other.read_text() for other in others] == ["mine"] * 3


            def test_the_newest_comes_back(path):
                for text in ("a", "b", "c"):
                    $save(path, text)
                assert $restore(path)
                assert path.read_text() == "b"


            def test_nothing_to_bring_back(path):
                path.parent.mkdir(parents=True)
                assert not $restore(path)
        """,
    },
    thoughts="$bug_why",
)
