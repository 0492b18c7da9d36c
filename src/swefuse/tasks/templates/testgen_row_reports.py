"""Tests for functions over rows of records: totals by group with a share of all, or two lists brought up to date by key."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, integers, name, one_of, rows, words

TOTALS = '''
def $helper($rows_0, $low=$least):
    """The rows whose $value is a number of at least ``$low``; rows that have none are left out."""
    kept = []
    for row in $rows_0:
        $value = row.get("$value")
        if $value not in (None, "") and float($value) >= $low:
            kept.append({**row, "$value": float($value)})
    return kept


def $entry($rows_0, most=$most):
    """Count, sum and share in percent of each $key, the largest first; all beyond the first ``most`` become "other"."""
    $groups = {}
    for row in $helper($rows_0):
        count, total = $groups.get(row["$key"], (0, 0.0))
        $groups[row["$key"]] = (count + 1, total + row["$value"])
    ranked = sorted($groups.items(), key=lambda item: (-item[1][1], item[0]))
    if len(ranked) > most:
        rest = [numbers for _, numbers in ranked[most:]]
        ranked = [*ranked[:most], ("other", (sum(one[0] for one in rest), sum(one[1] for one in rest)))]
    whole = sum(total for _, (_, total) in ranked)
    return [(key, count, total, round(100 * total / whole, 1) if whole else 0.0) for key, (count, total) in ranked]
'''
TOTALS_TESTS = """
def rows_of(*pairs):
    return [{"$key": key, "$value": $value} for key, $value in pairs]


def test_rows_without_a_number_are_left_out():
    assert $helper([{"$key": "a"}, *rows_of(("b", None), ("c", ""), ("d", "$least"))]) == rows_of(("d", float($least)))
    assert $helper(rows_of(("a", $least - 1), ("b", $least), ("c", $least + 0.5))) == rows_of(("b", $least), ("c", $least + 0.5))
    assert $helper(rows_of(("a", 2), ("b", 3)), $low=3) == rows_of(("b", 3.0))


def test_groups_are_summed_and_ranked():
    table = rows_of(("x", 100), ("y", 100), ("z", 50), ("x", 50), ("w", 100))
    assert $entry(table, 4) == [("x", 2, 150.0, 37.5), ("w", 1, 100.0, 25.0), ("y", 1, 100.0, 25.0), ("z", 1, 50.0, 12.5)]
    assert $entry(table, 2) == [("x", 2, 150.0, 37.5), ("w", 1, 100.0, 25.0), ("other", 2, 150.0, 37.5)]
    assert $entry([]) == []


def test_the_number_of_groups_is_limited():
    table = rows_of(*((f"{at:03}", 100) for at in range($most + 1)))
    assert [one[0] for one in $entry(table)] == [*(f"{at:03}" for at in range($most)), "other"]
    assert "other" not in [one[0] for one in $entry(table[1:])]
"""
MERGE = '''
def $helper($rows_0, key="$key"):
    """The newest row of each key by its $value; of two equally new ones the later one. Rows without the key are dropped."""
    $groups = {}
    for row in $rows_0:
        held = $groups.get(row.get(key))
        if row.get(key) is not None and (held is None or row["$value"] >= held["$value"]):
            $groups[row[key]] = row
    return $groups


def $entry($rows_0, changes, most=$most):
    """Bring a table up to date: rows are added, replaced by newer ones or "gone"; how many of each, and the rows by $key."""
    table = $helper($rows_0)
    counts = {"added": 0, "replaced": 0, "removed": 0}
    for at, row in sorted($helper(changes).items()):
        if row.get("gone"):
            if table.pop(at, None) is not None:
                counts["removed"] += 1
        elif at not in table or row["$value"] > table[at]["$value"]:
            counts["replaced" if at in table else "added"] += 1
            table[at] = row
    if counts["removed"] > most:
        raise ValueError(f"{counts['removed']} rows would be removed")
    return counts, [table[at] for at in sorted(table)]
'''
MERGE_TESTS = """
def row(at, $value=$least, **more):
    return {"$key": at, "$value": $value, **more}


def test_the_newest_row_counts():
    assert $helper([row(1, 5), row(1, 7), row(1, 6), row(2, 1)]) == {1: row(1, 7), 2: row(2, 1)}
    assert $helper([row(1, 5, a=1), row(1, 5, a=2)]) == {1: row(1, 5, a=2)}
    assert $helper([row(None), {"$value": 1}]) == {}
    assert $helper([{"id": 4, "$value": 1}], key="id") == {4: {"id": 4, "$value": 1}}


def test_changes_add_replace_and_remove():
    changes = [row(4), row(1, $least + 1), row(2, gone=True), row(3), row(9, gone=True)]
    counts, table = $entry([row(3, a=1), row(1), row(2)], changes)
    assert counts == {"added": 1, "replaced": 1, "removed": 1}
    assert table == [row(1, $least + 1), row(3, a=1), row(4)]
    assert $entry([row(1)], [row(1, $least - 1)]) == ({"added": 0, "replaced": 0, "removed": 0}, [row(1)])


def test_so_many_rows_may_be_removed():
    table = [row(at) for at in range($most + 1)]
    gone = [row(at, gone=True) for at in range($most + 1)]
    assert $entry(table, gone[1:])[1] == [row(0)]
    with pytest.raises(ValueError):
        $entry(table, gone)
"""

TEMPLATE = Template(
    kind=Kind.TESTGEN,
    domain="data handling",
    instruction="$ask In $module.py, `$entry` $shape_about, with the help of `$helper`. Test both in test_$module.py; "
    "ties, gaps in the data and limits matter most.",
    parameters={
        "module": one_of("report", "summary", "tables", "records", "frames", "ledger", "digest", "overview", "stats"),
        "entry": name("quality", "thing", "table"),
        "helper": name("keep", "quality", "things"),
        "key": one_of("city", "team", "shop", "region", "kind", "owner", "group", "brand", "branch", "channel"),
        "value": one_of("amount", "score", "weight", "price", "size", "stamp", "version", "rank", "level"),
        "groups": one_of("groups", "seen", "by_key", "found", "buckets", "index"),
        "low": one_of("low", "least", "floor", "minimum"),
        "rows": words("list", 1),
        "least": integers(3, 30),
        "most": integers(3, 12),
        "ask": one_of(
            "A wrong number in a report was noticed by a customer first.",
            "These functions feed every report and are not tested at all.",
            "Write down as tests what this module does, so that we can change it safely.",
        ),
        "shape": rows(
            {"code": TOTALS.strip(), "tests": TOTALS_TESTS.strip(), "about": "ranks the groups of a table by their sums"},
            {"code": MERGE.strip(), "tests": MERGE_TESTS.strip(), "about": "brings a table up to date by a list of changes"},
        ),
    },
    where=lambda v: v["rows_0"] not in ("rows", "kept", v["groups"]),
    derive=lambda v: {"head": "import pytest\n" * ("pytest" in v["shape_tests"])},
    files={
        "$module.py": '"""Rows of tables as dictionaries."""\n\n\n$shape_code\n',
        "test_$module.py": "from $module import $entry, $helper\n",
    },
    goal={"module": "$module.py", "tests": "test_$module.py"},
    solution={"test_$module.py": "${head}from $module import $entry, $helper\n\n\n$shape_tests\n"},
    thoughts="A table with ties, gaps and values right at the limits shows what a tidy one would hide.",
)
