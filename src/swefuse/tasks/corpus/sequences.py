"""Corpus, topic `sequences`: runs, windows, peaks and reordering in lists of numbers."""


def longest_plateau(values: list[int], slack: int) -> tuple[int, int]:
    """Return start and length of the longest part whose values are at most slack from its first."""
    if not values:
        return 0, 0
    best_start, best_length = 0, 1
    start = 0
    for index in range(1, len(values)):
        if abs(values[index] - values[start]) > slack:
            start = index
        if index - start + 1 > best_length:
            best_start, best_length = start, index - start + 1
    return best_start, best_length


def rain_held(heights: list[int]) -> int:
    """Return how much rain the hollows of a profile of heights hold."""
    held = 0
    for index, height in enumerate(heights):
        left = max(heights[:index + 1])
        right = max(heights[index:])
        held += min(left, right) - height
    return held


def limit_slew(targets: list[int], start: int, most: int) -> list[int]:
    """Follow targets from a start without moving by more than a limit per step."""
    if most < 0:
        raise ValueError("negative limit")
    place = start
    path = []
    for target in targets:
        move = target - place
        if abs(move) > most:
            move = most if move > 0 else -most
        place += move
        path.append(place)
    return path


def expand_runs(runs: list[tuple[int, int]], limit: int) -> list[int]:
    """Write out pairs of a value and a count, and stop when the limit of values is reached."""
    values: list[int] = []
    for value, count in runs:
        if count < 0:
            raise ValueError("negative count")
        room = limit - len(values)
        if count >= room:
            values += [value] * room
            break
        values += [value] * count
    return values


def direction_changes(values: list[int]) -> int:
    """Count how often a series turns from rising to falling or back; equal steps do not count."""
    changes = 0
    last = 0
    for before, after in zip(values, values[1:]):
        step = after - before
        if step == 0:
            continue
        if step * last < 0:
            changes += 1
        last = step
    return changes


def fairest_cut(values: list[int]) -> tuple[int, int]:
    """Return where to cut a list in two so that the sums differ least, and that difference."""
    if len(values) < 2:
        raise ValueError("nothing to cut")
    left, right = values[0], sum(values[1:])
    best_cut, best_gap = 1, abs(left - right)
    for cut in range(2, len(values)):
        left += values[cut - 1]
        right -= values[cut - 1]
        if abs(left - right) < best_gap:
            best_cut, best_gap = cut, abs(left - right)
    return best_cut, best_gap


def deal_round_robin(cards: list[int], hands: int) -> list[list[int]]:
    """Deal cards one by one to the hands in turn."""
    if hands < 1:
        raise ValueError("no hands")
    dealt: list[list[int]] = [[] for _ in range(hands)]
    for index, card in enumerate(cards):
        dealt[index % hands].append(card)
    return dealt


def merge_sorted(first: list[int], second: list[int], unique: bool) -> list[int]:
    """Merge two sorted lists into one, leaving out repeated values on demand."""
    merged: list[int] = []
    i = j = 0
    while i < len(first) or j < len(second):
        if j >= len(second) or (i < len(first) and first[i] <= second[j]):
            value = first[i]
            i += 1
        else:
            value = second[j]
            j += 1
        if not unique or not merged or merged[-1] != value:
            merged.append(value)
    return merged


def shortest_window(values: list[int], target: int) -> int:
    """Return the length of the shortest stretch of non-negative values that sums to the target."""
    if any(value < 0 for value in values):
        raise ValueError("negative value")
    best = 0
    start = total = 0
    for end, value in enumerate(values):
        total += value
        while start <= end and total >= target:
            length = end - start + 1
            if best == 0 or length < best:
                best = length
            total -= values[start]
            start += 1
    return best


def collide(balls: list[int]) -> list[int]:
    """Let balls on a line meet, positive ones moving right and negative left; the larger survives."""
    line: list[int] = []
    for ball in balls:
        alive = ball != 0
        while alive and ball < 0 and line and line[-1] > 0:
            rival = line[-1]
            alive = rival < -ball
            if rival <= -ball:
                line.pop()
        if alive:
            line.append(ball)
    return line


