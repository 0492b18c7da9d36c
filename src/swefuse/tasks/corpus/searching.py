"""Corpus, topic `searching`: finding positions, matches and best candidates."""


def first_shelf_fitting(shelves: list[int], height: int) -> int:
    """Find the first shelf of an ascending list that is tall enough, or -1."""
    low, high = 0, len(shelves)
    while low < high:
        mid = (low + high) // 2
        if shelves[mid] < height:
            low = mid + 1
        else:
            high = mid
    return low if low < len(shelves) else -1


def closest_price(prices: list[int], budget: int) -> int:
    """Return the price nearest to the budget, the cheaper one of two equally near."""
    if not prices:
        raise ValueError("nothing on sale")
    best = prices[0]
    for price in prices[1:]:
        gap, best_gap = abs(price - budget), abs(best - budget)
        if gap < best_gap or (gap == best_gap and price < best):
            best = price
    return best


def peak_positions(heights: list[int], drop: int) -> list[int]:
    """List the inner positions that rise above both neighbours by at least the drop."""
    peaks = []
    for i in range(1, len(heights) - 1):
        left, right = heights[i] - heights[i - 1], heights[i] - heights[i + 1]
        if left >= drop and right >= drop:
            peaks.append(i)
    return peaks


def find_in_spiral_rows(rows: list[list[int]], wanted: int) -> tuple[int, int]:
    """Locate a value in rows read alternately from the left and from the right."""
    for r, row in enumerate(rows):
        columns = range(len(row)) if r % 2 == 0 else range(len(row) - 1, -1, -1)
        for c in columns:
            if row[c] == wanted:
                return r, c
    return -1, -1


def staircase_lookup(table: list[list[int]], value: int) -> int:
    """Count the looks needed to find a value in a table sorted along both axes, 0 if absent."""
    if not table:
        return 0
    row, col = 0, len(table[0]) - 1
    looks = 0
    while row < len(table) and col >= 0:
        looks += 1
        if table[row][col] == value:
            return looks
        if table[row][col] > value:
            col -= 1
        else:
            row += 1
    return 0


def pair_with_sum(numbers: list[int], target: int) -> tuple[int, int] | None:
    """Find the outermost two values of a sorted list which add up to the target."""
    left, right = 0, len(numbers) - 1
    while left < right:
        total = numbers[left] + numbers[right]
        if total == target:
            return numbers[left], numbers[right]
        if total < target:
            left += 1
        else:
            right -= 1
    return None


def smallest_gap_slot(busy: list[tuple[int, int]], length: int) -> int | None:
    """Return where the tightest free gap that holds the length starts."""
    best = None
    for before, after in zip(busy, busy[1:]):
        gap = after[0] - before[1]
        if gap < length:
            continue
        if best is None or gap < best[0]:
            best = (gap, before[1])
    return None if best is None else best[1]


def last_line_with(lines: list[str], word: str) -> int:
    """Return the number of the last line, from 1, that has the word, 0 if none has."""
    if not word:
        raise ValueError("no word given")
    for number in range(len(lines), 0, -1):
        if word.lower() in lines[number - 1].lower().split():
            return number
    return 0


def match_positions(text: str, piece: str) -> list[int]:
    """List every position at which the piece starts, overlaps included."""
    positions: list[int] = []
    if piece == "":
        return positions
    start = text.find(piece)
    while start != -1:
        positions.append(start)
        start = text.find(piece, start + 1)
    return positions


def wildcard_fits(mask: str, word: str) -> bool:
    """Tell if a word fits a mask in which '?' is any letter and '#' any digit."""
    if len(mask) != len(word):
        return False
    for sign, char in zip(mask, word):
        if sign == "?" and not char.isalpha():
            return False
        if sign == "#" and not char.isdigit():
            return False
        if sign not in "?#" and sign != char:
            return False
    return True


def best_prefix_match(routes: dict[str, int], path: str) -> int:
    """Return the handler of the longest route that starts the path, or -1."""
    handler = -1
    longest = -1
    for route, number in routes.items():
        if path.startswith(route) and len(route) > longest:
            longest = len(route)
            handler = number
    return handler


