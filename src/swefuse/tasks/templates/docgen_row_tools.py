"""The docstring of a function over rows of data: totals by group, first of each, merged settings, renamed columns."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows
from swefuse.tasks.templates._parts import DOC_ASKS, STYLE, documented, nouns, undocumented

_TOTALS = documented(
    """
    def $func($many, $key, field, *, least=None):
        $doc
        totals = {}
        for row in $many:
            if $key not in row:
                raise $error(f"a row without {$key}")
            totals[row[$key]] = totals.get(row[$key], 0) + row.get(field, 0)
        if least is None:
            return totals
        return {group: total for group, total in totals.items() if total >= least}
    """,
    "Add up one column of the $noun_0 rows for each value of another.",
    {"$many": "the rows, each a dict", "$key": "the column whose values are the groups",
     "field": "the column to add up; where it is missing, 0 counts", "least": "the total that a group must reach, or None"},
    "Return a dict from groups to totals, in the order in which groups first occur",
    {"$error": "if a row lacks the column of the groups"},
    """
    >>> data = [{"$noun_1": "a", "$noun_2": $n}, {"$noun_1": "b"}, {"$noun_1": "a", "$noun_2": $most}]
    >>> $func(data, "$noun_1", "$noun_2")
    $want0
    >>> $func(data, "$noun_1", "$noun_2", least=1)
    $want1
    >>> $func([{}], "$noun_1", "$noun_2")
    Traceback (most recent call last):
        ...
    $module.$error: a row without $noun_1
    """,
)  # fmt: skip
_UNIQUE = documented(
    """
    def $func($many, $key, keep="first"):
        $doc
        if keep not in ("first", "last"):
            raise ValueError(f"keep {keep}")
        found = {}
        for row in $many:
            value = row.get($key)
            if value is None:
                raise $error(f"{$key} is empty")
            if keep == "last" or value not in found:
                found[value] = row
        return list(found.values())
    """,
    "Leave one ${noun_0} row of those that agree in a column.",
    {"$many": "the rows, each a dict", "$key": "the column by which rows are told apart",
     "keep": "which of them stays, ``first`` or ``last``"},
    "Return a list of rows, in the order in which the values of the column first occur",
    {"ValueError": "if ``keep`` is neither of the two", "$error": "if a row has nothing in the column"},
    """
    >>> data = [{"$noun_1": 1, "$noun_2": $n}, {"$noun_1": 1, "$noun_2": $most}]
    >>> $func(data, "$noun_1")
    $want0
    >>> $func(data, "$noun_1", keep="last")
    $want1
    >>> $func(data, "$noun_0")
    Traceback (most recent call last):
        ...
    $module.$error: $noun_0 is empty
    """,
)  # fmt: skip
_RENAMED = documented(
    """
    def $func(row, $many, strict=True, **extra):
        $doc
        missing = sorted(set($many) - set(row))
        if missing and strict:
            raise $error(f"no column {missing[0]}")
        renamed = {$many.get($key, $key): value for $key, value in row.items()}
        if len(renamed) < len(row):
            raise ValueError("two columns of one name")
        return renamed | extra
    """,
    "Give the columns of a $noun_0 row other names.",
    {"row": "the row, a dict that is left as it is", "$many": "a dict from old names to new ones; other columns keep theirs",
     "strict": "whether an old name that is not in the row is an error", "extra": "further columns of the result, by name"},
    "Return a new dict, columns in the order of the row",
    {"$error": "if an old name is missing and ``strict`` is set", "ValueError": "if two columns would get one name"},
    """
    >>> $func({"$noun_1": $n, "$noun_2": $most}, {"$noun_1": "$noun_0"})
    $want0
    >>> $func({"$noun_1": $n}, {"$noun_2": "$noun_0"}, strict=False, size=$most)
    $want1
    >>> $func({"$noun_1": $n}, {"$noun_2": "$noun_0"})
    Traceback (most recent call last):
        ...
    $module.$error: no column $noun_2
    """,
)  # fmt: skip
_PAGED = documented(
    """
    class $owner:
        \"\"\"Rows about a $noun_0, sorted by one column.\"\"\"

        def __init__(self, $many, $key):
            self.$many = sorted($many, key=lambda row: row[$key])
            self.$key = $key

        def $func(self, low, high=None):
            $doc
            if high is not None and high < low:
                raise ValueError(f"{high} is below {low}")
            chosen = [row for row in self.$many if low <= row[self.$key]]
            if high is not None:
                chosen = [row for row in chosen if row[self.$key] < high]
            if not chosen:
                raise $error(f"nothing from {low} on")
            return chosen
    """,
    "Choose the rows whose sorted column lies in a range.",
    {"low": "the least value, which is included", "high": "the value to stop before, or None for no end"},
    "Return a list of rows in rising order of the column",
    {"ValueError": "if ``high`` is below ``low``", "$error": "if no row lies in the range"},
    """
    >>> table = $owner([{"$noun_1": $most}, {"$noun_1": $n}, {"$noun_1": 1}], "$noun_1")
    >>> table.$func(2)
    $want0
    >>> table.$func(1, high=$n)
    $want1
    >>> table.$func(100)
    Traceback (most recent call last):
        ...
    $module.$error: nothing from 100 on
    """,
    target="$owner.$func",
)


def _derive(v: Values) -> Values:
    zero, one, two, n, most = (v[key] for key in ("noun_0", "noun_1", "noun_2", "n", "most"))
    if v["case_code"] == _TOTALS["code"]:
        return undocumented(v, {"a": n + most, "b": 0}, {"a": n + most})
    if v["case_code"] == _UNIQUE["code"]:
        return undocumented(v, [{one: 1, two: n}], [{one: 1, two: most}])
    if v["case_code"] == _RENAMED["code"]:
        return undocumented(v, {zero: n, two: most}, {one: n, "size": most})
    return undocumented(v, [{one: n}, {one: most}], [{one: 1}])


TEMPLATE = Template(
    kind=Kind.DOCGEN,
    domain="data handling",
    instruction="$ask",
    parameters={
        "ask": DOC_ASKS,
        "style": STYLE,
        "case": rows(_TOTALS, _UNIQUE, _RENAMED, _PAGED),
        "module": one_of("tables", "records", "columns", "reports", "cleaning", "datasets", "summaries"),
        "func": name("verb", "quality", "things"),
        "error": class_name("quality", "thing", "error"),
        "owner": class_name("quality", "thing", "table"),
        "helper": name("verb", "text"),
        "key": name("text", "key"),
        "many": name("quality", "list"),
        "noun": nouns(3),
        "n": integers(2, 9),
        "most": integers(10, 99),
    },
    derive=_derive,
    files={
        "$module.py": '''
            """Rows of data about each $noun_0, with its $noun_1 and its $noun_2."""


            class $error(Exception):
                """Rows about a $noun_0 that cannot be used."""


            def $helper($many, $key):
                """Values of the column $key, empty ones left out."""
                return [row[$key] for row in $many if row.get($key) not in (None, "")]


            $case_code
        ''',
    },
    repair={"doc": "$written"},
    goal={"function": "$module.py:$case_target"},
    thoughts="What happens to rows that lack a column is decided here, so that is what the docstring has to tell.",
)