def fold_in_half(values: list[int]) -> list[int]:
    """Add the mirrored second half of a list onto its first half; a middle value stays."""
    size = len(values)
    folded = []
    for index in range(size // 2):
        folded.append(values[index] + values[size - 1 - index])
    if size % 2 == 1:
        folded.append(values[size // 2])
    return folded


def thin_out(values: list[int], count: int) -> list[int]:
    """Pick count values at even distances, the first and last among them."""
    if count < 2:
        return values[:1] if count == 1 else []
    if count >= len(values):
        return values[:]
    last = len(values) - 1
    picked = []
    for step in range(count):
        place = step * last // (count - 1)
        picked.append(values[place])
    return picked


def swap_blocks(values: list[int], size: int) -> list[int]:
    """Exchange neighbouring blocks of a size; a rest too short for two blocks stays in place."""
    if size <= 0:
        raise ValueError("block size must be positive")
    result: list[int] = []
    start = 0
    while start + 2 * size <= len(values):
        middle = start + size
        result.extend(values[middle:middle + size])
        result.extend(values[start:middle])
        start += 2 * size
    return result + values[start:]


def smooth(values: list[float], reach: int) -> list[float]:
    """Replace every value by the mean of the values at most reach positions away."""
    if reach < 0:
        raise ValueError("negative reach")
    result = []
    for index in range(len(values)):
        low = max(0, index - reach)
        window = values[low:index + reach + 1]
        result.append(round(sum(window) / len(window), 3))
    return result


def longest_distinct(values: list[int]) -> tuple[int, int]:
    """Return start and end of the first longest stretch without a repeated value, end excluded."""
    last_seen: dict[int, int] = {}
    best = (0, 0)
    start = 0
    for index, value in enumerate(values):
        if last_seen.get(value, -1) >= start:
            start = last_seen[value] + 1
        last_seen[value] = index
        if index + 1 - start > best[1] - best[0]:
            best = (start, index + 1)
    return best


def pendulum_order(values: list[int]) -> list[int]:
    """Arrange values with the smallest in the middle and the others alternating left and right."""
    ordered = sorted(values)
    right = ordered[0::2]
    left = ordered[1::2]
    return left[::-1] + right


def take_from_ends(values: list[int]) -> tuple[int, int]:
    """Return the totals of two players who in turn take the larger end of a row, the left on ties."""
    totals = [0, 0]
    left, right = 0, len(values) - 1
    turn = 0
    while left <= right:
        if values[left] >= values[right]:
            totals[turn % 2] += values[left]
            left += 1
        else:
            totals[turn % 2] += values[right]
            right -= 1
        turn += 1
    return totals[0], totals[1]


def smaller_after(values: list[int]) -> list[int]:
    """Count for every value how many of the later values are smaller."""
    counts = []
    for index, value in enumerate(values):
        later = values[index + 1:]
        counts.append(sum(1 for other in later if other < value))
    return counts


def is_rotation_of(first: list[int], second: list[int]) -> int:
    """Return by how many places the first list is turned left to give the second, or -1."""
    if not first and not second:
        return 0
    for shift in range(len(first)):
        if first[shift:] + first[:shift] == second:
            return shift
    return -1


def bubble_passes(values: list[int], passes: int) -> tuple[list[int], int]:
    """Let larger values bubble to the right for some passes; return the list and the swaps made."""
    result = values[:]
    swaps = 0
    for done in range(passes):
        for index in range(1, len(result) - done):
            if result[index - 1] > result[index]:
                result[index - 1], result[index] = result[index], result[index - 1]
                swaps += 1
    return result, swaps


def difference_depth(values: list[int]) -> tuple[int, list[int]]:
    """Take differences of neighbours until all are equal; return how often, and what is left."""
    depth = 0
    row = list(values)
    while any(value != row[0] for value in row):
        row = [row[index + 1] - row[index] for index in range(len(row) - 1)]
        depth += 1
    return depth, row


def split_at_drops(values: list[int], drop: int) -> list[list[int]]:
    """Start a new part wherever the next value is lower than the last by at least drop."""
    parts: list[list[int]] = []
    current: list[int] = []
    for value in values:
        if current and current[-1] - value >= drop:
            parts.append(current)
            current = []
        current.append(value)
    if current:
        parts.append(current)
    return parts


def faro_shuffle(cards: list[int], times: int, keep_top: bool) -> list[int]:
    """Cut a pack in halves and interleave them, several times; the top card may stay on top."""
    if len(cards) % 2 == 1:
        raise ValueError("odd number of cards")
    pack = list(cards)
    half = len(pack) // 2
    for _ in range(times):
        shuffled = []
        for upper, lower in zip(pack[:half], pack[half:]):
            shuffled += [upper, lower] if keep_top else [lower, upper]
        pack = shuffled
    return pack


def best_thinned_sum(values: list[int], rest: int) -> int:
    """Return the largest sum of chosen values when rest positions stay unused after each choice."""
    if rest < 0:
        raise ValueError("negative rest")
    best: list[int] = [0]
    for index, value in enumerate(values):
        earlier = max(0, index - rest)
        taken = best[earlier] + value
        best.append(max(best[index], taken))
    return best[-1]


def trim_ends(values: list[int], low: int, high: int) -> list[int]:
    """Cut values outside low to high from both ends of a list, but not from its middle."""
    start, end = 0, len(values)
    while start < end and not low <= values[start] <= high:
        start += 1
    while end > start and not low <= values[end - 1] <= high:
        end -= 1
    return values[start:end]


def step_pattern(start: int, steps: list[int], rounds: int, ceiling: int) -> list[int]:
    """Apply the steps over and over for some rounds and list the values that stay under a ceiling."""
    reached = [start]
    for _ in range(rounds):
        for step in steps:
            following = reached[-1] + step
            if following >= ceiling:
                return reached
            reached.append(following)
    return reached


def pick_spaced(values: list[int], gap: int) -> list[int]:
    """Keep, in sorted order, each value that lies at least gap above the last one kept."""
    if not values:
        return []
    if gap < 0:
        raise ValueError("negative gap")
    ordered = sorted(values)
    kept = ordered[:1]
    for value in ordered[1:]:
        if value - kept[-1] >= gap:
            kept.append(value)
    return kept


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "longest_plateau": [([1, 2, 3, 9, 8, 9, 9], 1), ([], 2), ([5], 0), ([4, 4, 7, 7, 7], 0),
        ([1, 3, 5, 0], 4)],
    "rain_held": [([3, 0, 2, 0, 4],), ([1, 2, 3],), ([],), ([5],), ([4, 1, 3, 1, 2],), ([2, 0, 2],)],
    "limit_slew": [([5, 5, 5], 0, 2), ([-4, 3], 0, 3), ([], 1, 1), ([2], 2, -1), ([9, 1, 1], 4, 5),
        ([3, 8], 1, 0)],
    "expand_runs": [([(1, 2), (3, 3)], 9), ([(1, 2), (3, 3)], 4), ([(5, 2), (6, 1)], 2), ([(1, -1)], 5),
        ([], 3), ([(4, 0), (2, 1)], 6)],
    "direction_changes": [([1, 3, 2, 4],), ([1, 3, 3, 2],), ([],), ([5, 5, 5],), ([1, 2, 3],),
        ([9, 1, 1, 4, 2, 3],)],
    "fairest_cut": [([1, 7, 3, 5, 3],), ([4, 0, 4],), ([5, 2],), ([3],), ([1, 2, 3, 9],),
        ([-2, 8, 1, 1, 6],)],
    "deal_round_robin": [([1, 2, 3, 4, 5], 2), ([1, 2], 3), ([], 1), ([7, 8, 9], 1), ([1], 0)],
    "merge_sorted": [([1, 3, 3], [2, 3], False), ([1, 3, 3], [2, 3], True), ([], [4, 4], True),
        ([5], [], False), ([1, 2], [0, 9], True)],
    "shortest_window": [([2, 3, 1, 2, 4, 3], 7), ([1, 1, 1], 5), ([5, 0, 5], 5), ([], 1), ([1, -1], 1),
        ([1, 2, 1, 1], 3), ([4], 0)],
    "collide": [([5, 3, -4],), ([2, -2, 1],), ([],), ([-1, 4, 0, -9, 6],), ([7, -3, 2, -2, -8],),
        ([1, 1, -1],)],
    "fold_in_half": [([1, 2, 3, 4],), ([1, 2, 3],), ([],), ([8],), ([5, 0, -1, 2, 7],)],
    "thin_out": [([1, 2, 3, 4, 5], 3), ([7, 8, 9], 1), ([7, 8], 0), ([], 2), ([4, 5, 6, 7, 8, 9, 1], 4),
        ([3, 1], 5), ([5, 6, 7], 2)],
    "swap_blocks": [([1, 2, 3, 4, 5], 1), ([1, 2, 3, 4, 5, 6, 7], 2), ([1, 2, 3], 2), ([], 1), ([1], 0),
        ([1, 2, 3, 4, 5, 6], 3)],
    "smooth": [([1.0, 2.0, 6.0], 1), ([1.0, 5.0], 0), ([], 2), ([3.0], -1),
        ([1.0, 2.0, 2.0, 9.0, 4.0, 7.5], 2)],
    "longest_distinct": [([1, 2, 1, 3, 4],), ([5, 5, 5],), ([],), ([1, 2, 3, 2, 1],), ([1, 2, 2, 1, 3],)],
    "pendulum_order": [([3, 1, 2, 5, 4],), ([4, 1, 3, 2],), ([],), ([9],), ([2, 2, -1],)],
    "take_from_ends": [([4, 1, 7, 3],), ([5, 9, 2, 5],), ([],), ([8],), ([1, 2, 3, 4, 5],)],
    "smaller_after": [([5, 2, 6, 1],), ([1, 2, 3],), ([],), ([4, 4, 3, 4],), ([-1, -2],)],
    "is_rotation_of": [([1, 2, 3], [2, 3, 1]), ([1, 2, 3], [1, 2, 3]), ([1], [2]), ([], []), ([1, 2], [1]),
        ([4, 5, 6, 7], [7, 4, 5, 6])],
    "bubble_passes": [([3, 2, 1], 1), ([4, 3, 2, 1], 2), ([], 3), ([5, 5, 1], 9), ([2, 1], 0),
        ([1, 7, 3, 7], 1)],
    "difference_depth": [([1, 4, 9, 16],), ([3, 3, 3],), ([],), ([7],), ([2, 5, 1],), ([0, 1, 3, 7],)],
    "split_at_drops": [([1, 5, 3, 4, 1], 2), ([1, 2, 3], 1), ([], 1), ([9, 6, 3], 3), ([4, 3, 2, 0], 2)],
    "faro_shuffle": [([1, 2, 3, 4], 1, True), ([1, 2, 3, 4], 1, False), ([1, 2, 3, 4, 5, 6], 2, True),
        ([], 3, True), ([1], 1, False), ([7, 8], 0, False)],
    "best_thinned_sum": [([3, 2, 7, 10], 1), ([3, 2, 7, 10], 0), ([], 2), ([-1, -5], 1),
        ([5, 1, 1, 6, 4, 9], 2), ([4], -1)],
    "trim_ends": [([0, 5, 9, 4, 12], 1, 6), ([1, 2], 1, 2), ([9, 9], 0, 5), ([], 1, 2),
        ([7, 3, 0, 6, 8], 3, 6)],
    "step_pattern": [(0, [1, 2], 2, 50), (0, [5, -1], 4, 9), (3, [], 3, 9), (10, [1], 2, 5),
        (1, [2, 4], 0, 9)],
    "pick_spaced": [([5, 1, 2, 9, 3], 2), ([4, 4, 4], 0), ([], -1), ([1], -2), ([10, 7, 4, 1], 3),
        ([6, 1, 3], 4)],
}