def typos_away(word: str, entries: list[str], allowed: int) -> list[str]:
    """List the entries of equal length that differ from the word in few letters."""
    close = []
    for entry in entries:
        if len(entry) != len(word):
            continue
        wrong = sum(1 for a, b in zip(entry, word) if a != b)
        if wrong <= allowed:
            close.append(entry)
    return close


def rank_hits(pages: dict[str, str], terms: list[str]) -> list[tuple[str, int]]:
    """Rank the pages by how often the terms occur, ties by name, misses left out."""
    hits = []
    for name, text in pages.items():
        words = text.split()
        score = sum(words.count(term) for term in terms)
        if score > 0:
            hits.append((name, score))
    hits.sort(key=lambda hit: (-hit[1], hit[0]))
    return hits


def rotation_point(values: list[int]) -> int:
    """Find where the least value of a rotated ascending list of different values is."""
    if not values:
        return -1
    low, high = 0, len(values) - 1
    while low < high:
        mid = low + (high - low) // 2
        if values[mid] > values[high]:
            low = mid + 1
        else:
            high = mid
    return low


def least_capacity(parcels: list[int], trips: int) -> int:
    """Find the least van capacity that carries the parcels, in order, within the trips."""
    if trips < 1 or any(p < 0 for p in parcels):
        raise ValueError("bad plan")
    low, high = max(parcels, default=0), sum(parcels)
    while low < high:
        mid = (low + high) // 2
        used, load = 1, 0
        for parcel in parcels:
            load += parcel
            if load > mid:
                used, load = used + 1, parcel
        if used <= trips:
            high = mid
        else:
            low = mid + 1
    return low


def missing_tickets(tickets: list[int], first: int, last: int) -> list[tuple[int, int]]:
    """List the ranges of ticket numbers from first to last that were not handed in."""
    holes = []
    expected = first
    for ticket in sorted(set(tickets)):
        if ticket < first or ticket > last:
            continue
        if ticket > expected:
            holes.append((expected, ticket - 1))
        expected = ticket + 1
    if expected <= last:
        holes.append((expected, last))
    return holes


def second_best(scores: dict[str, int]) -> str:
    """Name the holder of the second highest distinct score, the first by name on a tie."""
    ranks = sorted(set(scores.values()), reverse=True)
    if len(ranks) < 2:
        raise ValueError("no runner-up")
    return min(name for name in scores if scores[name] == ranks[1])


def shortest_cover(stream: list[str], needed: set[str]) -> int:
    """Return the length of the shortest stretch that has all needed items, 0 if none."""
    best = 0
    for start in range(len(stream)):
        seen: set[str] = set()
        for end in range(start, len(stream)):
            if stream[end] in needed:
                seen.add(stream[end])
            if len(seen) == len(needed):
                width = end - start + 1
                if best == 0 or width < best:
                    best = width
                break
    return best


def majority_pick(votes: list[str]) -> str | None:
    """Return the choice with more than half of all votes, if there is one."""
    leader, lead = "", 0
    for vote in votes:
        if lead == 0:
            leader = vote
        lead += 1 if vote == leader else -1
    if votes.count(leader) * 2 > len(votes):
        return leader
    return None


def next_warmer(temperatures: list[int]) -> list[int]:
    """Tell for every day how many days later it gets warmer, 0 for never."""
    waits = [0] * len(temperatures)
    waiting: list[int] = []
    for day, degrees in enumerate(temperatures):
        while waiting and temperatures[waiting[-1]] < degrees:
            earlier = waiting.pop()
            waits[earlier] = day - earlier
        waiting.append(day)
    return waits


def grid_word_count(grid: list[str], word: str) -> int:
    """Count how often a word stands in the grid, read to the right or downwards."""
    if not word:
        return 0
    columns = ["".join(column) for column in zip(*grid)]
    count = 0
    for line in grid + columns:
        for i in range(len(line) - len(word) + 1):
            if line[i:i + len(word)] == word:
                count += 1
    return count


