"""Unpacking of archives whose entries name places outside of the folder."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, name, one_of, rows

ALL = """
with tarfile.open($path) as $archive:
    $archive.extractall($folder$more)
    return sorted($archive.getnames())
"""
CHOSEN = """
with tarfile.open($path) as $archive:
    $chosen = [$entry for $entry in $archive.getmembers() if $entry.name.endswith("$suffix")]
    $archive.extractall(path=$folder, members=$chosen$more)
return sorted($entry.name for $entry in $chosen)
"""
BYTES = """
with tarfile.open(fileobj=io.BytesIO(Path($path).read_bytes())) as $archive:
    $archive.extractall($folder$more)
return sorted(path.name for path in $folder.rglob("*") if path.is_file())
"""
LATER = """
$archive = tarfile.open($path)
try:
    $archive.extractall(str($folder)$more)
    return sorted($archive.getnames())
finally:
    $archive.close()
"""
GROUPS = """
$chosen = {}
with tarfile.open($path) as $archive:
    for $entry in $archive.getmembers():
        $chosen.setdefault(Path($entry.name).suffix, []).append($entry)
    for suffix, group in $chosen.items():
        $archive.extractall($folder / suffix[1:]$more, members=group)
return {suffix: len(group) for suffix, group in $chosen.items()}
"""
EVERY = '["a$suffix", "b.bin"]'

TEMPLATE = Template(
    kind=Kind.VULNFIX,
    domain="files",
    instruction="$ask",
    parameters={
        "module": one_of("unpack", "archives", "imports", "bundles", "uploads", "restore", "packages"),
        "error": class_name("thing", "error"),
        "cls": class_name("quality", "importer"),
        "op": name("unpack", "quality", "thing"),
        "many": name("unpack", "all", "things"),
        "path": name("thing", "path"),
        "folder": name("thing", "folder"),
        "archive": name("quality", "archive"),
        "entry": name("thing", "entry"),
        "chosen": name("list", "chosen"),
        "log": name("quality", "log"),
        "suffix": one_of(".txt", ".csv", ".json", ".md", ".ini", ".log"),
        "ask": one_of(
            "An archive with an entry called ../$evil made `$cls.$op` ($module.py) write next to its folder. Such an archive must "
            "be "
            "refused with $error, nothing may lie outside of the folder afterwards, and no link may lead out of it.",
            "`$op` in $module.py trusts the names in an archive: absolute ones, ones with .. and links "
            "that lead out reach any file of the server. Raise $error for such links and for names with .. in them; for absolute "
            "names, write nothing outside of the folder. Other archives are unpacked as before.",
            "Path traversal in $module.py. Uploaded archives leave the folder that `$cls` was given (../$evil, or a link to "
            "there). They have to end "
            "in "
            "$error without a file written elsewhere.",
        ),
        "evil": one_of("evil", "passwd", "crontab", "startup", "profile"),
        "how": rows(
            {"bad": ALL.strip(), "doc": "Unpack a whole archive and give the names in it, sorted.", "want": EVERY},
            {"bad": CHOSEN.strip(), "doc": "Unpack the files of an archive that end in $suffix, and give their names, sorted.",
             "want": '["a$suffix"]'},
            {"bad": BYTES.strip(), "doc": "Unpack an archive and give the names of all files that are there then, sorted.",
             "want": EVERY},
            {"bad": LATER.strip(), "doc": "Unpack an archive; the names of its entries, sorted.", "want": EVERY},
            {"bad": GROUPS.strip(), "doc": "Unpack an archive, each kind of file into a folder of its own, and count the kinds.",
             "want": '{"$suffix": 1, ".bin": 1}'},
        ),
        "old": rows({"more": ""}, {"more": ', filter="fully_trusted"'}, {"more": ", numeric_owner=True"}),
    },
    derive=lambda v: {
        "body": v["how_bad"].replace("$folder", "self.$folder"), "more": v["old_more"],
        "io": "import io\n" if "io." in v["how_bad"] else "",
    },
    files={
        "$module.py": '''
            """Takes archives that people upload."""

            ${io}import tarfile
            from pathlib import Path


            class $error(Exception):
                """An archive that cannot be unpacked."""


            class $cls:
                """Unpacks archives into one folder."""

                def __init__(self, $folder):
                    self.$folder = Path($folder)
                    self.$folder.mkdir(parents=True, exist_ok=True)
                    self.$log = []

                def $op(self, $path):
                    """$how_doc $error for one that cannot be unpacked."""
                    try:
                        $body
                    except (OSError, tarfile.TarError) as error:
                        raise $error(f"cannot unpack {$path}: {error}") from error

                def $many(self, paths):
                    """Unpack several archives; the paths of those that could not be unpacked are kept."""
                    for $path in paths:
                        try:
                            self.$op($path)
                        except $error:
                            self.$log.append($path)
                    return self.$log
        ''',
    },
    repair={"more": ', filter="data"'},
    tests={
        "test_$module.py": """
            import contextlib
            import io
            import tarfile

            import pytest
            from $module import $cls, $error


            def pack(path, *names):
                with tarfile.open(path, "w") as archive:
                    for name in names:
                        entry = tarfile.TarInfo(name)
                        entry.size = 3
                        archive.addfile(entry, io.BytesIO(b"abc"))
                return path


            def test_an_archive_is_unpacked(tmp_path):
                path = pack(tmp_path / "good.tar", "a$suffix", "b.bin")
                assert $cls(tmp_path / "in").$op(path) == $how_want
                assert [found.read_text() for found in (tmp_path / "in").rglob("a$suffix")] == ["abc"]


            def test_nothing_leaves_the_folder(tmp_path):
                path = pack(tmp_path / "bad.tar", "../../$evil$suffix", "../$evil$suffix")
                with pytest.raises($error):
                    $cls(tmp_path / "deep" / "in").$op(path)
                assert not list(tmp_path.rglob("$evil*"))


            def test_absolute_names_reach_nothing(tmp_path):
                path = pack(tmp_path / "bad.tar", str(tmp_path / "$evil$suffix"), str(tmp_path / "deep" / "$evil$suffix"))
                with contextlib.suppress($error):
                    $cls(tmp_path / "deep" / "in").$op(path)
                assert not list(tmp_path.glob("$evil*")) + list(tmp_path.glob("deep/$evil*"))


            @pytest.mark.parametrize("sort", [tarfile.SYMTYPE, tarfile.LNKTYPE], ids=["symbolic", "hard"])
            def test_links_do_not_lead_out(tmp_path, sort):
                outside = tmp_path / "$evil"
                outside.write_text("kept")
                for target in (str(outside), "../../$evil", "../../../$evil"):
                    path = tmp_path / "link.tar"
                    with tarfile.open(path, "w") as archive:
                        entry = tarfile.TarInfo("a$suffix")
                        entry.type, entry.linkname = sort, target
                        archive.addfile(entry)
                    with pytest.raises($error):
                        $cls(tmp_path / "deep" / "in").$op(path)
                assert outside.stat().st_nlink == 1


            def test_bad_archives_are_remembered(tmp_path):
                good, broken = pack(tmp_path / "good.tar", "a$suffix"), tmp_path / "broken.tar"
                broken.write_bytes(b"no archive")
                assert $cls(tmp_path / "in").$many([good, broken]) == [broken]
        """,
    },
    goal={"rules": "S202"},
    thoughts="extractall follows whatever path an entry names. The filter for data refuses entries that leave the folder.",
)  # fmt: skip
