"""Corpus, topic `statistics`: averages, spreads, ranks and scores of samples."""


def trimmed_mean(values: list[float], cut: int) -> float:
    """Return the mean without the given number of lowest and of highest values."""
    if cut < 0 or len(values) <= 2 * cut:
        raise ValueError("nothing left to average")
    kept = sorted(values)[cut:len(values) - cut]
    total = 0.0
    for value in kept:
        total += value
    return total / len(kept)


def middle_value(values: list[int], upper: bool) -> int:
    """Return the upper or the lower median of the values."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    index = len(ordered) // 2
    if len(ordered) % 2 == 0 and not upper:
        index -= 1
    return ordered[index]


def modes(values: list[int], least: int) -> list[int]:
    """List the most frequent values in rising order if they occur often enough."""
    counts: dict[int, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    top = max(counts.values(), default=0)
    if top < least:
        return []
    return sorted(value for value, count in counts.items() if count == top)


def sample_variance(values: list[float]) -> float:
    """Return the variance with the divisor n - 1, zero for fewer than two values."""
    n = len(values)
    if n < 2:
        return 0.0
    mean = sum(values) / n
    squares = 0.0
    for value in values:
        deviation = value - mean
        squares += deviation * deviation
    return squares / (n - 1)


def histogram(values: list[float], low: float, width: float, bins: int) -> list[int]:
    """Count the values per bin, those beyond the last edge in the last bin."""
    if width <= 0 or bins < 1:
        raise ValueError("bad bins")
    counts = [0] * bins
    for value in values:
        if value < low:
            continue
        index = int((value - low) / width)
        counts[min(index, bins - 1)] += 1
    return counts


def nearest_rank(values: list[int], percent: int) -> int | None:
    """Return the percentile by the nearest-rank rule."""
    if not values or not 0 <= percent <= 100:
        return None
    ordered = sorted(values)
    rank = (percent * len(ordered) + 99) // 100
    return ordered[max(rank, 1) - 1]


def linear_quantile(values: list[float], share: float) -> float:
    """Return the quantile for a share between 0 and 1, interpolated between neighbours."""
    if not values:
        raise ValueError("no values")
    if share < 0 or share > 1:
        raise ValueError("share out of range")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def shared_ranks(scores: list[int]) -> list[float]:
    """Rank the scores from 1 for the lowest, equal scores sharing their mean rank."""
    ranks = []
    for score in scores:
        lower = sum(1 for other in scores if other < score)
        equal = scores.count(score)
        ranks.append(lower + (equal + 1) / 2)
    return ranks


def smooth_series(series: list[float], weight: float) -> list[float]:
    """Smooth a series exponentially, the first value staying as it is."""
    if not 0 < weight <= 1:
        raise ValueError("weight out of range")
    if len(series) < 2:
        return list(series)
    level = series[0]
    smoothed = [level]
    for value in series[1:]:
        level = weight * value + (1 - weight) * level
        smoothed.append(level)
    return smoothed


def slope_of_line(points: list[tuple[int, int]]) -> float | None:
    """Return the slope of the least-squares line, or None for a vertical cloud."""
    n = len(points)
    if n < 2:
        return None
    sum_x = sum(x for x, _ in points)
    sum_y = sum(y for _, y in points)
    top = bottom = 0
    for x, y in points:
        top += (n * x - sum_x) * (n * y - sum_y)
        bottom += (n * x - sum_x) ** 2
    return None if bottom == 0 else top / bottom


def concordance(left: list[int], right: list[int]) -> int:
    """Return the number of pairs in equal order minus those in opposite order."""
    if len(left) != len(right):
        raise ValueError("lengths differ")
    balance = 0
    for i in range(len(left)):
        for j in range(i + 1, len(left)):
            product = (left[j] - left[i]) * (right[j] - right[i])
            if product > 0:
                balance += 1
            elif product < 0:
                balance -= 1
    return balance


def weighted_grade(grades: dict[str, int], weights: dict[str, int]) -> float:
    """Return the weighted mean grade, courses without a weight counting once."""
    points = 0
    total = 0
    for course, grade in grades.items():
        weight = weights.get(course, 1)
        if weight < 0:
            raise ValueError(f"negative weight of {course}")
        points += grade * weight
        total += weight
    try:
        return points / total
    except ZeroDivisionError:
        return 0.0


def outlier_indices(values: list[int], factor: int) -> list[int]:
    """List the positions farther from the median than the factor times the usual distance."""
    if len(values) < 3:
        return []
    center = sorted(values)[len(values) // 2]
    distances = [abs(value - center) for value in values]
    usual = sorted(distances)[len(distances) // 2]
    return [i for i, distance in enumerate(distances) if distance > factor * usual]


def cumulative_shares(counts: list[int]) -> list[int]:
    """Return the running share of the whole in whole percents, rounded down."""
    whole = sum(counts)
    if whole <= 0 or min(counts) < 0:
        return []
    shares = []
    running = 0
    for count in counts:
        running += count
        shares.append(running * 100 // whole)
    return shares


def chi_distance(observed: list[int], expected: list[int]) -> float:
    """Sum the squared deviations in units of what was expected in each class."""
    if len(observed) != len(expected):
        raise ValueError("classes differ")
    total = 0.0
    for seen, wanted in zip(observed, expected):
        if wanted <= 0:
            continue
        total += (seen - wanted) ** 2 / wanted
    return round(total, 6)


def contingency(rows: list[tuple[bool, bool]]) -> tuple[int, int, int, int]:
    """Count true and false positives, then true and false negatives, of (said, is) pairs."""
    hits = alarms = rejects = misses = 0
    for said, actual in rows:
        if said and actual:
            hits += 1
        elif said:
            alarms += 1
        elif actual:
            misses += 1
        else:
            rejects += 1
    return hits, alarms, rejects, misses


def balanced_score(hits: int, alarms: int, misses: int) -> float:
    """Return the harmonic mean of precision and recall as a number from 0 to 1."""
    if min(hits, alarms, misses) < 0:
        raise ValueError("negative count")
    if hits == 0:
        return 0.0
    precision = hits / (hits + alarms)
    recall = hits / (hits + misses)
    return 2 * precision * recall / (precision + recall)


def run_test_count(values: list[int], pivot: int) -> int:
    """Count the runs of values above and below a pivot, the pivot itself skipped."""
    runs = 0
    last = 0
    for value in values:
        if value == pivot:
            continue
        side = 1 if value > pivot else -1
        if side != last:
            runs += 1
            last = side
    return runs


def inequality_index(incomes: list[int]) -> float:
    """Return 0 for equal incomes and nearly 1 if a single person has it all."""
    total = sum(incomes)
    n = len(incomes)
    if n == 0 or total <= 0:
        return 0.0
    weighted = 0
    for rank, income in enumerate(sorted(incomes), start=1):
        weighted += (2 * rank - n - 1) * income
    return weighted / (n * total)


def lag_product(series: list[int], lag: int) -> int:
    """Sum the products of values that lie the given lag apart."""
    if lag < 0 or lag >= len(series):
        return 0
    total = 0
    for i in range(lag, len(series)):
        total += series[i] * series[i - lag]
    return total


def group_means(pairs: list[tuple[str, int]], least: int) -> dict[str, float]:
    """Return the mean per group for the groups that have enough members."""
    members: dict[str, list[int]] = {}
    for group, value in pairs:
        members.setdefault(group, []).append(value)
    means = {}
    for group in sorted(members):
        numbers = members[group]
        if len(numbers) >= max(least, 1):
            means[group] = sum(numbers) / len(numbers)
    return means


def longest_climb(series: list[int]) -> tuple[int, int]:
    """Return start and length of the longest strictly rising stretch."""
    if not series:
        return 0, 0
    best_start, best_length = 0, 1
    start = 0
    for i in range(1, len(series)):
        if series[i] <= series[i - 1]:
            start = i
        length = i - start + 1
        if length > best_length:
            best_start, best_length = start, length
    return best_start, best_length


def standard_scores(values: list[int]) -> list[int]:
    """Scale the values linearly so that the least gets 0 and the greatest 100."""
    low, high = min(values, default=0), max(values, default=0)
    if low == high:
        return [50] * len(values)
    scaled = []
    for value in values:
        scaled.append((value - low) * 100 // (high - low))
    return scaled


def odds_text(wins: int, losses: int) -> str:
    """Describe a record of wins and losses by its share of wins in percent."""
    games = wins + losses
    if wins < 0 or losses < 0:
        raise ValueError("negative record")
    if games == 0:
        return "no games"
    share = 100 * wins // games
    label = "even" if wins == losses else ("ahead" if wins > losses else "behind")
    return f"{share}% of {games}, {label}"


def merge_moments(left: tuple[int, float], right: tuple[int, float]) -> tuple[int, float]:
    """Combine two (count, mean) summaries into the summary of both samples."""
    n, m = left[0], right[0]
    if n < 0 or m < 0:
        raise ValueError("negative count")
    if n + m == 0:
        return 0, 0.0
    return n + m, (n * left[1] + m * right[1]) / (n + m)


def hot_streaks(shots: str, least: int) -> list[tuple[int, int]]:
    """List (start, length) of the streaks of hits 'x' that are long enough."""
    streaks = []
    start = 0
    while start < len(shots):
        end = start
        while end < len(shots) and shots[end] == "x":
            end += 1
        if end - start >= least and end > start:
            streaks.append((start, end - start))
        start = end + 1
    return streaks


def entropy_bound(counts: dict[str, int]) -> int:
    """Return how many yes-no questions suffice to tell the occurring classes apart."""
    classes = sum(1 for count in counts.values() if count > 0)
    questions = 0
    reach = 1
    while reach < classes:
        reach *= 2
        questions += 1
    return questions


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "trimmed_mean": [([4.0, 1.0, 9.0, 2.0], 1), ([1.0, 2.0], 1), ([3.5], 0), ([1.0, 2.0], -1), ([], 0),
        ([7.0, 0.0, 5.0], 1)],
    "middle_value": [([3, 1, 2], True), ([4, 1, 3, 2], False), ([4, 1, 3, 2], True), ([], True),
        ([9, 5, 7], False)],
    "modes": [([1, 2, 2, 1], 2), ([1, 2], 2), ([], 0), ([3, 3, 1], 1), ([5, 4], 1)],
    "sample_variance": [([1.0, 3.0],), ([2.0],), ([],), ([1.0, 2.0, 6.0],), ([4.0, 4.0, 4.0],)],
    "histogram": [([0.0, 1.0, 2.5, 9.0], 0.0, 1.0, 3), ([1.0], 0.0, 0.0, 2), ([], 0.0, 1.0, 1),
        ([1.0], 2.0, 0.5, 2), ([1.0], 0.0, 1.0, 0), ([3.0, 4.9, 5.0], 3.0, 2.0, 4)],
    "nearest_rank": [([5, 1, 3, 7], 50), ([5, 1, 3, 7], 51), ([2, 1], 0), ([2, 1], 100), ([], 10), ([1], 101),
        ([1], -1)],
    "linear_quantile": [([1.0, 3.0, 8.0], 0.75), ([2.0, 1.0], 1.0), ([5.0, 4.0], 0.0), ([], 0.5),
        ([1.0], 1.5), ([1.0], -0.5), ([9.0, 1.0, 4.0, 2.0], 0.5)],
    "shared_ranks": [([10, 30, 20],), ([5, 5],), ([],), ([1],), ([2, 7, 2, 2, 0],)],
    "smooth_series": [([1.0, 3.0, 2.0], 0.5), ([2.0, 4.0], 1.0), ([1.0], 0.25), ([], 0.5), ([1.0], 0.0),
        ([8.0, 0.0], 0.25), ([1.0], 1.5)],
    "slope_of_line": [([(0, 1), (1, 3), (2, 5)],), ([(1, 1), (1, 4)],), ([(3, 3)],), ([(0, 2), (4, 0)],),
        ([(1, 2), (2, 2), (5, 9)],)],
    "concordance": [([1, 2, 3], [2, 3, 1]), ([1, 1], [2, 3]), ([1], []), ([], []), ([4, 2, 1], [9, 7, 5]),
        ([1, 2], [5, 3])],
    "weighted_grade": [({"a": 2, "b": 4}, {"a": 3}), ({}, {}), ({"a": 5}, {"a": 0}), ({"a": 1}, {"a": -1}),
        ({"q": 7}, {})],
    "outlier_indices": [([1, 2, 3, 2, 20], 2), ([1, 9], 0), ([5, 5, 5], 1), ([0, 0, 9], 1),
        ([0, 4, 5, 6, 9], 3)],
    "cumulative_shares": [([1, 2, 5],), ([],), ([0, 0],), ([3, -1],), ([0, 4],), ([1, 0, 0, 2],)],
    "chi_distance": [([10, 20], [15, 15]), ([1], [0]), ([2], [1]), ([], []), ([1], []),
        ([3, 5, 1], [3, 4, 8])],
    "contingency": [([(True, True), (True, False), (False, True)],), ([],), ([(False, False), (False, False)],),
        ([(True, False)],), ([(False, True), (False, True), (True, True)],)],
    "balanced_score": [(3, 1, 2), (0, 4, 4), (1, 0, 0), (-1, 0, 0), (2, 0, 6), (1, 5, 0)],
    "run_test_count": [([1, 5, 2, 9], 3), ([3, 3], 3), ([], 0), ([4, 3, 5, 1], 3), ([1, 2, 0], 3),
        ([0, 1, -1, 0, -2], 0)],
    "inequality_index": [([1, 1, 1],), ([0, 0, 9],), ([],), ([0],), ([4, 1, 2],), ([5, 1],), ([-3, 1],)],
    "lag_product": [([1, 2, 3], 1), ([1, 2, 3], 0), ([1, 2], 2), ([4], -1), ([], 0), ([5, 1, 2, 7], 3)],
    "group_means": [([("a", 1), ("b", 4), ("a", 2)], 2), ([("z", 3), ("y", 5)], 1), ([], 1), ([("q", 8)], 0),
        ([("q", 8)], 2)],
    "longest_climb": [([1, 2, 2, 3, 4],), ([],), ([5],), ([3, 2, 1],), ([1, 2, 0, 1],), ([4, 4],)],
    "standard_scores": [([2, 4, 3],), ([7, 7],), ([],), ([0, 3, 1],), ([-5, 5],)],
    "odds_text": [(3, 1), (1, 2), (2, 2), (0, 0), (-1, 3), (4, -1), (0, 5)],
    "merge_moments": [((2, 3.0), (1, 6.0)), ((0, 0.0), (0, 5.0)), ((-1, 1.0), (2, 1.0)),
        ((1, 1.0), (-1, 1.0)), ((0, 9.0), (3, 1.5))],
    "hot_streaks": [("xxoxoxxx", 2), ("oxo", 1), ("", 0), ("oo", 0), ("xx", 3), ("oxx", 2)],
    "entropy_bound": [({"a": 1, "b": 2, "c": 3},), ({},), ({"a": 0, "b": 1},), ({"a": 1, "b": 1, "c": -1},),
        ({"a": 1, "b": 1, "c": 1, "d": 2},), ({"a": 9, "b": 9, "c": 9, "d": 9, "e": 9},)],
}
