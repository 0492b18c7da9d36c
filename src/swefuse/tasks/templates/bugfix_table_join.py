"""Two tables of records are joined, and what comes of it is summed up, with a fault in one of the steps."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, drawn, integers, one_of, plural, rows, words

GOOD = {
    "collect": "$partners.setdefault(row[key], []).append(row)",
    "none": "[dict.fromkeys(extra)]",
    "merge": "{**partner, **row}",
    "skip": "row.get(field) is None",
    "start": "(0, 0)",
    "sort": "(-entry[2], entry[0])",
}
# fmt: off
BUGS = (
    ("collect", "$partners[row[key]] = [row]",
     "When one $left has several $rights, only the last of them turns up in the joined rows.",
     "Each row takes the place of the one before it with the same key, where all of them are wanted."),
    ("none", "[]",
     "Every $left without any $right is gone from the joined rows; it should stay, with empty fields.",
     "The inner loop runs zero times where there is no partner, so it needs one that has nothing but empty fields."),
    ("merge", "{**row, **partner}",
     "Both tables have a column `$shared`, and the joined rows show that of the $right; the $left goes first.",
     "The later of two mappings wins, and that is the partner's."),
    ("skip", "not row.get(field)",
     "Any $right whose $field is 0 is not counted in the summary, as if there were no number at all.",
     "Zero is false too; what has to be left out is only a missing number."),
    ("start", "(1, 0)",
     "The summary counts one $right too many in each group, though the sums are right.",
     "A group starts with one before its first row is counted."),
    ("sort", "(entry[2], entry[0])",
     "The group with the largest $field should head the summary, but it comes at the bottom.",
     "Sorting is from small to large, so the sum has to be negated while the names keep their order."),
)
# fmt: on

TEMPLATE = Template(
    kind=Kind.BUGFIX,
    domain="data handling",
    instruction="$bug_complaint $place",
    parameters={
        "noun": words("thing", 2),
        "number": words("number", 2),
        "module": one_of("${left}_report", "joining", "${left}_${rights}", "tables", "${right}_summary"),
        "field": one_of("${number_0}", "${number_1}", "${right}_${number_0}", "total_${number_1}"),
        "key": one_of("${left}_id", "${left}_no", "${left}_code", "${left}"),
        "shared": one_of("status", "note", "updated", "owner", "label"),
        "index": one_of("index_$rights", "${rights}_by_key", "group_$rights", "collect_$rights"),
        "join": one_of("join_$rights", "attach_$rights", "with_$rights", "merge_${left}_rows", "left_join"),
        "sums": one_of("summarise_${number_0}", "${field}_per_group", "${left}_totals", "group_sums"),
        "partners": one_of("partners", "found", "by_key", "groups", "matches"),
        "joined": one_of("joined", "result", "out", "merged", "${left}_rows"),
        "totals": one_of("totals", "running", "sums_by_group", "counted"),
        "place": one_of(
            "The code is in `$module.py`.",
            "See `$module.py`; both tables are lists of dicts and must not be changed.",
            "We use `$join` and `$sums` of `$module.py` one after the other.",
        ),
        "amounts": drawn(lambda rng: {str(at): amount for at, amount in enumerate(rng.sample(range(2, 90), 3))}),
        "base": integers(100, 900),
        "extra": one_of("sorted({name for row in $rights for name in row} - {key})", "sorted(set().union(*$rights) - {key})"),
        "bug": rows(*({**GOOD, place: text, "complaint": said, "why": why} for place, text, said, why in BUGS)),
    },
    where=lambda v: "test" not in v.values(),  # pytest would collect what is named after it
    derive=lambda v: {"left": v["noun_0"], "right": v["noun_1"], "lefts": plural(v["noun_0"]), "rights": plural(v["noun_1"])},
    files={
        "$module.py": '''
            """Rows about $lefts, joined with those about their $rights, and summed up."""


            def $index($rights, key):
                """The $rights by the value of a key."""
                $partners = {}
                for row in $rights:
                    $bug_collect
                return $partners


            def $join($lefts, $rights, key="$key"):
                """One row for each pair of $left and $right that share a key, in the order of the $lefts.

                Each $left without any $right stays, with None in the other's fields. The $left wins where both have a field.
                """
                extra = $extra
                $partners = $index($rights, key)
                $joined = []
                for row in $lefts:
                    for partner in $partners.get(row[key]) or $bug_none:
                        $joined.append($bug_merge)
                return $joined


            def $sums(rows, by, field="$field"):
                """Group, number of rows and sum of a field for each group, the largest sum first, else by name.

                Rows without a number are left out.
                """
                $totals = {}
                for row in rows:
                    if $bug_skip:
                        continue
                    count, total = $totals.get(row[by], $bug_start)
                    $totals[row[by]] = (count + 1, total + row[field])
                summary = [(group, count, total) for group, (count, total) in $totals.items()]
                return sorted(summary, key=lambda entry: $bug_sort)
        ''',
    },
    repair={f"bug_{place}": text for place, text in GOOD.items()},
    tests={
        "test_$module.py": """
            from $module import $join, $sums

            LEFT = [{"$key": $base, "$shared": "a", "zone": "n"}, {"$key": 7, "$shared": "b", "zone": "n"}]
            RIGHT = [
                {"$key": $base, "$shared": "x", "$field": $amounts_0},
                {"$key": $base, "$shared": "y", "$field": $amounts_1},
                {"$key": 8, "$shared": "z", "$field": $amounts_2},
            ]


            def test_every_pair_gets_a_row():
                rows = $join(LEFT, RIGHT)
                assert [row["$field"] for row in rows if row["$key"] == $base] == [$amounts_0, $amounts_1]


            def test_rows_without_a_partner_stay():
                assert $join(LEFT, RIGHT)[-1] == {"$key": 7, "$shared": "b", "zone": "n", "$field": None}


            def test_the_first_table_wins():
                assert [row["$shared"] for row in $join(LEFT[:1], RIGHT)] == ["a", "a"]


            def test_rows_are_counted_and_summed():
                assert $sums($join(LEFT, RIGHT), "zone") == [("n", 2, $amounts_0 + $amounts_1)]


            def test_zero_counts_as_a_number():
                rows = [{"zone": "s", "$field": 0}, {"zone": "s", "$field": None}, {"zone": "s", "$field": $amounts_0}]
                assert $sums(rows, "zone") == [("s", 2, $amounts_0)]


            def test_the_largest_sum_comes_first():
                rows = [{"zone": zone, "$field": number} for zone, number in [("c", 1), ("b", $amounts_0), ("a", 1)]]
                assert [entry[0] for entry in $sums(rows, "zone")] == ["b", "a", "c"]
        """,
    },
    thoughts="$bug_why",
)
