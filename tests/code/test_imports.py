from swefuse.code.imports import imported_modules


def test_absolute_imports_anywhere_are_named_and_nothing_else() -> None:
    text = "import a.b as c, d\nfrom e.f import g\nfrom . import h\nfrom .i import j\ndef k():\n    import l\n"
    assert imported_modules((text, "import d, m", "not python (", "x = '\0'")) == ("a.b", "d", "e.f", "l", "m")
