"""Corpus, topic `aggregates`: totals, averages, groups and other summaries of records."""


def totals_by_key(rows: list[tuple[str, int]], minimum: int) -> dict[str, int]:
    """Add up the amounts per name and keep the names whose total reaches a minimum."""
    totals: dict[str, int] = {}
    for name, amount in rows:
        totals[name] = totals.get(name, 0) + amount
    return {name: total for name, total in totals.items() if total >= minimum}


def weighted_average(values: list[float], weights: list[float]) -> float:
    """Return the average of values under weights that must not be negative."""
    if len(values) != len(weights):
        raise ValueError("lengths differ")
    total = mass = 0.0
    for value, weight in zip(values, weights):
        if weight < 0:
            raise ValueError("negative weight")
        total += value * weight
        mass += weight
    return round(total / mass, 4) if mass > 0 else 0.0


def best_attempts(attempts: dict[str, list[int]], count: int) -> dict[str, int]:
    """Add up each name's best attempts, a given number of them; too few attempts score nothing."""
    if count < 1:
        raise ValueError("count must be positive")
    scores: dict[str, int] = {}
    for name, marks in attempts.items():
        ranked = sorted(marks, reverse=True)
        if len(ranked) < count:
            scores[name] = 0
        else:
            scores[name] = sum(ranked[:count])
    return scores


def equal_cuts(values: list[int], parts: int) -> list[int]:
    """Return the values that cut the sorted list into parts of about equal size."""
    if parts < 1:
        raise ValueError("no parts")
    ordered = sorted(values)
    cuts: list[int] = []
    for part in range(1, parts):
        place = part * len(ordered) // parts
        if place < len(ordered) and (not cuts or ordered[place] > cuts[-1]):
            cuts.append(ordered[place])
    return cuts


