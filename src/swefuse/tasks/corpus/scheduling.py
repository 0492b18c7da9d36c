"""Corpus, topic `scheduling`: jobs, shifts, queues, rooms and deadlines."""


def finish_times(durations: list[int], workers: int) -> list[int]:
    """Give each job's finish time when every job goes to the worker free first."""
    if workers < 1:
        raise ValueError("no workers")
    free_at = [0] * workers
    finished = []
    for duration in durations:
        worker = free_at.index(min(free_at))
        free_at[worker] += duration
        finished.append(free_at[worker])
    return finished


def round_robin(work: list[int], quantum: int) -> list[int]:
    """List job numbers in the order in which they finish when each runs a quantum in turn."""
    if quantum <= 0:
        raise ValueError("quantum must be positive")
    queue = [(index, need) for index, need in enumerate(work)]
    done = []
    while queue:
        index, need = queue.pop(0)
        if need > quantum:
            queue.append((index, need - quantum))
        else:
            done.append(index)
    return done


def total_lateness(jobs: list[tuple[int, int]]) -> int:
    """Add up how late (duration, deadline) jobs end when run by earliest deadline."""
    clock = 0
    late = 0
    for duration, deadline in sorted(jobs, key=lambda job: (job[1], job[0])):
        clock += duration
        if clock > deadline:
            late += clock - deadline
    return late


