"""Records are to be grouped: a table of two fields, the best of each group, what changed, runs in time."""

from textwrap import dedent

from swefuse.records import Kind
from swefuse.tasks.template import Template, drawn, integers, one_of, plural, rows, words


def _row(call: str, takes: str, why: str, text: str) -> dict[str, str]:
    doc, body, tests = (part.strip("\n") for part in dedent(text).split("---\n"))
    return {"call": call, "takes": takes, "why": why, "doc": f'"""{doc}\n"""', "body": body, "tests": tests}


GROUPS = (
    _row("cross_table", "$records, across", "All columns have to be known first, so that every row can start with zeros.", """
        $key -> value of the field `across` -> sum of the $amounts, as plain dicts.

        All rows of the table have the same columns in alphabetical order, 0 where there is no $thing; the rows are in the order in
        which each $key first comes up.
        ---
        columns = sorted({$record[across] for $record in $records})
        $found = {}
        for $record in $records:
            line = $found.setdefault($record["$key"], dict.fromkeys(columns, 0))
            line[$record[across]] += $record["$amount"]
        return $found
        ---
        def test_table():
            found = $group(ROWS, "$kind")
            assert found == {"$who_0": {"in": $n + 5, "out": 2}, "$who_1": {"in": 0, "out": 7}, "$who_2": {"in": 5, "out": 0}}
            assert list(found) == ["$who_0", "$who_1", "$who_2"]
            assert [list(line) for line in found.values()] == [["in", "out"]] * 3


        def test_nothing():
            assert $group([], "$kind") == {}
    """),
    _row("best_of_each", "$records, count",
         "sorted keeps the order of equal ones if it sorts by the negated number instead of in reverse.", """
        $key -> its $things with the largest $amounts, at most `count`, the largest first.

        Equal $amounts stay in the order of the list. A count below 1 raises ValueError.
        ---
        if count < 1:
            raise ValueError(f"no $thing would be left: {count}")
        $found = {}
        for $record in $records:
            $found.setdefault($record["$key"], []).append($record)
        for $key, members in $found.items():
            $found[$key] = sorted(members, key=lambda $record: -$record["$amount"])[:count]
        return $found
        ---
        def test_best():
            assert $group(ROWS, 2) == {"$who_0": [ROWS[0], ROWS[3]], "$who_1": [ROWS[1]], "$who_2": [ROWS[4]]}
            assert $group(ROWS, 9)["$who_0"] == [ROWS[0], ROWS[3], ROWS[2]]


        def test_equal_ones_keep_their_order():
            rows = [{**ROWS[0], "day": day} for day in (3, 1, 2)]
            assert [row["day"] for row in $group(rows, 2)["$who_0"]] == [3, 1]


        def test_count():
            assert $group([], 1) == {}
            with pytest.raises(ValueError):
                $group(ROWS, 0)
    """),
    _row("changes", "$records, before", "With both lists as dicts by what identifies an entry, the three lists are look-ups.", """
        What is different from an earlier list: a dict of three lists, "new", "gone" and "changed".

        Each $thing is known by $key and day together. "new" holds what only this list has, "gone" what only the earlier one has.
        "changed" holds triples ($key, day, difference of the $amounts) where those differ. "gone" is in the order of the
        earlier list, the others in that of this one.
        ---
        $found, earlier = ({(one["$key"], one["day"]): one for one in members} for members in ($records, before))
        shared = [place for place in $found if place in earlier]
        steps = [(*place, $found[place]["$amount"] - earlier[place]["$amount"]) for place in shared]
        return {
            "new": [$record for place, $record in $found.items() if place not in earlier],
            "gone": [$record for place, $record in earlier.items() if place not in $found],
            "changed": [step for step in steps if step[2]],
        }
        ---
        def test_new_and_gone():
            assert $group(ROWS[1:], ROWS[:4]) == {"new": [ROWS[4]], "gone": [ROWS[0]], "changed": []}
            assert $group([], ROWS)["gone"] == ROWS
            assert $group(ROWS, [])["new"] == ROWS


        def test_changed():
            later = [{**row, "$amount": row["$amount"] + (row["day"] - 2) * 3} for row in reversed(ROWS)]
            want = [("$who_2", 4, 6), ("$who_0", 3, 3), ("$who_0", 1, -3)]
            assert $group(later, ROWS) == {"new": [], "gone": [], "changed": want}
    """),
    _row("running_totals", "$records, limit",
         "sorted is stable, so sorting by day alone keeps one day's order; then one pass with a sum for each.", """
        Day, $key and sum so far of each $thing, in the order of days; those of one day as they stand in the list.

        The sum belongs to the $key and starts at 0. It never goes beyond the limit: a $thing that would take it there is left
        out, and counts for nothing later.
        ---
        $found, sums = [], {}
        for $record in sorted($records, key=lambda one: one["day"]):
            $key = $record["$key"]
            reached = sums.get($key, 0) + $record["$amount"]
            if reached <= limit:
                sums[$key] = reached
                $found.append(($record["day"], $key, reached))
        return $found
        ---
        def test_sums():
            assert $group(ROWS[::-1], $n + 7) == [
                (1, "$who_0", $n), (2, "$who_0", $n + 2), (2, "$who_1", 7), (3, "$who_0", $n + 7), (4, "$who_2", 5),
            ]


        def test_the_limit():
            assert $group(ROWS, 7) == [(2, "$who_1", 7), (2, "$who_0", 2), (3, "$who_0", 7), (4, "$who_2", 5)]
            assert $group(ROWS, 1) == $group([], 5) == []
    """),
)  # fmt: skip