def gallop_steps(marks: list[int], goal: int) -> int:
    """Count the doubling strides along ascending marks until the goal is not ahead."""
    stride, position, steps = 1, 0, 0
    while position < len(marks) and marks[position] < goal:
        position += stride
        stride *= 2
        steps += 1
    return steps


def find_record(records: list[dict[str, str]], field: str, value: str) -> int:
    """Return the index of the only record with the value in the field."""
    found = -1
    for index, record in enumerate(records):
        if record.get(field, "") != value:
            continue
        if found >= 0:
            raise ValueError(f"{field} is not unique")
        found = index
    if found < 0:
        raise KeyError(field)
    return found


def common_run(left: list[int], right: list[int]) -> list[int]:
    """Return the longest stretch found in both lists, the leftmost of equal ones."""
    best: list[int] = []
    for i in range(len(left)):
        for j in range(len(right)):
            k = 0
            while i + k < len(left) and j + k < len(right) and left[i + k] == right[j + k]:
                k += 1
            if k > len(best):
                best = left[i:i + k]
    return best


def kth_absent(taken: list[int], k: int) -> int:
    """Return the k-th positive number that is not taken."""
    if k <= 0:
        raise ValueError("k counts from 1")
    number = 0
    used = set(taken)
    while k > 0:
        number += 1
        if number not in used:
            k -= 1
    return number


def bad_version_probe(builds: list[bool], known_good: int) -> int:
    """Find the first failing build after a good one, given that failures then persist."""
    if known_good < 0 or known_good >= len(builds) or not builds[known_good]:
        raise IndexError("not a good build")
    good, bad = known_good, len(builds)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if builds[middle] else (good, middle)
    return bad