def pick_meetings(meetings: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Choose as many meetings as possible that do not overlap, ending soonest first."""
    chosen: list[tuple[int, int]] = []
    busy_until = None
    for start, end in sorted(meetings, key=lambda m: m[1]):
        if end <= start:
            continue
        if busy_until is None or start >= busy_until:
            chosen.append((start, end))
            busy_until = end
    return chosen


def assign_rooms(meetings: list[tuple[int, int]]) -> list[int]:
    """Number the room of each meeting, reusing the lowest room free at its start."""
    room_free: list[int] = []
    rooms = []
    for start, end in sorted(meetings):
        for number in range(len(room_free)):
            if room_free[number] <= start:
                room_free[number] = end
                rooms.append(number)
                break
        else:
            room_free.append(end)
            rooms.append(len(room_free) - 1)
    return rooms


def run_order(needs: dict[str, list[str]]) -> list[str]:
    """Order tasks so that each comes after those it needs, alphabetically where free."""
    order: list[str] = []
    waiting = sorted(needs)
    while waiting:
        ready = [task for task in waiting if all(n in order or n not in needs for n in needs[task])]
        if not ready:
            raise ValueError("tasks wait for each other")
        order.append(ready[0])
        waiting.remove(ready[0])
    return order


def first_common_slot(free_a: list[int], free_b: list[int], length: int) -> int | None:
    """Find the first hour from which both are free for the given number of hours."""
    if length <= 0:
        return None
    both = sorted(set(free_a) & set(free_b))
    for hour in both:
        if all(hour + step in both for step in range(length)):
            return hour
    return None


def average_wait(arrivals: list[int], service: int) -> float:
    """Give the mean waiting time at one counter for customers in order of arrival."""
    if not arrivals:
        return 0.0
    clock = 0
    waited = 0
    for arrival in sorted(arrivals):
        clock = max(clock, arrival)
        waited += clock - arrival
        clock += service
    return round(waited / len(arrivals), 2)


def rotate_shifts(names: list[str], day: int, slots: int) -> list[str]:
    """List who works on a day when the team moves on by one person daily."""
    if slots > len(names):
        raise ValueError("team too small")
    roster = []
    for slot in range(slots):
        roster.append(names[(day + slot) % len(names)])
    return roster


def rest_violations(shifts: list[tuple[int, int]], rest: int) -> list[int]:
    """List the shifts, by position, that begin too soon after the one before."""
    found = []
    for position in range(1, len(shifts)):
        pause = shifts[position][0] - shifts[position - 1][1]
        if pause < rest:
            found.append(position)
    return found


def gantt_row(start: int, length: int, width: int) -> str:
    """Draw a bar of hashes on a dotted line, cut at the width."""
    if width <= 0 or length < 0:
        return ""
    begin = max(start, 0)
    end = min(start + length, width)
    if end <= begin:
        return "." * width
    return "." * begin + "#" * (end - begin) + "." * (width - end)


def critical_length(durations: dict[str, int], before: list[tuple[str, str]]) -> int:
    """Give the shortest total time when each (earlier, later) pair must run in sequence."""
    end = dict(durations)
    for _round in range(len(durations)):
        for earlier, later in before:
            if earlier not in end or later not in end:
                raise KeyError(f"{earlier} or {later}")
            end[later] = max(end[later], end[earlier] + durations[later])
    return max(end.values(), default=0)


def retry_times(first: int, factor: int, limit: int, tries: int) -> list[int]:
    """List the moments of retries whose pause grows by a factor up to a limit."""
    if factor < 1:
        raise ValueError("pauses may not shrink")
    moment = 0
    pause = first
    moments = []
    for _attempt in range(tries):
        moment += min(pause, limit)
        moments.append(moment)
        if pause < limit:
            pause *= factor
    return moments


def profit_by_deadline(jobs: list[tuple[int, int]]) -> int:
    """Maximise the profit of unit-time (deadline, profit) jobs, each in a free slot by its deadline."""
    taken: set[int] = set()
    earned = 0
    for deadline, profit in sorted(jobs, key=lambda job: -job[1]):
        slot = deadline
        while slot > 0 and slot in taken:
            slot -= 1
        if slot > 0 and profit > 0:
            taken.add(slot)
            earned += profit
    return earned


def next_run(minute: int, schedule: list[int]) -> tuple[int, int]:
    """Give the next scheduled minute of the hour after now and the wait until then."""
    if not schedule:
        raise ValueError("nothing scheduled")
    later = [entry for entry in schedule if entry > minute]
    if later:
        upcoming = min(later)
        return upcoming, upcoming - minute
    upcoming = min(schedule)
    return upcoming, upcoming + 60 - minute


def cooldown_length(tasks: str, pause: int) -> int:
    """Count the time steps for tasks run in order with a pause between two of one kind."""
    clock = 0
    last_run: dict[str, int] = {}
    for task in tasks:
        clock += 1
        if task in last_run and clock - last_run[task] <= pause:
            clock = last_run[task] + pause + 1
        last_run[task] = clock
    return clock


def balance_load(jobs: dict[str, int]) -> tuple[list[str], list[str]]:
    """Deal jobs to two machines, the longest first, always to the lighter load."""
    left: list[str] = []
    right: list[str] = []
    gap = 0
    for name, cost in sorted(jobs.items(), key=lambda job: (-job[1], job[0])):
        if gap <= 0:
            left.append(name)
            gap += cost
        else:
            right.append(name)
            gap -= cost
    return left, right


def accept_bookings(requests: list[tuple[int, int]], seats: int) -> list[bool]:
    """Tell for each (night, guests) request whether it still fits the seats of that night."""
    booked: dict[int, int] = {}
    answers = []
    for night, guests in requests:
        used = booked.get(night, 0)
        fits = guests > 0 and used + guests <= seats
        if fits:
            booked[night] = used + guests
        answers.append(fits)
    return answers


def idle_time(jobs: list[tuple[int, int]]) -> int:
    """Sum the time a machine waits between (release, duration) jobs run in order of release."""
    idle = 0
    clock = None
    for release, duration in sorted(jobs):
        if clock is not None and release > clock:
            idle += release - clock
        begin = release if clock is None else max(clock, release)
        clock = begin + duration
    return idle


def pair_teams(teams: list[str], matchday: int) -> list[tuple[str, str]]:
    """Give the pairings of a round robin by turning all teams but the first."""
    if len(teams) < 2 or len(teams) % 2 == 1:
        raise ValueError("need an even number of teams")
    turn = matchday % (len(teams) - 1)
    rest = teams[1:]
    circle = teams[:1] + rest[turn:] + rest[:turn]
    half = len(circle) // 2
    return list(zip(circle[:half], circle[:half - 1:-1]))


def priority_pop(queue: list[tuple[int, str]], now: int, boost: int) -> str:
    """Name the entry to serve, priority rising by one per boost of positions waited."""
    if boost < 1:
        raise ValueError("boost must be positive")
    best_name = ""
    best_score = -1
    for position, (priority, name) in enumerate(queue):
        waited = max(0, now - position)
        score = priority + waited // boost
        if score > best_score:
            best_score = score
            best_name = name
    return best_name


def minutes_over(plan: list[tuple[str, int]], limit: int) -> dict[str, int]:
    """Give the people whose planned minutes exceed the limit and by how much."""
    planned: dict[str, int] = {}
    for person, minutes in plan:
        planned[person] = planned.get(person, 0) + minutes
    over = {}
    for person, minutes in sorted(planned.items()):
        if minutes > limit:
            over[person] = minutes - limit
    return over


def batch_jobs(sizes: list[int], capacity: int, most: int) -> list[int]:
    """Count the jobs in each batch when a batch closes at its capacity or job limit."""
    if most < 1:
        raise ValueError("a batch holds at least one job")
    counts: list[int] = []
    load = jobs = 0
    for size in sizes:
        if jobs > 0 and (load + size > capacity or jobs >= most):
            counts.append(jobs)
            load = jobs = 0
        load += size
        jobs += 1
    return counts + [jobs] if jobs else counts


def can_finish(tasks: list[tuple[int, int]], start: int) -> bool:
    """Tell whether all (deadline, duration) tasks can be done on time one after another."""
    clock = start
    for deadline, duration in sorted(tasks):
        if duration < 0:
            return False
        clock += duration
        if clock > deadline:
            return False
    return True


def latest_start(tasks: list[tuple[int, int]]) -> int | None:
    """Give the latest moment to begin (deadline, duration) tasks and still meet all deadlines."""
    moment = None
    for deadline, duration in sorted(tasks, reverse=True):
        if moment is None or deadline < moment:
            moment = deadline
        moment -= duration
    return moment


def bus_wait(arrival: int, first: int, interval: int, last: int) -> int:
    """Give the wait for the next bus of a regular line, -1 after the last one."""
    if interval <= 0 or first > last:
        raise ValueError("not a timetable")
    if arrival <= first:
        return first - arrival
    missed = (arrival - first + interval - 1) // interval
    departure = first + missed * interval
    return departure - arrival if departure <= last else -1


def fair_turns(history: list[str], team: list[str]) -> list[str]:
    """Order a team for the next duty by fewest turns, then by longest since the last turn."""
    keyed = []
    for name in team:
        turns = history.count(name)
        last = -1
        for day, worker in enumerate(history):
            if worker == name:
                last = day
        keyed.append((turns, last, name))
    return [name for _turns, _last, name in sorted(keyed)]


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "finish_times": [([4, 2, 3], 2), ([], 3), ([5, 5], 1), ([1], 0), ([3, 3, 3, 1], 3), ([6, 1, 1], 2)],
    "round_robin": [([3, 1, 2], 1), ([4, 2], 2), ([], 5), ([7], 0), ([2, 3, 2], 2), ([5, 1, 9, 3], 3)],
    "total_lateness": [([(3, 4), (2, 3)],), ([],), ([(5, 5)],), ([(4, 1), (2, 9)],),
        ([(6, 4), (1, 4), (3, 2)],)],
    "pick_meetings": [([(1, 4), (3, 5), (4, 7)],), ([],), ([(2, 2), (1, 9)],), ([(0, 6), (1, 2), (2, 3)],),
        ([(5, 3)],)],
    "assign_rooms": [([(1, 4), (2, 5), (4, 6)],), ([],), ([(3, 4), (1, 3)],), ([(0, 9), (1, 9), (2, 9)],),
        ([(5, 6)],), ([(0, 2), (0, 5), (3, 4), (4, 8)],)],
    "run_order": [({"b": ["a"], "a": []},), ({},), ({"x": ["y"], "y": ["x"]},), ({"p": ["q"], "r": []},),
        ({"c": [], "a": ["c", "b"], "b": ["c"]},)],
    "first_common_slot": [([9, 10, 11], [10, 11, 12], 2), ([9], [10], 1), ([8, 9], [9, 8], 0),
        ([1, 3, 4], [4, 3, 1], 2), ([5, 6], [5, 6], 3), ([7], [7], 1)],
    "average_wait": [([0, 1, 2], 5), ([], 3), ([10, 0, 1], 4), ([3, 3], 2), ([-4, 0], 1), ([8], 6)],
    "rotate_shifts": [(["a", "b", "c"], 1, 2), (["a", "b", "c"], 5, 3), (["a"], 0, 2), ([], 0, 0),
        (["x", "y"], -1, 1), (["k", "l"], 3, 2)],
    "rest_violations": [([(0, 8), (16, 24)], 8), ([(0, 8), (15, 23), (40, 48)], 8), ([], 8), ([(1, 2)], 5),
        ([(5, 9), (9, 12), (12, 15)], 1)],
    "gantt_row": [(2, 3, 8), (6, 5, 8), (-2, 4, 5), (9, 2, 8), (0, 0, 4), (1, 2, 0), (1, -1, 6), (0, 1, 1)],
    "critical_length": [({"a": 3, "b": 2, "c": 4}, [("b", "c"), ("a", "b")]), ({}, []), ({"x": 5}, []),
        ({"x": 5}, [("x", "y")]), ({"p": 1, "q": 9}, [("p", "q")]), ({"m": 1}, [("n", "m")])],
    "retry_times": [(1, 2, 10, 5), (3, 1, 2, 3), (5, 3, 5, 2), (1, 0, 4, 2), (2, 2, 9, 0), (0, 4, 3, 3)],
    "profit_by_deadline": [([(1, 9), (2, 8), (2, 7)],), ([(2, 50), (1, 10), (2, 40)],), ([],), ([(0, 9)],),
        ([(3, 5), (3, 7), (3, 6), (3, 1)],), ([(1, -4), (1, 2)],), ([(1, 1), (2, 3)],)],
    "next_run": [(10, [5, 20, 40]), (45, [5, 20]), (20, [20]), (0, []), (59, [0, 30]), (7, [50, 8])],
    "cooldown_length": [("aab", 2), ("", 3), ("aaaa", 1), ("abcab", 2), ("abab", 0), ("abca", 3)],
    "balance_load": [({"a": 5, "b": 3, "c": 2, "d": 2},), ({},), ({"x": 1},), ({"k": 4, "j": 4, "i": 1},),
        ({"p": 9, "q": 1, "r": 7},)],
    "accept_bookings": [([(1, 3), (1, 2), (2, 4), (1, 1)], 4), ([], 5), ([(1, 0), (1, 5)], 5), ([(7, 6)], 5),
        ([(3, -1), (3, 2), (3, 1)], 2), ([(4, 1)], 9)],
    "idle_time": [([(0, 2), (5, 3)],), ([],), ([(4, 1)],), ([(0, 5), (2, 2), (9, 1)],),
        ([(3, 2), (5, 1), (7, 0)],)],
    "pair_teams": [(["a", "b", "c", "d"], 0), (["a", "b", "c", "d"], 1), (["a", "b"], 4), (["a"], 0),
        (["a", "b", "c"], 1), (["a", "b", "c", "d", "e", "f"], 7), ([], 2)],
    "priority_pop": [([(3, "a"), (5, "b")], 2, 4), ([], 1, 1), ([(2, "x"), (2, "y")], 0, 1),
        ([(1, "p")], 3, 0), ([(0, "m"), (1, "n")], 6, 2), ([(1, "s"), (2, "t")], 4, 2), ([(0, "u")], 0, 1)],
    "minutes_over": [([("ann", 300), ("bob", 200), ("ann", 250)], 480), ([], 10), ([("x", 60)], 60),
        ([("y", 61)], 60), ([("q", 5), ("p", 9), ("q", 5)], 7)],
    "batch_jobs": [([3, 4, 5, 1], 8, 9), ([1, 1, 1], 10, 2), ([], 5, 1), ([9, 9], 3, 4), ([2], 2, 0),
        ([4, 4, 1], 8, 3), ([2, 2], 9, 1)],
    "can_finish": [([(5, 3), (9, 4)], 0), ([(5, 3), (9, 4)], 2), ([(5, 3), (9, 4)], 3), ([], 7),
        ([(4, -1)], 0), ([(6, 0)], 6)],
    "latest_start": [([(5, 3), (9, 4)],), ([],), ([(6, 2)],), ([(9, 2), (8, 5), (3, 1)],),
        ([(4, 4), (20, 1)],)],
    "bus_wait": [(7, 5, 10, 45), (15, 5, 10, 45), (3, 5, 10, 45), (46, 5, 10, 45), (45, 5, 10, 45),
        (1, 2, 0, 9), (1, 9, 5, 3), (36, 5, 15, 40), (4, 4, 3, 4)],
    "fair_turns": [(["a", "b", "a"], ["a", "b", "c"]), ([], ["y", "x"]), (["k"], []),
        (["p", "q"], ["q", "p"]), (["m", "n", "m", "n", "o"], ["o", "n", "m"])],
}