TEMPLATE = Template(
    kind=Kind.COMPLETE,
    domain="data handling",
    instruction="$ask",
    parameters={
        "what": rows(*GROUPS),
        "things": words("thing", 2),
        "amount": words("number", 1),
        "who": words("person", 3),
        "module": one_of("${thing}_groups", "grouping", "${key}_${things}", "${thing}_records", "by_${key}"),
        "group": one_of("${what_call}", "${thing}_${what_call}", "${what_call}_by_${key}", "make_${what_call}"),
        "load": one_of("read_${things}", "${things}_of_text", "load_rows", "parse_${things}", "from_lines"),
        "records": one_of("records", "rows", "${things}", "entries", "members_of_list"),
        "record": one_of("record", "row", "${thing}", "entry"),
        "found": one_of("found", "result", "grouped", "out"),
        "kind": one_of("kind", "direction", "side", "sort"),
        "sign": one_of(";", "|", ",", "/"),
        "n": integers(11, 95),
        "day": drawn(lambda rng: rng.randint(1, 28)),
        "ask": one_of(
            "Write `$group` in `$module.py`; the docstring describes the result. What is handed in must not be changed.",
            "`$group` is the last function that is missing in `$module.py`. Please write it for our $thing report.",
            "We need `$group` ($module.py), which works on what `$load` gives; see its docstring.",
        ),
    },
    where=lambda v: (
        not {"test", "record", "entry", "result", "row"} & set(v.values()) and v["amount_0"] not in v["things_0"] + v["things_1"]
    ),
    derive=lambda v: {
        "thing": v["things_0"],
        "things": plural(v["things_0"]),
        "key": v["things_1"],
        "amount": v["amount_0"],
        "amounts": plural(v["amount_0"]),
        "body": "raise NotImplemented" + "Error",
    },
    files={
        "$module.py": '''
            """Groups of $things: dicts with the fields $key, $kind, day and $amount."""


            def $load(text):
                """The $things of a text, one for each line: $key, $kind, day and $amount with `$sign` between."""
                $records = []
                for line in text.splitlines():
                    if line.strip():
                        $key, $kind, day, $amount = (part.strip() for part in line.split("$sign"))
                        $records.append({"$key": $key, "$kind": $kind, "day": int(day), "$amount": int($amount)})
                return $records


            def $group($what_takes):
                $what_doc
                $body
        ''',
    },
    repair={"body": "$what_body"},
    tests={
        "test_$module.py": """
            import pytest

            from $module import $group, $load

            ROWS = [
                {"$key": key, "$kind": kind, "day": day, "$amount": number}
                for key, kind, day, number in [
                    ("$who_0", "in", 1, $n), ("$who_1", "out", 2, 7), ("$who_0", "out", 2, 2), ("$who_0", "in", 3, 5),
                    ("$who_2", "in", 4, 5),
                ]
            ]


            @pytest.fixture(autouse=True)
            def unchanged():
                kept = [dict(row) for row in ROWS]
                yield
                assert ROWS == kept


            def test_reading():
                text = "$who_1 $sign in $sign $day $sign $n\\n\\n"
                assert $load(text) == [{"$key": "$who_1", "$kind": "in", "day": $day, "$amount": $n}]


            $what_tests
        """,
    },
    thoughts="$what_why",
)
