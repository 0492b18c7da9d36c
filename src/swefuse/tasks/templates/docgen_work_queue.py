"""The docstring of a building block for concurrent work that is deterministic itself: batches, retries, shares, slots."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows
from swefuse.tasks.templates._parts import DOC_ASKS, STYLE, documented, nouns, undocumented

_BATCHES = documented(
    """
    def $func($many, $size, *, weigh=len):
        $doc
        if $size < 1:
            raise ValueError(f"size {$size}")
        batch, weight = [], 0
        for one in $many:
            own = weigh(one)
            if own > $size:
                raise $error(f"{one} does not fit")
            if weight + own > $size:
                yield batch
                batch, weight = [], 0
            batch.append(one)
            weight += own
        if batch:
            yield batch
    """,
    "Pack $noun_0 jobs into batches that one worker takes at a time.",
    {"$many": "the jobs, in the order in which they are packed", "$size": "the greatest weight of a batch, at least 1",
     "weigh": "a function that gives the weight of a job"},
    "Yield lists of jobs, none empty; the order of the jobs is kept",
    {"ValueError": "if the size is below 1", "$error": "if a single job is heavier than a batch may be"},
    """
    >>> list($func(["$noun_1", "$noun_2"], $most))
    $want0
    >>> list($func([1, $n, 1, 2], $n, weigh=int))
    $want1
    >>> list($func(["$noun_1"], 1))
    Traceback (most recent call last):
        ...
    $module.$error: $noun_1 does not fit
    """,
)  # fmt: skip
_DELAYS = documented(
    """
    def $func(tries, first=$n, factor=2, most=None):
        $doc
        if tries < 1:
            raise $error(f"{tries} tries")
        if first < 0 or factor < 1:
            raise ValueError(f"{first} times {factor}")
        $size = first
        for _ in range(tries - 1):
            yield $size if most is None else min($size, most)
            $size *= factor
    """,
    "Seconds to wait between the tries of a $noun_0 job.",
    {
        "tries": "how often the job is tried in all, at least 1",
        "first": "the wait after the first try, not below 0",
        "factor": "by what each wait is longer than the one before, at least 1",
        "most": "the longest wait, or None for no limit",
    },
    "Yield one number for each wait, which is one less than there are tries",
    {"$error": "if there is not a single try", "ValueError": "if the waits would be below 0 or become shorter"},
    """
    >>> list($func(4))
    $want0
    >>> list($func(4, first=1, factor=$most, most=$most))
    $want1
    >>> list($func(1))
    []
    >>> list($func(0))
    Traceback (most recent call last):
        ...
    $module.$error: 0 tries
    """,
)
_SHARED = documented(
    """
    def $func($many, workers, $size=None):
        $doc
        if not workers:
            raise ValueError("no workers")
        if $size is not None and len($many) > $size * len(workers):
            raise $error(f"{len($many)} jobs are too many")
        shares = {worker: [] for worker in workers}
        for at, one in enumerate($many):
            shares[workers[at % len(workers)]].append(one)
        return shares
    """,
    "Deal $noun_0 jobs out to workers in turn.",
    {"$many": "a list of jobs", "workers": "a list of names of workers, all different",
     "$size": "how many jobs a worker takes at most, or None for any number"},
    "Return a dict from each worker to the list of its jobs, which may be empty",
    {"ValueError": "if there are no workers", "$error": "if the workers cannot take all jobs"},
    """
    >>> $func([$n, $most, 0], ["$noun_1", "$noun_2"])
    $want0
    >>> $func([], ["$noun_1"], $size=1)
    {'$noun_1': []}
    >>> $func([$n, $most], ["$noun_2"], $size=1)
    Traceback (most recent call last):
        ...
    $module.$error: 2 jobs are too many
    """,
)  # fmt: skip
_SLOTS = documented(
    """
    class $owner:
        \"\"\"Slots that $noun_0 workers hold; no more than there are can be held at once.\"\"\"

        def __init__(self, count):
            self.count = count
            self.$many = {}

        def $func(self, worker, $size=1):
            $doc
            if $size < 1:
                raise ValueError(f"{$size} slots")
            if worker in self.$many:
                raise KeyError(worker)
            if sum(self.$many.values()) + $size > self.count:
                raise $error(f"{worker} has to wait")
            self.$many[worker] = $size
            return self.count - sum(self.$many.values())
    """,
    "Take slots for a worker that holds none yet.",
    {"worker": "the name of the worker", "$size": "how many slots it needs, at least 1"},
    "Return how many slots are still free afterwards",
    {"ValueError": "if less than one slot is asked for", "KeyError": "if the worker holds slots already",
     "$error": "if too few slots are free; nothing is taken then"},
    """
    >>> slots = $owner($most)
    >>> slots.$func("$noun_1")
    $want0
    >>> slots.$func("$noun_2", $size=$n)
    $want1
    >>> slots.$func("$noun_0", $size=$most)
    Traceback (most recent call last):
        ...
    $module.$error: $noun_0 has to wait
    """,
    target="$owner.$func",
)  # fmt: skip


def _derive(v: Values) -> Values:
    one, two, n, most = v["noun_1"], v["noun_2"], v["n"], v["most"]
    if v["case_code"] == _BATCHES["code"]:
        together = len(one) + len(two) <= most
        small = [[1], [n], [1, 2]] if n > 2 else [[1], [n], [1], [2]]
        return undocumented(v, [[one, two]] if together else [[one], [two]], small)
    if v["case_code"] == _DELAYS["code"]:
        return undocumented(v, [n, 2 * n, 4 * n], [1, most, most])
    if v["case_code"] == _SHARED["code"]:
        return undocumented(v, {one: [n, 0], two: [most]})
    return undocumented(v, most - 1, most - 1 - n)


TEMPLATE = Template(
    kind=Kind.DOCGEN,
    domain="concurrency",
    instruction="$ask",
    parameters={
        "ask": DOC_ASKS,
        "style": STYLE,
        "case": rows(_BATCHES, _DELAYS, _SHARED, _SLOTS),
        "module": one_of("workers", "scheduling", "pools", "dispatch", "jobs", "queues", "throttle"),
        "func": name("verb", "quality", "things"),
        "error": class_name("quality", "thing", "error"),
        "owner": class_name("quality", "thing", "slots"),
        "helper": name("verb", "thing"),
        "size": name("quality", "number"),
        "many": name("quality", "list"),
        "noun": nouns(3),
        "n": integers(2, 9),
        "most": integers(12, 40),
    },
    derive=_derive,
    files={
        "$module.py": '''
            """How $noun_0 jobs are handed to workers, with their $noun_1 and their $noun_2."""

            import threading

            _LOCK = threading.Lock()


            class $error(Exception):
                """A $noun_0 job that cannot be taken."""


            def $helper($many, one):
                """Put a job at the end of $many unless it waits there already; threads may call this at once."""
                with _LOCK:
                    if one not in $many:
                        $many.append(one)


            $case_code
        ''',
    },
    repair={"doc": "$written"},
    goal={"function": "$module.py:$case_target"},
    thoughts="Order, limits and refusals are what a caller relies on here, so the docstring states each and shows it.",
)
