"""Whatever a job left is removed, however deep, closed or misleading it is."""

from __future__ import annotations

import os
from pathlib import Path

from swefuse.sandbox.sweep import sweep


def test_a_tree_deeper_than_any_path_is_removed(tmp_path: Path) -> None:
    box = tmp_path / "box"
    box.mkdir()
    here = os.getcwd()
    os.chdir(box)
    try:
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
        Path("file").touch()
    finally:
        os.chdir(here)
    sweep(str(box))
    assert not box.exists()


def test_folders_without_rights_links_and_odd_names_are_removed_and_nothing_beside_them(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (kept / "inner").mkdir(parents=True)
    (kept / "file").touch()
    box = tmp_path / "box"
    for name in ("closed/a", "closed/b/c", ".swept-1", "two"):
        (box / name).mkdir(parents=True)
    (box / "link").symlink_to(kept)
    (box / "two" / "up").symlink_to("../../kept/file")
    os.mkfifo(box / "two" / "pipe")
    (box / "closed").chmod(0)
    sweep(str(box))
    assert not box.exists()
    assert (kept / "file").exists() and (kept / "inner").exists()
    sweep(str(box))  # what is not there needs no removing


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "box").symlink_to(tmp_path / "kept")
    sweep(str(tmp_path / "box"))
    assert (tmp_path / "kept").exists()
