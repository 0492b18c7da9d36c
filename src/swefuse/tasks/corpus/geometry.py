"""Corpus, topic `geometry`: points, boxes, paths and shapes in the plane."""


def bounding_box(points: list[tuple[int, int]], margin: int) -> tuple[int, int, int, int]:
    """Return left, bottom, right and top of the box around points, widened by a margin."""
    if not points:
        raise ValueError("no points")
    left = right = points[0][0]
    bottom = top = points[0][1]
    for x, y in points[1:]:
        left, right = min(left, x), max(right, x)
        bottom, top = min(bottom, y), max(top, y)
    return left - margin, bottom - margin, right + margin, top + margin


def overlap_area(first: tuple[int, int, int, int], second: tuple[int, int, int, int]) -> int:
    """Return the area shared by two boxes given as left, bottom, right, top."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    if width <= 0 or height <= 0:
        return 0
    return width * height


def polygon_area_twice(corners: list[tuple[int, int]]) -> int:
    """Return twice the signed area of a polygon, positive when its corners run left around."""
    if len(corners) < 3:
        return 0
    total = 0
    for index in range(len(corners)):
        x1, y1 = corners[index]
        x2, y2 = corners[(index + 1) % len(corners)]
        total += x1 * y2 - x2 * y1
    return total


def point_in_polygon(x: float, y: float, corners: list[tuple[int, int]]) -> bool:
    """Say whether a point off the border lies inside of a polygon."""
    inside = False
    for index, (x1, y1) in enumerate(corners):
        x2, y2 = corners[index - 1]
        if (y1 > y) == (y2 > y):
            continue
        crossing = x1 + (y - y1) * (x2 - x1) / (y2 - y1)
        if x < crossing:
            inside = not inside
    return inside


def turn_kind(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> str:
    """Name the turn taken at b on the way from a to c: left, right, straight or back."""
    cross = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
    if cross > 0:
        return "left"
    if cross < 0:
        return "right"
    along = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1])
    return "back" if along < 0 else "straight"


def count_revisits(moves: str) -> int:
    """Count how often a walk of U, D, L and R moves comes to a place where it has been before."""
    x = y = revisits = 0
    seen = {(0, 0)}
    for move in moves:
        if move not in "UDLR":
            raise ValueError(f"unknown move {move}")
        if move in "LR":
            x += 1 if move == "R" else -1
        else:
            y += 1 if move == "U" else -1
        if (x, y) in seen:
            revisits += 1
        seen.add((x, y))
    return revisits


def path_length(points: list[tuple[float, float]], closed: bool) -> float:
    """Measure a path through points, with the way back to its start if it is closed."""
    length = 0.0
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        length += ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    if closed and len(points) > 2:
        dx, dy = points[0][0] - points[-1][0], points[0][1] - points[-1][1]
        length += (dx * dx + dy * dy) ** 0.5
    return round(length, 4)


def nearest_point(points: list[tuple[int, int]], x: int, y: int, reach: int) -> int:
    """Return the index of the point closest to a place within reach, the first one on ties, or -1."""
    best = -1
    best_distance = reach * reach
    for index, (px, py) in enumerate(points):
        distance = (px - x) ** 2 + (py - y) ** 2
        if distance < best_distance or (best < 0 and distance == best_distance):
            best = index
            best_distance = distance
    return best


def circles_relation(first: tuple[int, int, int], second: tuple[int, int, int]) -> str:
    """Tell how two circles of x, y and radius lie: apart, touching, crossing or nested."""
    if first[2] < 0 or second[2] < 0:
        raise ValueError("negative radius")
    square = (first[0] - second[0]) ** 2 + (first[1] - second[1]) ** 2
    outer = (first[2] + second[2]) ** 2
    inner = (first[2] - second[2]) ** 2
    if square == outer or square == inner:
        return "touching"
    if square > outer:
        return "apart"
    return "nested" if square < inner else "crossing"


def hull_corners(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """List the lower corners of the convex hull of points from left to right."""
    chain: list[tuple[int, int]] = []
    for x, y in sorted(set(points)):
        while len(chain) >= 2:
            (ax, ay), (bx, by) = chain[-2], chain[-1]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                break
            chain.pop()
        chain.append((x, y))
    return chain


def line_cells(x1: int, y1: int, x2: int, y2: int) -> list[tuple[int, int]]:
    """List the grid cells on a straight line between two cells, one per step of the longer side."""
    steps = max(abs(x2 - x1), abs(y2 - y1))
    if steps == 0:
        return [(x1, y1)]
    cells = []
    for step in range(steps + 1):
        x = x1 + (2 * step * (x2 - x1) + steps) // (2 * steps)
        y = y1 + (2 * step * (y2 - y1) + steps) // (2 * steps)
        cells.append((x, y))
    return cells


def clip_segment(start: float, end: float, low: float, high: float) -> tuple[float, float] | None:
    """Return the shares of the way from start to end at which it enters and leaves a strip."""
    if start == end:
        return (0.0, 1.0) if low <= start <= high else None
    first = (low - start) / (end - start)
    second = (high - start) / (end - start)
    if first > second:
        first, second = second, first
    enter, leave = max(0.0, first), min(1.0, second)
    if enter > leave:
        return None
    return round(enter, 4), round(leave, 4)


def hex_distance(first: tuple[int, int], second: tuple[int, int]) -> int:
    """Count the steps between two cells of a hexagonal grid in axial coordinates."""
    dq = second[0] - first[0]
    dr = second[1] - first[1]
    if (dq >= 0) == (dr >= 0):
        return abs(dq + dr)
    return max(abs(dq), abs(dr))


def fit_box(width: int, height: int, frame_width: int, frame_height: int) -> tuple[int, int]:
    """Shrink a picture to fit into a frame and keep its proportions; never enlarge it."""
    if width <= 0 or height <= 0 or frame_width <= 0 or frame_height <= 0:
        raise ValueError("sizes must be positive")
    if width <= frame_width and height <= frame_height:
        return width, height
    if width * frame_height > height * frame_width:
        return frame_width, max(1, height * frame_width // width)
    return max(1, width * frame_height // height), frame_height


def corner_quadrants(points: list[tuple[int, int]]) -> list[int]:
    """Count points in the four quadrants, anticlockwise from upper right; axes count nowhere."""
    counts = [0, 0, 0, 0]
    for x, y in points:
        if x == 0 or y == 0:
            continue
        quadrant = int(x < 0) if y > 0 else 3 - int(x < 0)
        counts[quadrant] += 1
    return counts


def simplify_path(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Drop the inner points of a path at which it does not change its line."""
    if len(points) <= 2:
        return list(points)
    kept = [points[0]]
    for here, following in zip(points[1:], points[2:]):
        ax, ay = here[0] - kept[-1][0], here[1] - kept[-1][1]
        bx, by = following[0] - here[0], following[1] - here[1]
        if ax * by != ay * bx:
            kept.append(here)
    kept.append(points[-1])
    return kept


