"""Corpus, topic `counting`: tallies, votes, histograms, ranks and frequencies."""


def vote_winner(votes: list[str]) -> str | None:
    """Name the candidate with a strict majority of the valid votes."""
    valid = [vote for vote in votes if vote]
    if not valid:
        return None
    leader = valid[0]
    lead = 0
    for vote in valid:
        if lead == 0:
            leader = vote
        lead += 1 if vote == leader else -1
    return leader if valid.count(leader) * 2 > len(valid) else None


def histogram(values: list[int], low: int, width: int, bins: int) -> list[int]:
    """Count values per bin, those beyond the ends going to the outermost bins."""
    if width <= 0 or bins <= 0:
        raise ValueError("bins need a width and a number")
    counts = [0] * bins
    for value in values:
        index = (value - low) // width
        index = min(max(index, 0), bins - 1)
        counts[index] += 1
    return counts


def top_entries(words: list[str], limit: int) -> list[tuple[str, int]]:
    """List the most frequent words with their counts, ties in alphabetic order."""
    counts: dict[str, int] = {}
    for word in words:
        key = word.lower()
        counts[key] = counts.get(key, 0) + 1
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return ranked[:max(limit, 0)]


def overtaken(values: list[int], reach: int) -> int:
    """Count the values with a larger one at most reach positions before them."""
    if reach <= 0:
        return 0
    count = 0
    for right in range(1, len(values)):
        for left in range(max(0, right - reach), right):
            if values[left] > values[right]:
                count += 1
                break
    return count


def shared_ranks(scores: list[int]) -> list[int]:
    """Give every score its place, equal scores sharing the better one."""
    ordered = sorted(scores, reverse=True)
    places: dict[int, int] = {}
    for place, score in enumerate(ordered, start=1):
        if score not in places:
            places[score] = place
    return [places[score] for score in scores]


