"""Corpus, topic `machines`: state machines, small interpreters and step-by-step simulations."""


def turnstile(events: list[str]) -> tuple[str, int]:
    """Run a coin turnstile and return its last state and the number of people let in."""
    state = "locked"
    passed = 0
    for event in events:
        if event == "coin":
            state = "open"
        elif event == "push" and state == "open":
            state = "locked"
            passed += 1
        elif event != "push":
            raise ValueError(f"unknown event {event}")
    return state, passed


def traffic_light(seconds: int, green: int, yellow: int, red: int) -> str:
    """Tell the colour of a light that started its green phase the given seconds ago."""
    cycle = green + yellow + red
    if min(green, yellow, red) < 0 or cycle == 0:
        raise ValueError("bad phases")
    moment = seconds % cycle
    if moment < green:
        return "green"
    if moment < green + yellow:
        return "yellow"
    return "red"


def stack_calculator(words: list[str]) -> int:
    """Evaluate a postfix calculation in which words other than add and sub pick the larger value."""
    stack: list[int] = []
    for word in words:
        if word.isdecimal():
            stack.append(int(word))
            continue
        right, left = stack.pop(), stack.pop()
        if word == "add":
            stack.append(left + right)
        elif word == "sub":
            stack.append(left - right)
        else:
            stack.append(max(left, right))
    return stack[-1] if stack else 0


def run_register_code(program: list[tuple[str, int]], limit: int) -> int:
    """Run a one-register program and return the register once it halts or time is up."""
    value, line, steps = 0, 0, 0
    while 0 <= line < len(program) and steps < limit:
        command, number = program[line]
        line, steps = line + 1, steps + 1
        if command == "add":
            value += number
        elif command == "double":
            value = value * 2 % 1000
        elif command == "jump_if_below" and value < number:
            line = 0
    return value