def skyline(buildings: list[tuple[int, int, int]], width: int) -> list[int]:
    """Return the skyline height over each unit of ground for buildings of left, right and height."""
    heights = [0] * max(0, width)
    for left, right, height in buildings:
        if right <= left:
            raise ValueError("empty building")
        for place in range(max(0, left), min(right, width)):
            heights[place] = max(heights[place], height)
    return heights


def reflect_points(points: list[tuple[int, int]], axis: str, at: int) -> list[tuple[int, int]]:
    """Mirror points at a vertical line x = at or a horizontal line y = at, given the axis name."""
    if axis == "x":
        return [(2 * at - x, y) for x, y in points]
    if axis == "y":
        return [(x, 2 * at - y) for x, y in points]
    raise ValueError("unknown axis")


def boundary_points(corners: list[tuple[int, int]]) -> int:
    """Count the grid points on the border of a polygon whose sides are level, upright or diagonal."""
    count = 0
    previous = corners[-1] if corners else (0, 0)
    for x, y in corners:
        dx, dy = abs(x - previous[0]), abs(y - previous[1])
        if dx and dy and dx != dy:
            raise ValueError("side is askew")
        count += max(dx, dy)
        previous = (x, y)
    return count


def stack_height(boxes: list[tuple[int, int]], gap: int) -> int:
    """Return the tallest stack of boxes of width and height, each narrower by gap than the one below."""
    ordered = sorted(boxes, reverse=True)
    best = [height for _, height in ordered]
    for upper in range(len(ordered)):
        for lower in range(upper):
            if ordered[lower][0] - ordered[upper][0] >= gap:
                best[upper] = max(best[upper], best[lower] + ordered[upper][1])
    return max(best, default=0)


def rows_of_tiles(width: int, length: int, tile: int) -> tuple[int, int]:
    """Return the whole and the cut tiles needed to lay square tiles from one corner of a floor."""
    if tile <= 0 or width < 0 or length < 0:
        raise ValueError("bad measure")
    across, rest_across = divmod(width, tile)
    along, rest_along = divmod(length, tile)
    cut = 0
    if rest_across > 0:
        cut += along
    if rest_along > 0:
        cut += across if rest_across == 0 else across + 1
    return across * along, cut


def compass_name(dx: int, dy: int) -> str:
    """Name the main compass direction of a move, with two letters when it is fairly diagonal."""
    if dx == 0 and dy == 0:
        return "-"
    vertical = "N" if dy > 0 else "S"
    horizontal = "E" if dx > 0 else "W"
    if abs(dy) > 2 * abs(dx):
        return vertical
    if abs(dx) > 2 * abs(dy):
        return horizontal
    return vertical + horizontal


