"""What a handler answers to one request, whose parts are worked out in two modules."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, integers, name, one_of, rows, words

STEPS = """
def $rate(count):
    for least, percent in STEPS:
        if count >= least:
            return percent
    return 0
"""
HIGHEST = """
def $rate(count):
    fitting = [percent for least, percent in STEPS if least < count]
    return max(fitting, default=0)
"""
SUMMED = """
def $rate(count):
    percent = 0
    for least, step in STEPS:
        percent += step * (count // least)
    return min(percent, $cap)
"""
BASKET = """
def $handler(query, $memory={}):
    $lines_0 = []
    for part in query["$field"].split(","):
        key, _, count = part.partition(":")
        count = int(count or 1)
        $memory[key] = $memory.get(key, 0) + count
        $lines_0.append((key, $total(key, $memory[key])))
    $lines_0.sort(key=lambda line: line[1], reverse=query.get("order") == "down")
    return {"status": 200 if len($memory) > 1 else 204, "lines": $lines_0[: int(query.get("most") or 2)]}
"""
TABLE = """
def $handler(query):
    $lines_0 = dict.fromkeys(PRICES, 0)
    for part in query["$field"].split(","):
        key, _, count = part.partition(":")
        $lines_0[key] |= int(count or 1)
    $memory = {key: $total(key, count) for key, count in $lines_0.items() if count}
    least = min($memory, key=$memory.get)
    if query.get("order") == "down":
        $memory[least] -= 1
    return [sum($memory.values()), least, *list($memory)[: int(query.get("most") or 2)]]
"""
STREAM = """
def $memory(text):
    for part in text.split(","):
        key, _, count = part.partition(":")
        yield key, int(count or 1)


def $handler(query):
    $lines_0 = $memory(query["$field"])
    first, _ = next($lines_0)
    sums = [$total(key, count) for key, count in $lines_0 if key != first]
    if query.get("order") == "down":
        sums = sums[::-1]
    return {"first": first, "sums": sums[: int(query.get("most") or 2)], "more": len(list($lines_0))}
"""


def _request(values: Values) -> Values:
    """The prices, the steps and the request, all from one drawn number."""
    rng = random.Random(values["seed"])
    keys = [values[f"goods_{at}"] for at in range(4)]
    wanted = [f"{rng.choice(keys)}:{rng.randint(2, 19)}" for _ in range(rng.randint(4, 6))]
    query = {values["field"]: ",".join(wanted), "order": rng.choice(["up", "down"]), "most": rng.choice(["", "3", "4"])}
    least = sorted(rng.sample(range(2, 16), 3), reverse=rng.random() < 0.6)
    steps = [(one, rng.randrange(3, 30)) for one in least]
    return {"prices": {key: rng.randint(12, 95) for key in keys}, "steps": steps, "query": query}


TEMPLATE = Template(
    kind=Kind.QA,
    domain="web handlers",
    instruction="$ask `$handler($query)` of $view.py return, called once in a fresh process? Write it as a Python literal: the "
    "function in answer.py must return it.",
    parameters={
        "view": one_of("views", "handlers", "api", "endpoints", "orders", "checkout"),
        "store": one_of("prices", "tariffs", "rates", "shop", "offers", "catalogue"),
        "handler": name("verb", "quality", "things"),
        "rate": name("thing", "discount"),
        "total": name("quality", "price"),
        "amount": one_of("amount", "cents", "price", "cost", "total", "value"),
        "memory": one_of("seen", "counts", "basket", "known", "asked", "parts"),
        "field": one_of("items", "want", "goods", "list", "q", "order_lines"),
        "lines": words("list", 1),
        "goods": words("thing", 4),
        "seed": integers(0, 10**9),
        "cap": integers(20, 60),
        "fee": integers(2, 40),
        "limit": integers(100, 600),
        "ask": one_of("A client reports an odd answer. What should", "Without running it: what does", "What exactly will"),
        "step": rows({"code": STEPS.strip()}, {"code": HIGHEST.strip()}, {"code": SUMMED.strip()}),
        "shape": rows({"code": BASKET.strip()}, {"code": TABLE.strip()}, {"code": STREAM.strip()}),
        "sum": rows(
            {"code": "$amount = $amount * (100 - $rate(count)) // 100\nreturn $amount + ($fee if $amount < $limit else 0)"},
            {"code": "if $amount > $limit:\n    $amount -= $amount * $rate(count) // 100\nreturn max($amount, $limit - $fee)"},
            {"code": "off, rest = divmod($amount * $rate(count), 100)\nreturn $amount - off - (rest > $fee)"},
        ),
    },
    where=lambda v: v["lines_0"] not in ("parts", v["memory"]),
    derive=_request,
    files={
        "$store.py": '''
            """What things cost, in cents."""

            PRICES = $prices
            STEPS = $steps


            $step_code


            def $total(key, count):
                $amount = PRICES[key] * count
                $sum_code
        ''',
        "$view.py": '''
            """Requests about several things at once; a query is a dictionary of texts."""

            from $store import PRICES, $total


            $shape_code
        ''',
    },
    entry="$view.py:$handler",
    calls=["($query,)"],
    thoughts="The request goes through `$total` once for each part, so each step must be followed with its own numbers.",
)