def tally_marks(count: int) -> str:
    """Draw a count as tally marks in groups of five."""
    if count < 0:
        raise ValueError("cannot tally a negative count")
    groups = ["/" * 4 + "+"] * (count // 5)
    rest = count % 5
    if rest > 0:
        groups.append("/" * rest)
    return " ".join(groups)


def long_runs(text: str, least: int) -> list[tuple[int, str]]:
    """Give position and text of the stretches of one character at least so long."""
    runs = []
    start = 0
    for position in range(1, len(text) + 1):
        if position < len(text) and text[position] == text[start]:
            continue
        if position - start >= least:
            runs.append((start, text[start:position]))
        start = position
    return runs


def seats_by_quotient(votes: dict[str, int], seats: int) -> dict[str, int]:
    """Award seats one by one to the party with the highest votes per seat plus one."""
    won = {party: 0 for party in sorted(votes)}
    if not won:
        return {}
    for _seat in range(seats):
        best = max(won, key=lambda party: votes[party] / (won[party] + 1))
        won[best] += 1
    return won


def count_words(text: str, shortest: int) -> int:
    """Count words of at least the given length, a word being a stretch of letters."""
    found = 0
    length = 0
    for char in text + " ":
        if char.isalpha():
            length += 1
            continue
        if length > 0 and length >= shortest:
            found += 1
        length = 0
    return found


def pairs_with_gap(values: list[int], gap: int) -> int:
    """Count the pairs of positions whose values differ by exactly the gap."""
    seen: dict[int, int] = {}
    pairs = 0
    for value in values:
        pairs += seen.get(value - gap, 0)
        if gap != 0:
            pairs += seen.get(value + gap, 0)
        seen[value] = seen.get(value, 0) + 1
    return pairs


def trimmed_mean(values: list[int], cut: int) -> float:
    """Average the values after setting aside the given number at either end, to one decimal."""
    if cut < 0 or len(values) <= 2 * cut:
        raise ValueError("nothing left to average")
    kept = sorted(values)[cut:len(values) - cut]
    total = 0
    for value in kept:
        total += value
    return round(total / len(kept), 1)


def cumulative_share(counts: list[int], percent: int) -> int:
    """Tell how many of the largest counts make up at least a percentage of the total."""
    total = sum(counts)
    if total <= 0:
        return 0
    reached = 0
    for used, count in enumerate(sorted(counts, reverse=True), 1):
        reached += count
        if reached * 100 >= percent * total:
            return used
    return len(counts)


def cross_table(pairs: list[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Count how often each second label occurs with each first label."""
    table: dict[str, dict[str, int]] = {}
    for first, second in pairs:
        row = table.setdefault(first, {})
        if second not in row:
            row[second] = 0
        row[second] += 1
    return table


def zero_neighbours(grid: list[list[int]], row: int, column: int) -> int:
    """Count the zeros among the up to eight cells around a cell."""
    if not 0 <= row < len(grid):
        raise IndexError("row outside the grid")
    zeros = 0
    for r in range(max(0, row - 1), min(len(grid), row + 2)):
        for c in range(max(0, column - 1), min(len(grid[r]), column + 2)):
            if (r, c) != (row, column) and grid[r][c] == 0:
                zeros += 1
    return zeros


def closest_repeat(items: list[str], ignore: str) -> int | None:
    """Give the smallest distance between two equal items, the ignored one left aside."""
    last_seen: dict[str, int] = {}
    closest = None
    for index, item in enumerate(items):
        if item == ignore:
            continue
        if item in last_seen:
            distance = index - last_seen[item]
            if closest is None or distance < closest:
                closest = distance
        last_seen[item] = index
    return closest


def sign_changes(values: list[int]) -> int:
    """Count how often the sign flips along the list, zeros left aside."""
    changes = 0
    previous = 0
    for value in values:
        if value == 0:
            continue
        if previous * value < 0:
            changes += 1
        previous = value
    return changes


def points_table(matches: list[tuple[str, int, int, str]]) -> list[tuple[str, int]]:
    """Rank teams by points, three for a win and one each for a draw."""
    points: dict[str, int] = {}
    for home, scored, conceded, away in matches:
        if home == away:
            raise ValueError(f"{home} plays itself")
        draw = scored == conceded
        home_gain = 1 if draw else 3 * int(scored > conceded)
        away_gain = 1 if draw else 3 - home_gain
        points[home] = points.get(home, 0) + home_gain
        points[away] = points.get(away, 0) + away_gain
    return sorted(points.items(), key=lambda team: (-team[1], team[0]))


def bar_chart(counts: dict[str, int], width: int) -> list[str]:
    """Draw counts as bars scaled so that the largest fills the width."""
    largest = max(counts.values(), default=0)
    if largest <= 0:
        return []
    pad = max(len(label) for label in counts)
    lines = []
    for label, count in sorted(counts.items()):
        length = max(count, 0) * width // largest
        lines.append(f"{label.rjust(pad)}|{'=' * length}")
    return lines


def distinct_in_windows(values: list[int], size: int) -> list[int]:
    """Count the different values in each window of the given size."""
    if size < 1 or size > len(values):
        return []
    inside: dict[int, int] = {}
    result = []
    for index, value in enumerate(values):
        inside[value] = inside.get(value, 0) + 1
        if index >= size:
            old = values[index - size]
            inside[old] -= 1
            if inside[old] == 0:
                del inside[old]
        if index >= size - 1:
            result.append(len(inside))
    return result


def clap_rounds(players: int, number: int) -> list[int]:
    """List whose turn it is, from 1, whenever the count holds the digit or is its multiple."""
    if players < 1 or not 1 <= number <= 9:
        raise ValueError("need players and a digit")
    turns = []
    for count in range(1, 31):
        if count % number == 0 or str(number) in str(count):
            turns.append((count - 1) % players + 1)
    return turns


def quorum_reached(present: dict[str, bool], weights: dict[str, int], percent: int) -> bool:
    """Tell whether the members present carry more than a percentage of all weight."""
    total = here = 0
    for member, weight in weights.items():
        if weight < 0:
            raise ValueError(f"negative weight of {member}")
        total += weight
        if present.get(member, False):
            here += weight
    return here * 100 > percent * total


def lamps_on(presses: list[int], lamps: int) -> list[int]:
    """List the lamps, from 1, that are lit after each press toggled a lamp and the next one."""
    lit = [False] * (max(lamps, 0) + 1)
    for press in presses:
        if not 1 <= press <= lamps:
            raise IndexError(f"no lamp {press}")
        lit[press] = not lit[press]
        if press + 1 <= lamps:
            lit[press + 1] = not lit[press + 1]
    return [number for number, on in enumerate(lit) if on]


def staircase_count(steps: int, blocked: list[int]) -> int:
    """Count the ways up a staircase taking one to three steps, never standing on blocked ones."""
    if steps < 0 or steps in blocked:
        return 0
    ways = [1]
    for step in range(1, steps + 1):
        if step in blocked:
            ways.append(0)
        else:
            ways.append(sum(ways[-3:]))
    return ways[steps]


def lattice_points(radius: int, inner: int) -> int:
    """Count integer points at most the radius from the origin but farther than the inner one."""
    if inner > radius:
        radius, inner = inner, radius
    count = 0
    for x in range(-radius, radius + 1):
        for y in range(-radius, radius + 1):
            if inner * inner < x * x + y * y <= radius * radius:
                count += 1
    return count


def mode_spread(values: list[int]) -> int:
    """Give the distance between the smallest and the largest of the most frequent values."""
    if not values:
        raise ValueError("nothing counted")
    peak = max(values.count(value) for value in values)
    modes = [value for value in values if values.count(value) == peak]
    return max(modes) - min(modes)


def elimination_order(names: list[str], step: int) -> list[str]:
    """List names in the order in which counting around the circle removes them."""
    if step < 1:
        raise ValueError("count at least one")
    circle = list(names)
    removed = []
    spot = 0
    while circle:
        spot = (spot + step - 1) % len(circle)
        removed.append(circle.pop(spot))
    return removed


def letter_surplus(text: str, stock: str) -> dict[str, int]:
    """Tell which letters of a text, and how many, a stock of letters lacks."""
    lacking: dict[str, int] = {}
    left = list(stock.lower())
    for letter in text.lower():
        if not letter.isalnum():
            continue
        if letter in left:
            left.remove(letter)
        else:
            lacking[letter] = lacking.get(letter, 0) + 1
    return lacking


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "vote_winner": [(["a", "b", "b"],), (["a", "b", "a"],), (["a", "b"],), ([],), (["", "x"],),
        (["p", "q", "q", "q", "r"],), (["k", "k", "m", "n"],)],
    "histogram": [([1, 5, 9, 30, -4], 0, 5, 3), ([5, 10], 5, 5, 2), ([], 0, 1, 2), ([1], 0, 0, 3),
        ([1], 0, 3, 0), ([7, 8], 7, 1, 1), ([2, 3], 1, 1, 4)],
    "top_entries": [(["b", "a", "B"], 1), (["b", "a"], 5), ([], 2), (["x"], 0),
        (["q", "p", "q", "p", "r"], 2), (["k"], -1)],
    "overtaken": [([3, 1, 2], 2), ([3, 1, 2], 1), ([], 1), ([1, 1, 0], 2), ([9, 1, 2, 3, 4], 3), ([5, 2], 0),
        ([4, 3, 2, 1], 1)],
    "shared_ranks": [([50, 70, 70, 40],), ([],), ([3],), ([5, 5, 5],), ([1, 2, 3],)],
    "tally_marks": [(0,), (4,), (5,), (12,), (1,), (-1,)],
    "long_runs": [("aabccc", 2), ("", 1), ("x", 1), ("zzz", 4), ("abbab", 1), ("kkk", 3)],
    "seats_by_quotient": [({"a": 100, "b": 60, "c": 30}, 5), ({}, 3), ({"x": 10, "y": 10}, 1), ({"p": 9}, 2),
        ({"k": 50, "l": 24, "m": 26}, 3)],
    "count_words": [("the cat sat on it", 3), ("", 1), ("a-b c", 1), ("ab12cd", 2), ("...", 0), ("hello", 6),
        ("x yz", 2)],
    "pairs_with_gap": [([1, 3, 5, 3], 2), ([4, 4, 4], 0), ([], 1), ([9, 7, 8], 1), ([2, 6, 2, 6], 4)],
    "trimmed_mean": [([3, 1, 2], 1), ([9, 4, 8, 1, 2], 1), ([], 0), ([7, 5], 0), ([9, 5], 1), ([4], -1),
        ([8, 1, 6, 4, 9, 90], 2)],
    "cumulative_share": [([50, 30, 20], 80), ([50, 30, 20], 81), ([], 50), ([1, 1, 1, 1], 25), ([5, 5], 150),
        ([8, 1], 0), ([-1, 1], 10)],
    "cross_table": [([("a", "x"), ("a", "y"), ("a", "x")],), ([],), ([("b", "x"), ("c", "x")],),
        ([("k", "k")],), ([("m", "n"), ("m", "n"), ("m", "n")],)],
    "zero_neighbours": [([[0], [0], [1], [0]], 1, 0), ([[0, 0, 1, 0]], 0, 2), ([[0], [0]], -1, 0),
        ([[0, 1, 0], [1, 0, 1], [0, 0, 2]], 1, 1), ([[0, 0], [0, 0]], 0, 0), ([], 0, 0), ([[0]], 0, 0),
        ([[1, 0, 0, 0]], 0, 1), ([[0], [0], [1], [0]], 3, 0), ([[0]], 1, 0)],
    "closest_repeat": [(["a", "b", "a", "b", "b"], ""), ([], "a"), (["x", "y"], "y"),
        (["k", "k", "m", "n", "m"], "k"), (["p", "q", "r", "q", "p"], "q"), (["s", "s", "t", "u", "s"], "")],
    "sign_changes": [([1, -1, 2],), ([],), ([3, 0, -2, 0, -1],), ([0, 0],), ([-1, 4, 5, -6, 0, 7],)],
    "points_table": [([("y", 1, 1, "x")],), ([("a", 2, 1, "b"), ("b", 0, 0, "c")],), ([],),
        ([("x", 0, 3, "y")],), ([("z", 1, 1, "z")],),
        ([("m", 1, 0, "n"), ("n", 1, 0, "m"), ("k", 2, 2, "m")],)],
    "bar_chart": [({"ab": 4, "c": 2}, 8), ({}, 5), ({"x": 0}, 5), ({"k": 3, "long": 1, "m": -2}, 7),
        ({"z": 1}, 0)],
    "distinct_in_windows": [([1, 2, 1, 3, 3], 3), ([], 1), ([1, 2], 0), ([4, 4, 5], 1), ([7, 8], 2),
        ([7, 8], 3), ([1, 1, 1, 2, 3, 4], 4)],
    "clap_rounds": [(4, 7), (1, 9), (3, 1), (0, 5), (2, 0), (2, 10), (5, 3)],
    "quorum_reached": [({"a": True, "b": False}, {"a": 6, "b": 4}, 50), ({"a": True}, {"a": 5, "b": 5}, 50),
        ({}, {}, 0), ({}, {"x": -1}, 10), ({"k": True, "l": True}, {"k": 1, "l": 1, "m": 1}, 66),
        ({"p": True}, {"p": 0}, -1)],
    "lamps_on": [([1, 3], 5), ([2, 3], 4), ([], 3), ([4], 4), ([1, 1], 2), ([0], 2), ([3], 2), ([], -2)],
    "staircase_count": [(4, []), (5, [2]), (0, []), (-1, []), (3, [3]), (6, [1, 4]), (0, [0])],
    "lattice_points": [(2, 0), (2, 1), (1, 3), (0, 0), (2, -1), (5, 4)],
    "mode_spread": [([1, 1, 5, 5, 9],), ([],), ([4],), ([3, -2],), ([7, 7, 1],)],
    "elimination_order": [(["a", "b", "c", "d", "e"], 2), ([], 3), (["x"], 9), (["p", "q", "r"], 1),
        (["k", "l"], 0), (["m", "n", "o", "p"], 3)],
    "letter_surplus": [("Hello!", "hole"), ("", "abc"), ("aab", ""), ("A-1", "1a"), ("zzz", "Zq"),
        ("noon", "no")],
}
