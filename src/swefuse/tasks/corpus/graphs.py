"""Corpus, topic `graphs`: links, routes, trees and grids seen as graphs."""


def edge_degrees(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """Count how many edge ends touch each of the numbered nodes."""
    degrees = [0] * count
    for left, right in edges:
        if not 0 <= left < count or not 0 <= right < count:
            raise ValueError("unknown node")
        degrees[left] += 1
        if left != right:
            degrees[right] += 1
    return degrees


def hop_distance(links: dict[str, list[str]], start: str, goal: str) -> int:
    """Return the fewest hops from start to goal, or -1 when goal is out of reach."""
    distance = {start: 0}
    queue = [start]
    while queue:
        node = queue.pop(0)
        if node == goal:
            return distance[node]
        for other in links.get(node, []):
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return -1


def island_count(count: int, bridges: list[tuple[int, int]]) -> int:
    """Count the groups of islands that stay apart once the bridges stand."""
    label = list(range(count))
    groups = count
    for a, b in bridges:
        if a >= count or b >= count or min(a, b) < 0:
            continue
        old, new = label[a], label[b]
        if old != new:
            label = [new if x == old else x for x in label]
            groups -= 1
    return groups


def build_waves(needs: dict[str, list[str]]) -> list[list[str]]:
    """Group the jobs into waves so that each job comes after everything it needs."""
    done: set[str] = set()
    waves: list[list[str]] = []
    while len(done) < len(needs):
        wave = [job for job in sorted(needs) if job not in done and all(n in done for n in needs[job])]
        if not wave:
            raise ValueError("circular needs")
        waves.append(wave)
        done.update(wave)
    return waves


def tour_cost(tolls: dict[str, dict[str, int]], stops: list[str]) -> int | None:
    """Add up the tolls along the stops, or return None where a road is missing."""
    total = 0
    for here, there in zip(stops, stops[1:]):
        toll = tolls.get(here, {}).get(there)
        if toll is None:
            return None
        total += toll
    return total


def cheapest_fares(roads: list[tuple[str, str, int]], start: str) -> dict[str, int]:
    """Return the lowest fare from start to every town that can be reached."""
    fares = {start: 0}
    for _ in range(len(roads)):
        for source, target, price in roads:
            if source not in fares or price < 0:
                continue
            fare = fares[source] + price
            fares[target] = min(fare, fares.get(target, fare))
    return fares


def steps_before_repeat(jumps: list[int], start: int) -> int:
    """Count the jumps made before a cell is seen again or the board is left."""
    seen: set[int] = set()
    cell = start
    steps = 0
    while 0 <= cell < len(jumps) and cell not in seen:
        seen.add(cell)
        cell = jumps[cell]
        steps += 1
    return steps


def tree_depths(parents: list[int]) -> list[int]:
    """Return the depth of every node of a tree in which roots have parent -1."""
    depths = []
    for node in range(len(parents)):
        depth = 0
        current = node
        while parents[current] >= 0:
            current = parents[current]
            depth += 1
            if depth >= len(parents):
                raise ValueError("not a tree")
        depths.append(depth)
    return depths


def nearest_shared_boss(boss: dict[str, str], left: str, right: str) -> str:
    """Name the closest person at or above both workers, empty when there is none."""
    chain = [left]
    while chain[-1] in boss and boss[chain[-1]] not in chain:
        chain.append(boss[chain[-1]])
    person = right
    for _ in range(len(boss) + 1):
        if person in chain:
            return person
        person = boss.get(person, "")
    return ""


def can_split_teams(count: int, rivals: list[tuple[int, int]]) -> bool:
    """Tell whether two teams can be formed without rivals in the same team."""
    side = [0] * count
    for first in range(count):
        if side[first] != 0:
            continue
        side[first] = 1
        stack = [first]
        while stack:
            player = stack.pop()
            for a, b in rivals + [(b, a) for a, b in rivals]:
                if a == player and 0 <= b < count:
                    if side[b] == side[player]:
                        return False
                    if side[b] == 0:
                        side[b] = -side[player]
                        stack.append(b)
    return True


def mutual_follows(follows: dict[str, list[str]]) -> list[tuple[str, str]]:
    """List, in order, the pairs of users who follow each other."""
    pairs = []
    for user in sorted(follows):
        for other in sorted(set(follows[user])):
            if user < other and user in follows.get(other, []):
                pairs.append((user, other))
    return pairs


def cable_cost(count: int, offers: list[tuple[int, int, int]]) -> int:
    """Return the least total price of cables that join all houses, -1 if impossible."""
    if count <= 1:
        return 0
    joined = {0}
    total = 0
    while len(joined) < count:
        usable = [(price, a, b) for a, b, price in offers if (a in joined) != (b in joined)]
        if not usable:
            return -1
        price, a, b = min(usable)
        joined |= {a, b}
        total += price
    return total


def dead_ends(streets: list[tuple[str, str]]) -> list[str]:
    """Name the crossings which only one street end reaches."""
    ends: dict[str, int] = {}
    for a, b in streets:
        ends[a] = ends.get(a, 0) + 1
        ends[b] = ends.get(b, 0) + 1
    return sorted(name for name, number in ends.items() if number == 1)


def hub_of_star(edges: list[tuple[int, int]]) -> int | None:
    """Return the node that lies on every edge, the smaller one for a lone edge."""
    if not edges:
        return None
    for candidate in sorted(edges[0]):
        if all(candidate in edge for edge in edges[1:]):
            return candidate
    return None


def triads(count: int, ties: set[tuple[int, int]]) -> int:
    """Count the triples of people who are all tied to each other."""
    found = 0
    for a in range(count):
        for b in range(a + 1, count):
            if (a, b) not in ties and (b, a) not in ties:
                continue
            for c in range(b + 1, count):
                if ((a, c) in ties or (c, a) in ties) and ((b, c) in ties or (c, b) in ties):
                    found += 1
    return found


def closure_size(matrix: list[list[int]]) -> int:
    """Count the ordered pairs joined by a directed path in a 0/1 matrix."""
    size = len(matrix)
    if any(len(row) != size for row in matrix):
        raise ValueError("matrix is not square")
    reach = [[value > 0 for value in row] for row in matrix]
    for mid in range(size):
        for i in range(size):
            for j in range(size):
                reach[i][j] = reach[i][j] or (reach[i][mid] and reach[mid][j])
    return sum(sum(row) for row in reach)


def branch_load(children: dict[str, list[str]], loads: dict[str, int], root: str) -> int:
    """Sum the loads of a node and of everything below it, each node once."""
    if root not in loads:
        raise KeyError(root)
    total = 0
    seen = {root}
    stack = [root]
    while stack:
        node = stack.pop()
        total += loads.get(node, 0)
        fresh = set(children.get(node, [])) - seen
        seen |= fresh
        stack.extend(sorted(fresh))
    return total


def first_broken_step(edges: set[tuple[int, int]], walk: list[int]) -> int:
    """Return the position of the first step that follows no edge, or -1."""
    for i, (a, b) in enumerate(zip(walk, walk[1:])):
        if (a, b) not in edges and (b, a) not in edges:
            return i
    return -1


def callers_of(calls: dict[str, list[str]]) -> dict[str, list[str]]:
    """Turn a table of calls into a table of callers, self calls left out."""
    callers: dict[str, list[str]] = {name: [] for name in calls}
    for caller, targets in calls.items():
        for target in targets:
            if target == caller:
                continue
            if caller not in callers.setdefault(target, []):
                callers[target].append(caller)
    return callers


def trace_route(came_from: dict[str, str], start: str, goal: str) -> list[str]:
    """Rebuild the route from start to goal out of the predecessors on record."""
    route = [goal]
    while route[-1] != start:
        previous = came_from.get(route[-1])
        if previous is None or previous in route:
            return []
        route.append(previous)
    return route[::-1]


def drawing_kind(lines: list[tuple[int, int]]) -> str:
    """Tell by node parity if a figure could be drawn in one go, closed, open or not at all."""
    odd: set[int] = set()
    for a, b in lines:
        if a != b:
            odd ^= {a, b}
    if len(odd) == 0:
        return "closed"
    return "open" if len(odd) <= 2 else "impossible"


def pond_size(field: list[str], row: int, col: int) -> int:
    """Measure the pond of '~' cells that contains the given cell, sideways and up or down."""
    todo = [(row, col)]
    pond: set[tuple[int, int]] = set()
    while todo:
        r, c = todo.pop()
        if r < 0 or r >= len(field) or c < 0 or c >= len(field[r]):
            continue
        if field[r][c] == "~" and (r, c) not in pond:
            pond.add((r, c))
            todo.extend([(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)])
    return len(pond)


def rounds_to_spread(friends: dict[int, list[int]], sources: list[int], limit: int) -> int:
    """Return how many rounds a rumour needs to stop growing, at most the limit."""
    informed = set(sources)
    rounds = 0
    while rounds < limit:
        fresh = {f for person in informed for f in friends.get(person, [])} - informed
        if not fresh:
            break
        informed |= fresh
        rounds += 1
    return rounds


def assign_channels(near: list[list[int]]) -> list[int]:
    """Give every station the lowest channel that no earlier neighbour uses."""
    channels: list[int] = []
    for station, neighbours in enumerate(near):
        taken = {channels[n] for n in neighbours if 0 <= n < station}
        channel = 1
        while channel in taken:
            channel += 1
        channels.append(channel)
    return channels


def handshakes_missing(guests: list[str], shaken: list[tuple[str, str]]) -> int:
    """Count the pairs of guests that have not shaken hands yet."""
    if len(guests) < 2:
        return 0
    missing = 0
    for i, first in enumerate(guests):
        for second in guests[i + 1:]:
            if (first, second) not in shaken and (second, first) not in shaken:
                missing += 1
    return missing


def heaviest_truck(bridges: list[tuple[str, str, int]], start: str, goal: str) -> int:
    """Return the largest weight that can cross from start to goal, 0 without a route."""
    for limit in sorted({weight for _, _, weight in bridges if weight > 0}, reverse=True):
        reached = {start}
        for _ in bridges:
            for a, b, weight in bridges:
                if weight >= limit and (a in reached or b in reached):
                    reached |= {a, b}
        if goal in reached:
            return limit
    return 0


def undefeated(results: list[tuple[str, str]], needed: int) -> list[str]:
    """Name the players with enough wins and no loss, from (winner, loser) pairs."""
    wins: dict[str, int] = {}
    for winner, loser in results:
        wins[winner] = wins.get(winner, 0) + 1
    losers = {loser for _, loser in results}
    return sorted(name for name in wins if wins[name] >= needed and name not in losers)


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "edge_degrees": [(3, [(0, 1), (1, 2)]), (2, [(1, 1), (0, 1)]), (2, [(0, 2)]), (2, [(2, 0)]),
        (1, [(-1, 0)]), (1, [(0, -1)])],
    "hop_distance": [({"a": ["b", "c"], "b": ["d"], "c": ["b"], "d": []}, "a", "d"), ({"a": ["b"]}, "b", "a"),
        ({}, "x", "x"), ({"a": ["b"], "b": ["a", "c"]}, "a", "c"), ({"a": ["a"]}, "a", "z")],
    "island_count": [(4, [(0, 1), (1, 0), (2, 3)]), (3, [(0, 3), (-1, 1)]), (0, []), (2, [(1, 2), (0, 1)]),
        (5, [(0, 1), (2, 3), (1, 2), (3, 0)]), (3, [(3, 1), (0, 0)])],
    "build_waves": [({"a": [], "b": ["a"], "c": ["a"]},), ({},), ({"x": ["x"]},), ({"m": ["n"], "n": []},),
        ({"a": ["c"], "b": ["a", "c"], "c": []},)],
    "tour_cost": [({"a": {"b": 3}, "b": {"c": 4}}, ["a", "b", "c"]), ({"a": {"b": 3}}, ["b", "a"]), ({}, []),
        ({"a": {"b": 0}, "b": {"a": 2}}, ["a", "b", "a", "b"]), ({"a": {"b": 1}}, ["a", "b", "z"])],
    "cheapest_fares": [([("a", "b", 5), ("a", "c", 1), ("c", "b", 2)], "a"),
        ([("b", "c", 1), ("a", "b", -1)], "a"), ([("y", "z", 2), ("x", "y", 0)], "x"), ([], "q"),
        ([("a", "b", 1), ("b", "a", 1)], "b")],
    "steps_before_repeat": [([1, 2, 0], 0), ([1, 2, 3], 0), ([0], 0), ([], 0), ([3, 0, -1, 2], 1), ([1], -1)],
    "tree_depths": [([-1, 0, 1],), ([-1],), ([1, 0],), ([],), ([2, 2, -1, 1],), ([-1, 0, 0, -1],)],
    "nearest_shared_boss": [({"ann": "bob", "cy": "bob", "bob": "dee"}, "ann", "cy"),
        ({"a": "b", "b": "c", "c": "d"}, "d", "a"), ({"a": "b", "b": "a"}, "c", "a"), ({}, "x", "x"),
        ({"a": "b", "b": "c"}, "c", "a"), ({"a": "a"}, "a", "b")],
    "can_split_teams": [(3, [(0, 1), (1, 2)]), (3, [(0, 1), (1, 2), (2, 0)]), (0, []), (1, [(0, 0)]),
        (4, [(2, 3), (3, 4), (0, 2), (0, 3)]), (4, [(3, 2), (2, 1), (1, 0), (3, 0)])],
    "mutual_follows": [({"a": ["b", "c"], "b": ["a"], "c": []},), ({},), ({"z": ["z"]},),
        ({"p": ["q"], "q": []},), ({"c": ["a", "b", "a"], "a": ["c", "b"], "b": ["c", "a"]},)],
    "cable_cost": [(3, [(0, 1, 4), (1, 2, 5), (0, 2, 3)]), (1, []), (2, []), (0, [(0, 1, 2)]),
        (2, [(1, 0, 7), (0, 0, 1)]), (4, [(0, 1, 1), (2, 3, 1), (1, 2, 9), (0, 3, 8)])],
    "dead_ends": [([("a", "b"), ("b", "c")],), ([],), ([("a", "a")],), ([("x", "y")],), ([("b", "a"), ("b", "a")],)],
    "hub_of_star": [([(1, 2), (3, 2)],), ([],), ([(5, 4)],), ([(1, 2), (3, 4)],), ([(1, 2), (0, 1)],)],
    "triads": [(3, {(0, 1), (2, 1), (0, 2)}), (3, {(0, 1), (1, 2)}), (0, set()),
        (4, {(3, 2), (1, 2), (3, 1)}), (4, {(0, 1), (1, 0), (2, 0), (2, 1), (3, 0), (1, 3)})],
    "closure_size": [([[0, 1], [0, 0]],), ([[0, 1, 0], [0, 0, 1], [1, 0, 0]],), ([[1, 0]],), ([],), ([[-1]],),
        ([[0, 1, 0], [0, 0, 2], [0, 0, 0]],)],
    "branch_load": [({"a": ["b", "c"], "b": ["d"]}, {"a": 1, "b": 2, "c": 4, "d": 8, "e": 16}, "a"),
        ({"a": ["a"]}, {"a": 3}, "a"), ({}, {}, "q"), ({"a": ["b", "b"]}, {"a": 1, "b": 5}, "a"),
        ({"x": ["y"]}, {"x": -2}, "x")],
    "first_broken_step": [({(1, 2), (3, 2)}, [1, 2, 3]), ({(1, 2)}, [2, 1, 3]), (set(), [4]), (set(), [4, 4]),
        ({(0, 1)}, [0, 1, 2, 0])],
    "callers_of": [({"a": ["b", "b"], "b": ["a"]},), ({},), ({"m": ["m", "n"]},), ({"x": []},),
        ({"p": ["r"], "q": ["p", "r"], "r": ["q"]},)],
    "trace_route": [({"c": "b", "b": "a"}, "a", "c"), ({}, "a", "a"), ({"b": "c", "c": "b"}, "a", "b"),
        ({"b": "a"}, "z", "b"), ({"d": "a"}, "a", "d")],
    "drawing_kind": [([],), ([(1, 2)],), ([(1, 2), (1, 3), (1, 4)],), ([(1, 2), (2, 1)],), ([(5, 5)],)],
    "pond_size": [(["~~.", ".~~"], 0, 0), (["."], 0, 0), ([], 0, 0), (["~.~", "~~~"], 1, 2), (["~"], 0, -1)],
    "rounds_to_spread": [({1: [2], 2: [3], 3: [4]}, [1], 9), ({1: [2], 2: [3]}, [1], 1), ({}, [5], 3),
        ({1: [2]}, [], 4), ({1: [1, 2]}, [1, 2], 2), ({1: [2]}, [1], 0)],
    "assign_channels": [([[1], [0], [0, 1]],), ([],), ([[], []],), ([[0], [-1, 0], [1], [2, 0]],),
        ([[5], [], [0, 2]],)],
    "handshakes_missing": [(["a", "b", "c"], [("b", "a")]), (["a"], []), ([], []), (["x", "y"], []),
        (["p", "q", "r", "s"], [("p", "s"), ("r", "q"), ("t", "p")])],
    "heaviest_truck": [([("a", "b", 5), ("b", "c", 3), ("a", "c", 2)], "a", "c"), ([("a", "b", 1)], "b", "a"),
        ([("a", "b", 0)], "a", "b"), ([("b", "c", 4), ("b", "a", 7)], "a", "c"), ([], "a", "b")],
    "undefeated": [([("a", "b"), ("a", "c"), ("b", "c")], 2), ([("a", "a")], 0), ([], 1), ([("x", "y")], 1),
        ([("x", "y"), ("y", "z"), ("z", "x")], 1)],
}