def interpolated_guess(sorted_ids: list[int], wanted: int) -> int:
    """Guess the position of an id from its value, kept within the list."""
    if not sorted_ids:
        return -1
    first, last = sorted_ids[0], sorted_ids[-1]
    if first == last:
        return 0
    guess = (wanted - first) * (len(sorted_ids) - 1) // (last - first)
    return max(0, min(guess, len(sorted_ids) - 1))


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "first_shelf_fitting": [([2, 4, 6, 8], 5), ([2, 4, 6], 6), ([2, 4], 9), ([], 1), ([3, 3, 3], 3),
        ([1, 2, 5], 0)],
    "closest_price": [([10, 7, 4], 5), ([8, 2], 5), ([2, 8], 5), ([], 3), ([4, 9, 1], -2), ([3, 5, 5], 5)],
    "peak_positions": [([1, 3, 1, 4, 2], 2), ([0, 4, 3, 1], 2), ([], 0), ([1, 3, 4, 0, 0], 2),
        ([3, 3, 3], 0)],
    "find_in_spiral_rows": [([[1, 2, 1], [4, 5, 4]], 1), ([[1], [7, 2, 7, 3]], 7), ([], 0),
        ([[1], [2, 3]], 2), ([[1, 2], [], [5, 6]], 6), ([[4, 1]], 0)],
    "staircase_lookup": [([[1, 3, 5], [2, 4, 8]], 2), ([], 1), ([[1]], 1), ([[1, 2], [3, 4]], 9),
        ([[2, 3]], 2), ([[5, 6]], 1)],
    "pair_with_sum": [([1, 2, 4, 7], 6), ([1, 2, 4, 7], 8), ([1, 3], 7), ([], 0), ([2], 4),
        ([-3, 0, 3, 5], 0)],
    "smallest_gap_slot": [([(0, 2), (6, 7), (9, 10)], 2), ([(0, 1), (4, 5), (8, 9)], 3), ([(0, 1)], 0),
        ([], 1), ([(0, 5), (5, 6)], 1), ([(0, 1), (3, 4), (5, 6)], 1)],
    "last_line_with": [(["a b", "B c", "d"], "b"), (["x"], "x"), (["xy"], "x"), ([], "q"), (["q"], ""),
        (["k", "", "K k"], "K")],
    "match_positions": [("banana", "ana"), ("aaaa", "aa"), ("abc", ""), ("abc", "d"), ("", "x"),
        ("abab", "ab")],
    "wildcard_fits": [("a?#", "ab1"), ("a?#", "a11"), ("#", "x"), ("ab", "ac"), ("?", ""), ("", ""),
        ("?b", "zb")],
    "best_prefix_match": [({"/": 1, "/a": 2, "/ab": 3}, "/abc"), ({"/a": 2}, "/b"), ({"": 7}, "x"), ({}, "/"),
        ({"/long": 4, "/": 5}, "/longer"), ({"/q": 6, "/": 8}, "/r")],
    "typos_away": [("cat", ["car", "cot", "dog", "cats"], 1), ("ab", ["ba", "ab"], 0), ("", [""], 0),
        ("abc", ["xbz", "xyz", "abz"], 2), ("a", ["b"], -1)],
    "rank_hits": [({"p": "a b a", "q": "b", "r": "c"}, ["a", "b"]), ({}, ["x"]),
        ({"z": "k", "y": "k"}, ["k"]), ({"m": "a"}, []), ({"m": "x y", "n": "x x", "o": "xx"}, ["x"])],
    "rotation_point": [([4, 5, 1, 2, 3],), ([1, 2, 3],), ([],), ([9],), ([2, 1],), ([3, 4, 5, 6, 1],)],
    "least_capacity": [([3, 2, 2, 4], 2), ([1, 2, 3], 1), ([5, 5], 2), ([], 1), ([1], 0), ([-1], 2),
        ([0, 4, 1], 5)],
    "missing_tickets": [([3, 5, 9], 2, 8), ([1, 2], 1, 2), ([], 4, 4), ([7, 7], 6, 8), ([1], 2, 1),
        ([2, 5], 2, 5)],
    "second_best": [({"a": 3, "b": 5, "c": 3},), ({"a": 1},), ({},), ({"x": 2, "y": 2},),
        ({"p": -1, "q": 0, "r": -4},)],
    "shortest_cover": [(["a", "c", "b", "a", "b"], {"a", "b"}), (["a"], {"b"}), ([], {"x"}),
        (["a", "b"], {"b"}), (["b", "x", "a"], {"a", "b"}), (["q"], set())],
    "majority_pick": [(["a", "b", "a"],), (["a", "b"],), ([],), (["x"],), (["a", "b", "c", "c", "c"],),
        (["b", "c", "a", "c", "c"],)],
    "next_warmer": [([3, 1, 2, 5],), ([2, 2, 3],), ([],), ([5, 4],), ([1, 2, 1, 3, 3, 4],)],
    "grid_word_count": [(["cat", "axa", "tat"], "at"), (["ab"], ""), ([], "a"), (["aaa"], "aa"),
        (["ab", "b"], "ab")],
    "gallop_steps": [([1, 3, 5, 7, 9], 6), ([4], 4), ([], 2), ([1, 2, 3, 4, 5, 6, 7, 8, 9], 9),
        ([1, 1, 4], 2)],
    "find_record": [([{"id": "a"}, {"id": "b"}], "id", "b"), ([{"id": "a"}, {"id": "a"}], "id", "a"),
        ([], "id", "x"), ([{"k": "v"}], "k", "v"), ([{"k": "v"}, {}], "z", "v"),
        ([{"k": "v"}, {"k": "w"}], "k", "v")],
    "common_run": [([1, 2, 3, 9], [0, 2, 3, 9]), ([1, 2], [2, 1]), ([], [1]), ([5, 5], [5]),
        ([1, 7, 8], [7, 8, 1])],
    "kth_absent": [([1, 3], 1), ([1, 3], 3), ([], 2), ([2, 2], 0), ([-5, 4], 4), ([1, 2, 3], 1)],
    "bad_version_probe": [([True, True, False], 0), ([True, False, False, False], 0), ([True, True, True, True], 1),
        ([False], 0), ([True], 1), ([True], -1)],
    "interpolated_guess": [([10, 20, 30], 20), ([10, 20, 30], 99), ([10, 20, 30], 1), ([], 4), ([5, 5], 5),
        ([0, 9, 20], 13)],
}
