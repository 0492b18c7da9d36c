"""What a book of reservations holds after some were made, moved and given back."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows, words

SHIFT = """
while self.$taken(day, count):
    day += timedelta(days=1)
self.$days_0[who] = (day, count)
"""
WAIT = """
if self.$taken(day, count):
    self.$waiting.append((who, day, count))
    return
self.$days_0[who] = (day, count)
"""
CUT = """
while count and self.$taken(day, count):
    count -= 1
if count:
    self.$days_0.setdefault(who, (day, count))
"""
PROMOTE = """
$waiting, self.$waiting = self.$waiting, []
for one in $waiting:
    self.$book(*one)
"""
LAST = """
if self.$waiting and $place is not None:
    self.$book(*self.$waiting.pop())
"""
NEXT = """
for at, one in enumerate(self.$waiting):
    if not self.$taken(*one[1:]):
        del self.$waiting[at]
        self.$book(*one)
        break
"""
ISO = "{who: day.isoformat() for who, (day, count) in $held.items()}, [one[0] for one in $left]"
NUMBERS = "sorted((day.month, day.day, count, who) for who, (day, count) in $held.items()), len($left)"
ENDS = "[(who, f'{day:%d.%m.}', count) for who, (day, count) in $held.items()], bool($left)"


def _story(values: Values) -> Values:
    """Calls of methods, one a line: some book, others cancel or move what was booked before."""
    rng = random.Random(values["seed"])
    month, first = rng.choice([2, 4, 6, 9, 11]), rng.randint(20, 26)
    people = [values[f"people_{at}"] for at in range(5)]
    lines, held = [], list[str]()
    for at in range(7):
        who = people[at] if at < 4 else rng.choice(people)
        if at in (0, 1, 3) or who not in held:
            day = f"date({rng.choice([2023, 2024])}, {month}, {rng.randint(first, 28)})".replace("2024", str(values["year"]))
            lines.append(f'book.{values["book"]}("{who}", {day.replace("2023", str(values["year"]))}, {rng.randint(2, 5)})')
            held.append(who)
        elif rng.random() < 0.6:
            lines.append(f'book.{values["cancel"]}("{who}")')
        else:
            lines.append(f'book.{values["move"]}("{who}", {rng.choice([-3, -2, 1, 2, 4])})')
    return {"story": "\n".join(lines), "held": f"book.{values['days_0']}", "left": f"book.{values['waiting']}"}


TEMPLATE = Template(
    kind=Kind.QA,
    domain="dates",
    instruction="$ask `$build()` of $season.py return? The class stands in $module.py. Write it as a Python literal: the function "
    "in answer.py must return it.",
    parameters={
        "module": one_of("bookings", "calendar_book", "stays", "rooms", "desk", "planner"),
        "season": one_of("example", "demo", "story", "scenario", "check_book", "sample_data"),
        "class": class_name("quality", "thing", "book"),
        "build": name("play", "thing"),
        "book": one_of("reserve", "book_days", "take", "enter", "put", "hold"),
        "cancel": one_of("cancel", "give_back", "drop", "free", "release"),
        "move": one_of("move", "shift", "postpone", "put_off"),
        "taken": one_of("taken", "blocked", "clashes", "overlaps", "is_taken", "occupied"),
        "waiting": one_of("queue", "later", "standby", "pending", "line"),
        "place": one_of("place", "old", "stay", "freed"),
        "days": words("list", 1),
        "people": words("person", 5),
        "year": one_of(2023, 2024, 2028, 2025),
        "gap": one_of("", "", " + 1"),
        "seed": integers(0, 10**9),
        "ask": one_of("What does", "The reservations look odd in the end. What will", "Which state is reached, that is, what does"),
        "policy": rows({"code": SHIFT.strip()}, {"code": WAIT.strip()}, {"code": CUT.strip()}),
        "after": rows({"code": PROMOTE.strip()}, {"code": LAST.strip()}, {"code": NEXT.strip()}),
        "end": rows({"code": ISO}, {"code": NUMBERS}, {"code": ENDS}),
    },
    derive=_story,
    files={
        "$module.py": '''
            """Reservations by the day."""

            from datetime import timedelta


            class $class:
                """Who stays from which day on, and for how many days."""

                def __init__(self):
                    self.$days_0 = {}
                    self.$waiting = []

                def $taken(self, day, count):
                    """Whether one of so many days belongs to somebody."""
                    end = day + timedelta(days=count$gap)
                    return any(day < start + timedelta(days=many) and start < end for start, many in self.$days_0.values())

                def $book(self, who, day, count):
                    """Reserve days for somebody."""
                    $policy_code

                def $cancel(self, who):
                    """Give back what somebody has."""
                    $place = self.$days_0.pop(who, None)
                    $after_code

                def $move(self, who, by):
                    """Reserve other days, so many later."""
                    $place = self.$days_0.pop(who, None)
                    if $place:
                        self.$book(who, $place[0] + timedelta(days=by), $place[1])
        ''',
        "$season.py": '''
            """A few reservations, one after the other."""

            from datetime import date

            from $module import $class


            def $build():
                book = $class()
                $story
                return $end_code
        ''',
    },
    entry="$season.py:$build",
    calls=["()"],
    thoughts="Each call changes what the next one meets, so I write down the days that are held after every line.",
)