def vending_change(price: int, coins: list[int]) -> list[int]:
    """Return the change from a machine that holds coins of 1, 2, 5 and 10, the big ones first."""
    paid = sum(coin for coin in coins if coin in (1, 2, 5, 10))
    if paid < price or price < 0:
        return coins[:]
    rest = paid - price
    change = []
    for size in (10, 5, 2, 1):
        change += [size] * (rest // size)
        rest %= size
    return change


def lift_travel(start: int, calls: list[int], top: int) -> tuple[int, int]:
    """Return the last floor of a lift and the floors it passed while serving the calls."""
    floor = start
    travelled = 0
    for call in calls:
        if not 0 <= call <= top:
            continue
        travelled += abs(call - floor)
        floor = call
    return floor, travelled


def thermostat(readings: list[int], low: int, high: int) -> list[bool]:
    """Tell after each reading if the heater is on, with hysteresis between low and high."""
    if low > high:
        raise ValueError("low above high")
    heating = False
    states = []
    for reading in readings:
        heating = reading < low or (heating and reading <= high)
        states.append(heating)
    return states


def accepts(rules: dict[str, dict[str, str]], start: str, finals: set[str], text: str) -> bool:
    """Tell if a finite automaton accepts the text, missing rules being rejections."""
    state = start
    for char in text:
        options = rules.get(state, {})
        if char not in options:
            return False
        state = options[char]
    return state in finals


def quoted_fields(line: str) -> list[str]:
    """Split a line at commas that are not within single quotes, and drop the quotes."""
    fields = [""]
    quoted = False
    for char in line:
        if char == "'":
            quoted = not quoted
        elif char == "," and not quoted:
            fields.append("")
        else:
            fields[-1] += char
    if quoted:
        raise ValueError("quote left open")
    return fields


def comment_free(source: str) -> str:
    """Remove the parts between '<' and '>', which may be nested, and keep stray closers."""
    level = 0
    kept = []
    for char in source:
        if char == "<":
            level += 1
        elif char == ">" and level > 0:
            level -= 1
        elif level == 0:
            kept.append(char)
    return "".join(kept)


def robot_path(commands: str, size: int) -> tuple[int, int, str]:
    """Drive a robot (F, R, anything else left) in a square field and return its place and heading."""
    x = y = heading = 0
    for command in commands:
        if command != "F":
            heading = (heading + (1 if command == "R" else -1)) % 4
            continue
        dx, dy = [(0, 1), (1, 0), (0, -1), (-1, 0)][heading]
        if 0 <= x + dx < size and 0 <= y + dy < size:
            x, y = x + dx, y + dy
    return x, y, "NESW"[heading]


def line_automaton(cells: list[int], rule: int, rounds: int) -> list[int]:
    """Apply an elementary cellular rule to a closed ring of cells."""
    ring = [cell % 2 for cell in cells]
    n = len(ring)
    for _ in range(min(rounds, 20)):
        codes = [ring[i - 1] * 4 + ring[i] * 2 + ring[(i + 1) % n] for i in range(n)]
        ring = [(rule >> code) & 1 for code in codes]
    return ring


def colony_step(alive: set[tuple[int, int]], born: int) -> list[tuple[int, int]]:
    """Return the sorted cells after one round: 2 or 3 neighbours survive, some are born."""
    around = [(x + dx, y + dy) for x, y in alive for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
    living = []
    for cell in sorted(set(around)):
        number = around.count(cell)
        if (cell in alive and 2 <= number <= 3) or (cell not in alive and number == born):
            living.append(cell)
    return living


def queue_waits(arrivals: list[int], service: int) -> list[int]:
    """Return how long each customer waits at one counter, given sorted arrivals."""
    free_at = 0
    waits = []
    for arrival in arrivals:
        begin = max(arrival, free_at)
        waits.append(begin - arrival)
        free_at = begin + service
    return waits


def round_robin(jobs: dict[str, int], slice_length: int) -> list[str]:
    """Return the order in which jobs finish if each gets a slice of time in turn."""
    if slice_length <= 0:
        raise ValueError("slice must be positive")
    waiting = list(jobs.items())
    finished = []
    while waiting:
        name, left = waiting.pop(0)
        if left > slice_length:
            waiting.append((name, left - slice_length))
        else:
            finished.append(name)
    return finished


def login_lock(attempts: list[bool], allowed: int) -> str:
    """Tell whether a login ends in, out or locked after too many failures in a row."""
    failures = 0
    for success in attempts:
        failures = 0 if success else failures + 1
        if failures > allowed:
            return "locked"
    return "in" if attempts and failures == 0 else "out"


def tank_levels(flows: list[int], capacity: int, level: int) -> tuple[list[int], int]:
    """Follow the level of a tank and return the levels with the total overflow."""
    levels = []
    spilled = 0
    for flow in flows:
        level += flow
        spilled += max(level - capacity, 0)
        level = max(min(level, capacity), 0)
        levels.append(level)
    return levels, spilled


def epidemic(healthy: int, sick: int, contacts: int, days: int) -> tuple[int, int, int]:
    """Simulate an outbreak in whole people, the sick recovering after one day."""
    if healthy < 0 or sick < 0 or contacts < 0:
        raise ValueError("negative people")
    recovered = 0
    for _ in range(days):
        infected = min(healthy, sick * contacts)
        healthy -= infected
        recovered += sick
        sick = infected
    return healthy, sick, recovered


def undo_editor(actions: list[str]) -> str:
    """Apply typed words, 'undo' and 'redo' to an empty page and return its text."""
    page: list[str] = []
    undone: list[str] = []
    for action in actions:
        if action == "undo":
            undone += page[-1:]
            page = page[:-1]
        elif action == "redo":
            page += undone[-1:]
            undone = undone[:-1]
        else:
            page, undone = page + [action], []
    return " ".join(page)


def cache_hits(requests: list[str], size: int) -> int:
    """Count the requests that a cache of the most recently used items can answer."""
    recent: list[str] = []
    hits = 0
    for item in requests:
        if item in recent:
            hits += 1
            recent.remove(item)
        recent.append(item)
        if len(recent) > size:
            recent.pop(0)
    return hits


def bouncing_ball(position: int, speed: int, width: int, ticks: int) -> int:
    """Return where a ball between two walls is after some ticks, reflecting at the walls."""
    if width <= 0 or not 0 <= position <= width:
        raise ValueError("ball outside")
    for _ in range(ticks):
        position += speed
        while position < 0 or position > width:
            position = -position if position < 0 else 2 * width - position
            speed = -speed
    return position


def order_status(steps: list[str]) -> str:
    """Walk an order through its life, ignoring every step that is not allowed."""
    allowed = {"new": ["paid", "cancelled"], "paid": ["sent", "refunded"], "sent": ["delivered", "refunded"]}
    status = "new"
    for step in steps:
        if step in allowed.get(status, []):
            status = step
    return status


def dial_code(turns: list[int], numbers: int) -> tuple[int, int]:
    """Turn a safe's dial and return the last number and how often a turn ended on zero."""
    if numbers < 1:
        raise ValueError("dial without numbers")
    pointer = zeros = 0
    for turn in turns:
        pointer = (pointer + turn) % numbers
        if pointer == 0:
            zeros += 1
    return pointer, zeros


def battery_log(hours: list[str], charge: int) -> list[int]:
    """Log a battery's percent per hour of 'use', 'idle' or 'plug', until it is empty."""
    log = []
    for hour in hours:
        if hour == "plug":
            charge = min(100, charge + 30)
        else:
            charge -= 20 if hour == "use" else 2
        if charge <= 0:
            log.append(0)
            break
        log.append(charge)
    return log


def belt_sorter(parcels: list[int], limits: list[int]) -> list[list[int]]:
    """Drop each parcel into the first chute whose limit it does not exceed, else the last."""
    chutes: list[list[int]] = [[] for _ in range(len(limits) + 1)]
    for parcel in parcels:
        chute = 0
        while chute < len(limits) and parcel > limits[chute]:
            chute += 1
        chutes[chute].append(parcel)
    return chutes


def blinker_ticks(periods: list[int], horizon: int) -> list[int]:
    """List the ticks after 0 and up to the horizon at which all lamps blink together."""
    if not periods or any(period < 1 for period in periods):
        return []
    together = []
    for tick in range(1, horizon + 1):
        if all(tick % period == 0 for period in periods):
            together.append(tick)
    return together


def heading_filter(samples: list[int], patience: int) -> list[int]:
    """Follow a noisy signal, taking a new value only after it was seen often enough in a row."""
    if not samples:
        return []
    accepted = candidate = samples[0]
    streak = 0
    output = []
    for sample in samples:
        streak = streak + 1 if sample == candidate else 1
        candidate = sample
        if streak >= patience:
            accepted = candidate
        output.append(accepted)
    return output


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "turnstile": [(["coin", "push", "push"],), ([],), (["push"],), (["kick"],), (["coin", "coin", "push"],)],
    "traffic_light": [(0, 5, 2, 4), (5, 5, 2, 4), (7, 5, 2, 4), (3, 0, 0, 0), (1, 2, -1, 3), (2, 0, 0, 3)],
    "stack_calculator": [(["4", "9", "add"],), ([],), (["add"],), (["7", "2", "sub"],),
        (["1", "8", "5", ""],)],
    "run_register_code": [([("add", 520), ("double", 0), ("jump_if_below", 50)], 50), ([], 5),
        ([("add", 2)], 0), ([("add", 1), ("jump_if_below", 9)], 5), ([("add", 5), ("jump_if_below", 5)], 9)],
    "vending_change": [(3, [10]), (8, [5, 2]), (7, [5, 2]), (-1, [1]), (1, [10, 10, 3]), (0, [2])],
    "lift_travel": [(0, [3, 1], 5), (2, [], 4), (1, [5, 6, 0], 5), (4, [-1, 4], 4), (0, [2, 2, 0], 2)],
    "thermostat": [([5, 4, 7, 8, 7], 5, 7), ([], 1, 2), ([1], 3, 2), ([2, 1, 2, 3], 2, 2), ([0, 6, 7], 1, 6)],
    "accepts": [({"a": {"x": "b"}, "b": {"y": "a"}}, "a", {"a"}, "xy"), ({"a": {"x": "b"}}, "a", {"a"}, "x"),
        ({}, "s", {"s"}, ""), ({"a": {}}, "a", {"a"}, "q"), ({"a": {"0": "a"}}, "a", set(), "00")],
    "quoted_fields": [("a,'b,c',d",), ("",), ("'x",), (",",), ("it''s,'q'",)],
    "comment_free": [("a<b<c>d>e",), ("x>y",), ("",), ("p<q",), ("<1>2<3>4>>",)],
    "robot_path": [("FFRF", 3), ("FFF", 2), ("LFRRF", 4), ("", 1), ("F", 0), ("RFFRFLFLFF", 3),
        ("RFLFLFFLF", 4)],
    "line_automaton": [([0, 0, 1, 0, 0], 30, 2), ([1, 0, 0], 110, 1), ([], 5, 3), ([2], 2, 0),
        ([0, 3], 9, 25)],
    "colony_step": [({(0, 0), (0, 1), (0, 2)}, 3), (set(), 3), ({(5, 5)}, 1),
        ({(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)}, 3), ({(0, 0), (1, 1), (2, 0), (1, 3), (3, 1)}, 2)],
    "queue_waits": [([0, 1, 2], 3), ([5, 5], 2), ([], 4), ([-3, 0], 1), ([1, 9, 10], 4)],
    "round_robin": [({"a": 3, "b": 1}, 1), ({"a": 2, "b": 2}, 2), ({}, 1), ({}, 0), ({"p": 9, "q": 4}, 4)],
    "login_lock": [([False, False, True], 2), ([False, False], 1), ([], 0), ([True, False], 1), ([False], 0)],
    "tank_levels": [([3, 4, -9, 2], 5, 0), ([], 3, 2), ([1, -1], 2, 1), ([2], 1, 5), ([-2, 5, 5], 4, 1)],
    "epidemic": [(10, 1, 2, 3), (3, 2, 2, 9), (5, 0, 4, 2), (-1, 0, 1, 1), (4, -2, 1, 1), (4, 1, -1, 1),
        (0, 1, 0, 1)],
    "undo_editor": [(["a", "b", "c", "undo", "undo", "redo"],), (["undo", "x"],), ([],),
        (["a", "undo", "redo"],), (["b", "d", "undo", "undo", "redo", "redo", "undo", "c", "redo"],)],
    "cache_hits": [(["a", "b", "a", "c", "b"], 2), (["a", "a"], 0), ([], 3), (["x", "x"], 1),
        (["p", "q", "p"], 2)],
    "bouncing_ball": [(2, 3, 5, 2), (0, -2, 4, 3), (5, 0, 5, 1), (6, 1, 5, 1), (-1, 1, 3, 1), (0, 1, 0, 1),
        (1, 8, 1, 3)],
    "order_status": [(["paid", "sent", "delivered"],), ([],), (["sent", "cancelled"],),
        (["paid", "refunded"],), (["x"],)],
    "dial_code": [([5, 5, -3], 10), ([], 4), ([-1, 1, 0], 6), ([2], 0), ([3, 4], 1)],
    "battery_log": [(["use", "plug", "idle"], 50), (["plug"], 90), ([], 10), (["use", "plug"], 20),
        (["idle"], 3)],
    "belt_sorter": [([1, 5, 9], [4, 8]), ([4, 8], [4, 8]), ([], [1]), ([3], []), ([7, 2, 6], [5, 1, 6])],
    "blinker_ticks": [([2, 3], 12), ([], 5), ([0, 2], 4), ([1], 3), ([4], -2), ([3, 1], 8)],
    "heading_filter": [([1, 2, 2, 1, 2], 2), ([], 1), ([3, 4], 1), ([5, 6, 6, 6, 5], 3), ([1, 1, 2, 2], 3)],
}