def center_of_mass(points: list[tuple[int, int, int]]) -> tuple[float, float]:
    """Return the center of points of x, y and mass; points without a positive mass are left out."""
    mass = sum_x = sum_y = 0
    for x, y, weight in points:
        if weight <= 0:
            continue
        mass += weight
        sum_x += weight * x
        sum_y += weight * y
    if mass == 0:
        raise ValueError("no mass")
    return round(sum_x / mass, 3), round(sum_y / mass, 3)


def guillotine_cut(width: int, height: int, piece: tuple[int, int]) -> int:
    """Return how many pieces fit on a sheet in rows of one orientation, whichever is better."""
    long, short = max(piece), min(piece)
    if short < 1:
        return 0
    upright = (width // short) * (height // long)
    flat = (width // long) * (height // short)
    if upright > flat:
        return upright
    return flat


def enclosing_ring(radii: list[int], x: int, y: int) -> int:
    """Return the number of the innermost ring around the origin that holds a point, or -1."""
    distance = x * x + y * y
    for number, radius in enumerate(sorted(radii)):
        if radius < 0:
            continue
        if distance <= radius * radius:
            return number
    return -1


def count_squares(points: list[tuple[int, int]], largest: int) -> int:
    """Count the upright squares up to a side length that have all corners among the points."""
    corners = set(points)
    found = 0
    for x, y in sorted(corners):
        for side in range(1, largest + 1):
            if (x + side, y) in corners and (x, y + side) in corners and (x + side, y + side) in corners:
                found += 1
    return found


def ray_hits(height: int, slope: int, walls: list[tuple[int, int]]) -> int:
    """Return the position of the first wall, by distance and height, that stops a rising ray, or -1."""
    reached = -1
    for distance, top in sorted(walls):
        if distance < 0:
            continue
        level = height + slope * distance
        if level < 0:
            break
        if level <= top:
            reached = distance
            break
    return reached


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "bounding_box": [([(1, 2), (4, -1)], 0), ([(3, 3)], 2), ([], 1), ([(0, 5), (-2, 7), (1, 1)], 1),
        ([(2, 2), (2, 2)], 0)],
    "overlap_area": [((0, 0, 4, 3), (2, 1, 6, 5)), ((0, 0, 1, 1), (1, 0, 2, 1)), ((0, 0, 9, 9), (2, 3, 4, 7)),
        ((0, 0, 2, 2), (5, 5, 6, 6)), ((0, 0, 2, 3), (0, 2, 1, 9))],
    "polygon_area_twice": [([(0, 0), (4, 0), (4, 3)],), ([(0, 0), (0, 2), (2, 2), (2, 0)],),
        ([(1, 1), (3, 5)],), ([],), ([(1, 2), (5, 1), (4, 6), (2, 5)],)],
    "point_in_polygon": [(1.0, 1.0, [(0, 0), (4, 0), (4, 3)]), (3.0, 1.0, [(0, 0), (4, 0), (4, 3)]),
        (0.0, 0.0, []), (5.0, 1.0, [(0, 0), (4, 0), (0, 4)]), (1.0, 2.5, [(0, 0), (6, 2), (1, 7)])],
    "turn_kind": [((0, 0), (2, 0), (2, 3)), ((0, 0), (2, 1), (3, 1)), ((7, 2), (8, 3), (10, 5)),
        ((-3, 5), (1, 3), (-1, 4)), ((1, 1), (1, 1), (2, 5)), ((3, 1), (3, 2), (4, 5))],
    "count_revisits": [("URDL",), ("UUDD",), ("RRUX",), ("",), ("LRLRUDD",), ("RRURULLDDD",)],
    "path_length": [([(0.0, 0.0), (3.0, 4.0)], True), ([(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)], True),
        ([], False), ([(1.0, 1.0), (2.0, 3.0), (5.0, 7.0)], False),
        ([(2.0, 1.0), (5.0, 5.0), (1.0, 2.0)], True)],
    "nearest_point": [([(0, 0), (3, 4), (1, 1)], 2, 2, 9), ([(3, 4)], 0, 0, 5), ([(3, 4)], 0, 0, 4),
        ([], 1, 1, 3), ([(1, 0), (0, 1), (2, 2)], 0, 0, 3), ([(2, 0), (0, 2)], 0, 0, 2)],
    "circles_relation": [((0, 0, 2), (5, 0, 3)), ((0, 0, 1), (9, 1, 2)), ((0, 0, 3), (4, 1, 2)),
        ((2, 3, 9), (4, 5, 0)), ((0, 0, -1), (1, 1, 1)), ((1, 2, 0), (3, 4, 0)), ((0, 0, 1), (1, 0, -2))],
    "hull_corners": [([(0, 0), (1, 1), (2, 0)],), ([(0, 2), (1, 0), (3, 3), (2, 1)],), ([],),
        ([(1, 1), (1, 1)],), ([(0, 0), (1, 0), (2, 0), (1, -3)],),
        ([(0, 4), (1, 2), (2, 1), (4, 1), (5, 3)],)],
    "line_cells": [(0, 0, 4, 2), (1, 1, 1, 1), (0, 0, -3, 1), (2, 5, 3, 2), (0, 0, 2, 2)],
    "clip_segment": [(0.0, 10.0, 2.0, 5.0), (10.0, 0.0, 2.0, 5.0), (3.0, 3.0, 1.0, 3.0), (4.0, 4.0, 1.0, 3.0),
        (0.0, 1.0, 2.0, 3.0), (0.0, 2.0, 2.0, 7.0)],
    "hex_distance": [((0, 0), (2, 3)), ((0, 0), (2, -3)), ((1, 1), (1, 1)), ((4, -1), (-2, 0)),
        ((0, 2), (-5, -4)), ((1, 2), (1, -3))],
    "fit_box": [(20, 10, 10, 10), (10, 30, 10, 15), (5, 5, 5, 5), (4, 9, 5, 0), (59, 1, 6, 6), (1, 50, 9, 5),
        (8, 8, 4, -1)],
    "corner_quadrants": [([(1, 1), (-1, 2), (-3, -1), (2, -2)],), ([(0, 5), (5, 0)],), ([],),
        ([(3, 1), (1, 4), (-1, 1)],), ([(-1, -1), (1, -1), (2, -9)],)],
    "simplify_path": [([(0, 0), (1, 0), (2, 0), (2, 1)],), ([(0, 0), (3, 3)],), ([(4, 2)],), ([],),
        ([(5, 1), (6, 3), (7, 5), (8, 7)],), ([(0, 0), (2, 1), (3, 3), (5, 2)],)],
    "skyline": [([(0, 2, 3), (1, 4, 2)], 5), ([(-1, 1, 4), (2, 9, 1)], 3), ([], 2), ([(3, 3, 1)], 4),
        ([(0, 1, 5), (0, 2, 5), (1, 3, 7)], 3)],
    "reflect_points": [([(1, 2)], "x", 3), ([(1, 2), (4, 0)], "y", 1), ([], "x", 0), ([(1, 1)], "z", 0),
        ([(-2, 5), (3, 3)], "x", -1)],
    "boundary_points": [([(0, 0), (3, 0), (3, 3)],), ([(0, 0), (4, 0), (4, 2), (0, 2)],), ([],),
        ([(0, 0), (2, 1)],), ([(1, 5), (4, 5), (1, 2)],), ([(7, 7)],)],
    "stack_height": [([(5, 2), (3, 4), (4, 1)], 1), ([(5, 2), (3, 4), (4, 1)], 2), ([], 1),
        ([(2, 2), (2, 3)], 0), ([(9, 1), (1, 5), (6, 3), (2, 2)], 3)],
    "rows_of_tiles": [(10, 7, 3), (6, 9, 3), (7, 6, 2), (6, 7, 2), (0, 5, 2), (4, 4, 0), (3, -1, 2),
        (-2, 4, 1)],
    "compass_name": [(0, 0), (0, 3), (4, -1), (2, -4), (-3, 2), (-5, 2), (1, -3), (0, -1), (2, 1)],
    "center_of_mass": [([(0, 0, 1), (4, 2, 3)],), ([(1, 5, 2)],), ([(7, 7, 0)],), ([],),
        ([(2, 3, 1), (9, 9, -4), (5, 1, 2)],)],
    "guillotine_cut": [(10, 6, (2, 3)), (7, 5, (5, 3)), (4, 9, (0, 3)), (5, 7, (5, 3)), (2, 2, (3, 3)),
        (9, 11, (4, 1))],
    "enclosing_ring": [([5, 1, 3], 2, 2), ([5, 1], 3, 4), ([2], 2, 1), ([], 0, 0), ([-4, 1], 1, 1),
        ([-3, 0, 4], 0, 0)],
    "count_squares": [([(0, 0), (1, 0), (0, 1), (1, 1)], 1), ([(0, 0), (2, 0), (0, 2), (2, 2)], 1),
        ([(0, 0), (2, 0), (0, 2), (2, 2)], 2), ([], 4),
        ([(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (2, 2), (5, 5)], 3)],
    "ray_hits": [(1, 1, [(2, 3), (4, 9)]), (0, 2, [(3, 5), (5, 10)]), (3, 0, []), (5, -2, [(4, 9)]),
        (1, 1, [(-2, 9), (6, 6)]), (2, -1, [(2, 0), (1, 0)])],
}