def range_of_middle_half(values: list[int]) -> int:
    """Return the difference between the values a quarter and three quarters up the sorted list."""
    if not values:
        return 0
    ordered = sorted(values)
    last = len(ordered) - 1
    low = ordered[last // 4]
    high = ordered[last - last // 4]
    return high - low


def top_names(scores: dict[str, int], count: int) -> list[str]:
    """List the names with the highest scores, ties by name, plus all that tie with the last one."""
    if count <= 0:
        return []
    ranked = sorted(scores, key=lambda name: (-scores[name], name))
    chosen = ranked[:count]
    for name in ranked[count:]:
        if scores[name] != scores[chosen[-1]]:
            break
        chosen.append(name)
    return chosen


def ballot_points(ballots: list[list[str]]) -> str | None:
    """Return the winner by points, where each name gets a point per name ranked after it."""
    points: dict[str, int] = {}
    for ballot in ballots:
        for place, name in enumerate(ballot):
            points[name] = points.get(name, 0) + len(ballot) - 1 - place
    if not points:
        return None
    best = max(points.values())
    winners = [name for name in sorted(points) if points[name] == best]
    return winners[0] if len(winners) == 1 else None


def decayed_count(times: list[int], now: int, half_life: int) -> float:
    """Count past events, where the weight of an event halves with each half-life that has passed."""
    if half_life <= 0:
        raise ValueError("half-life must be positive")
    score = 0.0
    for time in times:
        age = now - time
        if age < 0:
            continue
        score += 0.5 ** (age // half_life)
    return round(score, 5)


def deepest_fall(values: list[int]) -> tuple[int, int]:
    """Return the largest fall from an earlier high and the position at which it is reached."""
    worst, where, high = 0, -1, 0
    for index, value in enumerate(values):
        if index == 0 or value > high:
            high = value
        elif high - value > worst:
            worst = high - value
            where = index
    return worst, where


def pass_rates(results: list[tuple[str, int, int]], mark: int) -> dict[str, str]:
    """Describe per course how many marks pass, from rows of course, marks and count."""
    passed: dict[str, int] = {}
    taken: dict[str, int] = {}
    for course, grade, count in results:
        if count <= 0:
            continue
        taken[course] = taken.get(course, 0) + count
        if grade >= mark:
            passed[course] = passed.get(course, 0) + count
    return {course: f"{passed.get(course, 0)} of {taken[course]}" for course in taken}


def count_changes(before: dict[str, int], after: dict[str, int]) -> tuple[int, int, int]:
    """Count the keys that were added, removed and given another value."""
    added = removed = changed = 0
    for key, value in after.items():
        if key not in before:
            added += 1
        elif value != before[key]:
            changed += 1
    for key in before:
        if key not in after:
            removed += 1
    return added, removed, changed


def phase_means(values: list[float], period: int) -> list[float]:
    """Average the values that stand at the same place within each period."""
    if period < 1:
        raise ValueError("period must be positive")
    means = []
    for phase in range(min(period, len(values))):
        total, count = 0.0, 0
        for value in values[phase::period]:
            total += value
            count += 1
        means.append(round(total / count, 2))
    return means


def stock_levels(start: int, moves: list[int], reorder_at: int, batch: int) -> list[int]:
    """Track stock through moves; a batch arrives after a move that leaves it at or under a level."""
    if batch < 0:
        raise ValueError("negative batch")
    levels = []
    level = start
    for move in moves:
        level = max(0, level + move)
        if level <= reorder_at:
            level += batch
        levels.append(level)
    return levels


def fair_cap(demands: list[int], supply: int) -> list[int]:
    """Serve the demands from a supply so that small ones are met first and the rest is shared evenly."""
    served = [0] * len(demands)
    order = sorted(range(len(demands)), key=lambda index: (demands[index], index))
    left = supply
    for done, index in enumerate(order):
        share = left // (len(order) - done)
        served[index] = max(0, min(demands[index], share))
        left -= served[index]
    return served


def busiest_hour(events: list[int], span: int) -> tuple[int, int]:
    """Return the first event time that starts a span with the most events, and their number."""
    if not events or span < 1:
        return -1, 0
    times = sorted(events)
    best_time, best_count = times[0], 0
    end = 0
    for start in range(len(times)):
        while end < len(times) and times[end] < times[start] + span:
            end += 1
        if end - start > best_count:
            best_time, best_count = times[start], end - start
    return best_time, best_count


def match_orders(bids: list[int], asks: list[int]) -> tuple[int, int]:
    """Match the highest bids with the lowest asks; return the trades and the sum of price gaps."""
    trades = gap = 0
    for bid, ask in zip(sorted(bids, reverse=True), sorted(asks)):
        if bid < ask:
            break
        trades += 1
        gap += bid - ask
    return trades, gap


def variance_of_counts(counts: dict[int, int]) -> float:
    """Return the variance of whole numbers given how often each of them occurs."""
    size = sum(counts.values())
    if size < 2:
        return 0.0
    mean = sum(value * times for value, times in counts.items()) / size
    spread = 0.0
    for value, times in counts.items():
        spread += times * (value - mean) ** 2
    return round(spread / (size - 1), 4)


def group_by_width(words: list[str], limit: int) -> dict[int, list[str]]:
    """Group words by their length; words above the limit share the group of the limit plus one."""
    groups: dict[int, list[str]] = {}
    for word in sorted(words):
        size = len(word)
        if size > limit:
            size = limit + 1
        if size not in groups:
            groups[size] = []
        groups[size].append(word)
    return groups


def form_score(results: str, bonus: int) -> int:
    """Score wins W at 3 and draws D at 1; from the third win in a row on, a win earns a bonus."""
    score = streak = 0
    for result in results:
        if result not in "WDL":
            raise ValueError(f"unknown result {result}")
        streak = streak + 1 if result == "W" else 0
        if result == "W":
            score += 3
        elif result == "D":
            score += 1
        if streak >= 3:
            score += bonus
    return score


def carry_over(spendings: list[int], allowance: int, cap: int) -> tuple[int, int]:
    """Carry the unspent allowance to the next period up to a cap; return what is left and overspent."""
    carried = overspent = 0
    for spending in spendings:
        available = allowance + carried
        if spending > available:
            overspent += spending - available
            carried = 0
        else:
            carried = min(cap, available - spending)
    return carried, overspent


def pair_counts(baskets: list[list[str]], least: int) -> dict[tuple[str, str], int]:
    """Count in how many baskets two items lie together, for pairs that do so often enough."""
    counts: dict[tuple[str, str], int] = {}
    for basket in baskets:
        items = sorted(set(basket))
        for index, first in enumerate(items):
            for second in items[index + 1:]:
                counts[first, second] = counts.get((first, second), 0) + 1
    return {pair: count for pair, count in counts.items() if count >= least}


def fill_gaps(readings: list[int | None], default: int) -> list[int]:
    """Replace missing readings by the last known one, or by a default before the first."""
    filled: list[int] = []
    known = default
    for reading in readings:
        if reading is not None:
            known = reading
        filled.append(known)
    return filled


def best_shift(first: list[int], second: list[int], reach: int) -> tuple[int, int]:
    """Return the shift of the second list that matches most values, the smallest one, and the matches."""
    best = (0, 0)
    for shift in range(reach + 1):
        matches = 0
        for left, right in zip(first, second[shift:]):
            if left == right:
                matches += 1
        if matches > best[1]:
            best = (shift, matches)
    return best


def sessions(clicks: list[int], timeout: int) -> list[tuple[int, int]]:
    """Group click times into sessions that end after a pause over the timeout: start and clicks."""
    groups: list[tuple[int, int]] = []
    last = 0
    for click in sorted(clicks):
        if groups and click - last <= timeout:
            start, count = groups[-1]
            groups[-1] = (start, count + 1)
        else:
            groups.append((click, 1))
        last = click
    return groups


def pull_in_extremes(values: list[int], cut: int) -> list[int]:
    """Replace the cut lowest and highest values by the nearest value that stays, keeping the order."""
    if cut < 0:
        raise ValueError("negative cut")
    if len(values) <= 2 * cut:
        return []
    ordered = sorted(values)
    low, high = ordered[cut], ordered[len(ordered) - 1 - cut]
    return [min(max(value, low), high) for value in values]


def rollup_levels(paths: dict[str, int], depth: int) -> dict[str, int]:
    """Add up sizes of slash-separated paths per leading part of at most depth names."""
    if depth < 1:
        return {"": sum(paths.values())}
    sizes: dict[str, int] = {}
    for path, size in sorted(paths.items()):
        head = "/".join(path.split("/")[:depth])
        sizes[head] = sizes.get(head, 0) + size
    return sizes


def invoice_total(lines: list[tuple[int, int]], free_from: int, shipping: int) -> int:
    """Total the lines of quantity and price, with shipping unless the sum reaches free_from."""
    total = 0
    for quantity, price in lines:
        if quantity < 0 or price < 0:
            raise ValueError("negative line")
        total += quantity * price
    if total == 0:
        return 0
    if total < free_from:
        total += shipping
    return total


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "totals_by_key": [([("a", 2), ("b", 1), ("a", 3)], 2), ([("x", 4), ("y", 5)], 5), ([], 0),
        ([("q", -1)], -1), ([("c", 3), ("c", -3)], 1)],
    "weighted_average": [([1.0, 3.0], [1.0, 3.0]), ([2.0], [0.0]), ([], []), ([1.0], []),
        ([5.0, 6.0], [1.0, -1.0]), ([4.0, 9.0, 1.0], [0.0, 2.0, 5.0])],
    "best_attempts": [({"a": [3, 9, 5], "b": [4]}, 2), ({"x": [1, 2]}, 2), ({}, 1), ({"k": [5]}, 0),
        ({"m": [], "n": [-3, 7]}, 1)],
    "equal_cuts": [([5, 1, 4, 2, 3, 6], 3), ([1, 2, 3, 4, 5], 2), ([], 2), ([7, 7, 7, 9], 4), ([3], 0),
        ([8, 2, 5], 1), ([1, 9], 5)],
    "range_of_middle_half": [([1, 2, 3, 4, 5],), ([9, 1],), ([],), ([4],), ([8, 3, 1, 40, 2, 5, 9, 30, 6],),
        ([7, 0, 2, 9],)],
    "top_names": [({"a": 3, "b": 5, "c": 3}, 2), ({"x": 1, "y": 2}, 1), ({"k": 4}, 0), ({}, 3),
        ({"m": 2, "n": 2, "o": 1, "p": 2}, 1)],
    "ballot_points": [([["a", "b", "c"], ["b", "c", "a"], ["b", "a"]],), ([["x", "y"], ["y", "x"]],), ([],),
        ([["k"]],), ([["m", "n"], ["n", "o", "m"]],)],
    "decayed_count": [([1, 4, 9], 9, 4), ([5, 12], 10, 5), ([], 3, 1), ([2], 8, 0), ([0, 3, 6, 8], 7, 3)],
    "deepest_fall": [([3, 8, 5, 9, 2],), ([1, 2, 3],), ([],), ([-5, -9, -6],), ([6, 4, 6, 4, 1],)],
    "pass_rates": [([("m", 5, 2), ("m", 3, 4), ("e", 4, 1)], 4), ([("a", 9, 0)], 5), ([], 1),
        ([("p", 1, -2), ("p", 2, 1)], 3), ([("x", 7, 3), ("x", 8, 2)], 7)],
    "count_changes": [({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}), ({}, {}),
        ({"x": 1, "y": 4}, {"x": 2, "y": 3}), ({}, {"y": 0, "z": 1}),
        ({"k": 5, "l": 6, "m": 7}, {"m": 8, "k": 5})],
    "phase_means": [([1.0, 2.0, 5.0, 8.0, 9.0], 2), ([4.0], 3), ([], 2), ([3.0, 6.5], 1), ([1.0], 0),
        ([2.0, 4.0, 6.0, 9.0], 3)],
    "stock_levels": [(10, [-4, -4, 3], 5, 6), (2, [-5], 0, 4), (0, [], 1, 1), (3, [1], 9, -1),
        (8, [-3, -1, -4], 4, 0), (6, [-2, -3, 1], 1, 7)],
    "fair_cap": [([2, 8, 5], 12), ([4, 4, 4], 10), ([], 5), ([3, 1], 9), ([7, -2, 6], 8), ([1, 9, 9], 0)],
    "busiest_hour": [([1, 5, 6, 7, 20], 3), ([4, 2], 2), ([], 5), ([3], 0), ([10, 10, 12, 15, 16, 17], 3),
        ([8, 9], 1)],
    "match_orders": [([5, 9, 7], [6, 4, 8]), ([3, 1], [3, 2]), ([], [1]), ([1], [2]),
        ([10, 10, 8, 2], [1, 9, 7])],
    "variance_of_counts": [({1: 2, 3: 2},), ({5: 1},), ({},), ({2: 1, 4: 1},), ({-1: 3, 0: 1, 6: 2},),
        ({7: 4},)],
    "group_by_width": [(["bb", "a", "ccc", "dd"], 2), ([], 3), (["xyz", "w"], 0),
        (["long", "longer", "l"], 4), (["", "e"], 1)],
    "form_score": [("WWWW", 2), ("WDLWW", 5), ("", 1), ("DX", 1), ("LWWWLWWW", 4)],
    "carry_over": [([3, 9, 4], 5, 4), ([5, 5], 5, 2), ([], 7, 1), ([0, 0, 20], 6, 9), ([8, 1, 2], 4, 3)],
    "pair_counts": [([["a", "b"], ["b", "a", "c"]], 2), ([["x", "y", "z"]], 1), ([], 1), ([["k", "k"]], 0),
        ([["m", "n"], ["n", "o"], ["m", "n", "o"]], 2)],
    "fill_gaps": [([None, 3, None, 4], 1), ([], 5), ([0, None], 7), ([None], 9), ([2, 8, None, None], 0)],
    "best_shift": [([1, 2, 3], [9, 1, 2, 3], 2), ([4, 4], [4, 4, 4], 1), ([], [1], 3),
        ([5, 6], [0, 0, 5, 6], 1), ([1, 2, 1, 2], [2, 1, 2, 1, 2], 4)],
    "sessions": [([1, 3, 9, 10], 2), ([5, 4, 20], 0), ([], 3), ([7, 7, 12, 17], 5), ([2, 50, 6], 3)],
    "pull_in_extremes": [([9, 1, 5, 4], 1), ([3, 8], 1), ([2, 7, 4], 0), ([1], -1), ([6, 10, 2, 8, 4], 2),
        ([], 0), ([5, 1, 9], 1)],
    "rollup_levels": [({"a/b": 2, "a/c": 3, "d": 1}, 1), ({"a/b/c": 4, "a/b/d": 1, "a/e": 7}, 2),
        ({"x": 5, "y/z": 2}, 0), ({}, 1), ({"p/q": 3}, -2)],
    "invoice_total": [([(2, 5), (1, 3)], 20, 4), ([(4, 5)], 20, 4), ([], 9, 2), ([(1, -2)], 5, 5),
        ([(0, 7)], 1, 3), ([(3, 6), (-1, 2)], 9, 9)],
}
