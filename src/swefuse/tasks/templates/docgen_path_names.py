"""The docstring of a function that works on names and paths of files alone, without touching a disk."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows
from swefuse.tasks.templates._parts import DOC_ASKS, STYLE, documented, nouns, undocumented

_COPY = documented(
    """
    def $func($path, number, most=$most):
        $doc
        if number < 1:
            raise ValueError(f"number {number}")
        if number > most:
            raise $error(f"more than {most} copies of {$path}")
        folder, slash, last = $path.rpartition("/")
        stem, dot, end = last.rpartition(".")
        if not stem:
            stem, dot, end = last, "", ""
        return f"{folder}{slash}{stem}.{number}{dot}{end}"
    """,
    "Path of a numbered copy of a $noun_0 file, which keeps its suffix.",
    {"$path": "the path of the file itself, with slashes", "number": "the number of the copy, from 1",
     "most": "how many copies there may be"},
    "Return the path with the number before the suffix, or at its end where there is none",
    {"ValueError": "if the number is below 1", "$error": "if it is above ``most``"},
    """
    >>> $func("$noun_1/$noun_2$end", $n)
    $want0
    >>> $func(".$noun_0", 1)
    '.$noun_0.1'
    >>> $func("$noun_1$end", 3, most=2)
    Traceback (most recent call last):
        ...
    $module.$error: more than 2 copies of $noun_1$end
    """,
)  # fmt: skip
_INSIDE = documented(
    """
    def $func(root, $path, hidden=False):
        $doc
        kept = []
        for part in $path.split("/"):
            if part == "..":
                if not kept:
                    raise $error(f"{$path} leaves {root}")
                kept.pop()
            elif part not in ("", "."):
                if part.startswith(".") and not hidden:
                    raise PermissionError(f"{part} is hidden")
                kept.append(part)
        return "/".join([root.rstrip("/"), *kept])
    """,
    "Path of a $noun_0 below a folder, with dots and double slashes resolved.",
    {"root": "the folder that must not be left", "$path": "a path that counts from it, even with a slash in front",
     "hidden": "whether names that start with a dot are allowed"},
    "Return the joined path without a slash at its end",
    {"$error": "if the path climbs out of the folder", "PermissionError": "if a name is hidden and ``hidden`` is not set"},
    """
    >>> $func("/srv/$noun_1", "$noun_2//./$noun_0/../a$end")
    $want0
    >>> $func("$noun_1/", ".$noun_2", hidden=True)
    '$noun_1/.$noun_2'
    >>> $func("$noun_1", "../$noun_2")
    Traceback (most recent call last):
        ...
    $module.$error: ../$noun_2 leaves $noun_1
    """,
)  # fmt: skip
_SORTED = documented(
    """
    def $func($many, end="$end", newest=False):
        $doc
        numbered = []
        for $path in $many:
            if not $path.endswith(end):
                raise $error(f"{$path} does not end in {end}")
            digits = $path.removesuffix(end).rpartition("-")[2]
            if not digits.isdecimal():
                raise ValueError(f"no number in {$path}")
            numbered.append((int(digits), $path))
        return [$path for _, $path in sorted(numbered, reverse=newest)]
    """,
    "Sort the names of $noun_0 files by the number behind their last hyphen.",
    {"$many": "names such as ``a-12$end``", "end": "the suffix that all of them have",
     "newest": "whether the greatest number comes first"},
    "Return a new list in the order of the numbers; equal numbers are in the order of the names",
    {"$error": "if a name has another suffix", "ValueError": "if there is no number before the suffix"},
    """
    >>> $func(["$noun_1-$most$end", "$noun_1-$n$end"])
    $want0
    >>> $func(["$noun_1-1.old", "$noun_2-2.old"], end=".old", newest=True)
    ['$noun_2-2.old', '$noun_1-1.old']
    >>> $func(["$noun_1$end"])
    Traceback (most recent call last):
        ...
    ValueError: no number in $noun_1$end
    """,
)  # fmt: skip
_TREE = documented(
    """
    class $owner:
        \"\"\"Sizes of $noun_0 files by their paths.\"\"\"

        def __init__(self, sizes):
            self.sizes = sizes

        def $func(self, $path, least=0):
            $doc
            if $path.startswith("/"):
                raise ValueError(f"{$path} is absolute")
            inside = [size for one, size in self.sizes.items() if one.startswith($path.rstrip("/") + "/")]
            if not inside:
                raise $error(f"nothing in {$path}")
            return sum(size for size in inside if size >= least)
    """,
    "Add up the files of a folder and of all folders in it.",
    {"$path": "the path of the folder, not absolute", "least": "the size from which on files count"},
    "Return the sum of their sizes; 0 where all of them are smaller",
    {"ValueError": "if the path is absolute", "$error": "if there is no file in the folder"},
    """
    >>> tree = $owner({"$noun_1/a$end": $n, "$noun_1/x/b": $most, "$noun_2": 1})
    >>> tree.$func("$noun_1")
    $want0
    >>> tree.$func("$noun_1/", least=$most)
    $want1
    >>> tree.$func("$noun_2")
    Traceback (most recent call last):
        ...
    $module.$error: nothing in $noun_2
    """,
    target="$owner.$func",
)


def _derive(v: Values) -> Values:
    one, two, end, n, most = v["noun_1"], v["noun_2"], v["end"], v["n"], v["most"]
    if v["case_code"] == _COPY["code"]:
        return undocumented(v, f"{one}/{two}.{n}{end}")
    if v["case_code"] == _INSIDE["code"]:
        return undocumented(v, f"/srv/{one}/{two}/a{end}")
    if v["case_code"] == _SORTED["code"]:
        return undocumented(v, [f"{one}-{n}{end}", f"{one}-{most}{end}"])
    return undocumented(v, n + most, most)


TEMPLATE = Template(
    kind=Kind.DOCGEN,
    domain="files",
    instruction="$ask",
    parameters={
        "ask": DOC_ASKS,
        "style": STYLE,
        "case": rows(_COPY, _INSIDE, _SORTED, _TREE),
        "module": one_of("paths", "naming", "folders", "backups", "archives", "shelves", "copies"),
        "func": name("verb", "quality", "text"),
        "error": class_name("quality", "thing", "error"),
        "owner": class_name("quality", "thing", "tree"),
        "helper": name("verb", "thing"),
        "path": name("quality", "path"),
        "many": name("quality", "list"),
        "noun": nouns(3),
        "end": one_of(".txt", ".csv", ".json", ".log", ".png", ".zip", ".toml", ".md"),
        "n": integers(2, 9),
        "most": integers(10, 99),
    },
    derive=_derive,
    files={
        "$module.py": '''
            """Names of the files about each $noun_0, $noun_1 and $noun_2."""


            class $error(Exception):
                """A path that no $noun_0 can have."""


            def $helper($path):
                """Last part of $path, without its suffix."""
                return $path.rpartition("/")[2].partition(".")[0]


            $case_code
        ''',
    },
    repair={"doc": "$written"},
    goal={"function": "$module.py:$case_target"},
    thoughts="Readers need to know what happens at the edges of a path, so the docstring has one example for each of them.",
)
