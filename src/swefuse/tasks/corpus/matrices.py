"""Corpus, topic `matrices`: grids, boards and tables given as lists of rows."""


def column_totals(rows: list[list[int]]) -> list[int]:
    """Add up the columns of rows that may differ in length."""
    width = max((len(row) for row in rows), default=0)
    totals = [0] * width
    for row in rows:
        for column, value in enumerate(row):
            totals[column] += value
    return totals


def turn_clockwise(grid: list[list[int]], times: int) -> list[list[int]]:
    """Turn a grid by quarter turns clockwise; negative times turn it the other way."""
    turned = [row[:] for row in grid]
    for _ in range(times % 4):
        turned = [list(column) for column in zip(*turned[::-1])]
    return turned


def spiral_walk(grid: list[list[int]]) -> list[int]:
    """List the values of a grid along a spiral that starts in the upper left and goes right."""
    if not grid or not grid[0]:
        return []
    top, bottom, left, right = 0, len(grid) - 1, 0, len(grid[0]) - 1
    path: list[int] = []
    while top <= bottom and left <= right:
        path += grid[top][left:right + 1]
        path += [grid[row][right] for row in range(top + 1, bottom + 1)]
        if top < bottom and left < right:
            path += [grid[bottom][column] for column in range(right - 1, left - 1, -1)]
            path += [grid[row][left] for row in range(bottom - 1, top, -1)]
        top, bottom = top + 1, bottom - 1
        left, right = left + 1, right - 1
    return path


def matrix_product(first: list[list[int]], second: list[list[int]]) -> list[list[int]]:
    """Multiply two matrices whose inner sizes must agree."""
    if any(len(row) != len(second) for row in first):
        raise ValueError("sizes do not agree")
    width = len(second[0]) if second else 0
    product = []
    for row in first:
        line = [0] * width
        for k, factor in enumerate(row):
            for j in range(width):
                line[j] += factor * second[k][j]
        product.append(line)
    return product


def lit_cells(plan: list[str], row: int, column: int) -> int:
    """Count the free cells a lamp lights up in the four directions, its own cell included."""
    if not 0 <= row < len(plan) or not 0 <= column < len(plan[row]):
        raise IndexError("lamp outside of the plan")
    if plan[row][column] == "#":
        return 0
    lit = 1
    for down, across in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        r, c = row + down, column + across
        while 0 <= r < len(plan) and 0 <= c < len(plan[r]) and plan[r][c] != "#":
            lit += 1
            r += down
            c += across
    return lit


def saddle_points(grid: list[list[int]]) -> list[tuple[int, int]]:
    """List the cells that are the largest of their row and the smallest of their column."""
    points = []
    for r, row in enumerate(grid):
        for c, value in enumerate(row):
            column = [other[c] for other in grid if c < len(other)]
            if value == max(row) and value == min(column):
                points.append((r, c))
    return points


def local_lows(grid: list[list[int]]) -> dict[tuple[int, int], int]:
    """Find the cells lower than all cells beside, above and below them."""
    lows: dict[tuple[int, int], int] = {}
    for r, row in enumerate(grid):
        for c, value in enumerate(row):
            around = row[max(0, c - 1):c] + row[c + 1:c + 2]
            if r > 0 and c < len(grid[r - 1]):
                around.append(grid[r - 1][c])
            if r + 1 < len(grid) and c < len(grid[r + 1]):
                around.append(grid[r + 1][c])
            if all(value < other for other in around):
                lows[r, c] = value
    return lows


def diagonal_sums(grid: list[list[int]]) -> tuple[int, int]:
    """Return the sums of the main and the other diagonal of a square grid."""
    size = len(grid)
    if any(len(row) != size for row in grid):
        raise ValueError("grid is not square")
    main = other = 0
    for index in range(size):
        main += grid[index][index]
        other += grid[index][size - 1 - index]
    return main, other


def drop_stones(grid: list[str]) -> list[str]:
    """Let the 'o' stones of every column fall to the bottom of a rectangular grid."""
    if not grid:
        return []
    height = len(grid)
    columns = []
    for column in zip(*grid):
        stones = column.count("o")
        columns.append("." * (height - stones) + "o" * stones)
    return ["".join(cells) for cells in zip(*columns)]


def cheapest_descent(costs: list[list[int]]) -> int:
    """Return the least cost to go from the top row to the bottom row, straight or diagonally."""
    if not costs:
        return 0
    best = list(costs[0])
    for row in costs[1:]:
        following = []
        for column, cost in enumerate(row):
            reachable = best[max(0, column - 1):column + 2]
            if not reachable:
                raise ValueError("row too long")
            following.append(cost + min(reachable))
        best = following
    return min(best, default=0)


def tile_grid(tile: list[list[int]], down: int, across: int, step: int) -> list[list[int]]:
    """Repeat a tile down and across; the values rise by step with every tile to the right."""
    rows: list[list[int]] = []
    for _ in range(down):
        for row in tile:
            line: list[int] = []
            for copy in range(across):
                line.extend(value + copy * step for value in row)
            rows.append(line)
    return rows


def symmetric_gap(grid: list[list[int]]) -> int:
    """Return the largest difference between mirrored cells of a square grid, or -1 if not square."""
    size = len(grid)
    worst = 0
    for r, row in enumerate(grid):
        if len(row) != size:
            return -1
        for c in range(r):
            worst = max(worst, abs(row[c] - grid[c][r]))
    return worst


def first_full_run(board: list[str], needed: int) -> str:
    """Return the mark that fills needed cells in a row of the board, rows first from the top, or ''."""
    if needed < 1:
        raise ValueError("needed must be positive")
    lines = list(board) + ["".join(column) for column in zip(*board)]
    for line in lines:
        run = 0
        for index, mark in enumerate(line):
            run = run + 1 if index > 0 and line[index - 1] == mark else 1
            if mark != "." and run >= needed:
                return mark
    return ""


def block_sum(grid: list[list[int]], corner: tuple[int, int], size: int) -> int:
    """Add up the square block of a size whose upper left cell is the corner, clipped to the grid."""
    top, left = corner
    if top < 0 or left < 0:
        raise IndexError("corner outside of the grid")
    total = 0
    for row in grid[top:top + size]:
        total += sum(row[left:left + size])
    return total


def anti_diagonals(grid: list[list[int]]) -> list[list[int]]:
    """Group the cells of a grid by the sum of their row and column numbers, top cells first."""
    groups: list[list[int]] = []
    for r, row in enumerate(grid):
        for c, value in enumerate(row):
            while len(groups) <= r + c:
                groups.append([])
            groups[r + c].append(value)
    return groups


def enlarge(grid: list[str], factor: int) -> list[str]:
    """Blow up a picture so that every character becomes a square of factor by factor."""
    if factor < 1:
        raise ValueError("factor must be positive")
    rows = []
    for line in grid:
        wide = "".join(char * factor for char in line)
        rows.extend([wide] * factor)
    return rows


def remove_full_rows(board: list[list[int]], width: int) -> tuple[list[list[int]], int]:
    """Take out rows without a zero and refill the top with empty rows; return board and score."""
    kept = [row[:] for row in board if len(row) < width or 0 in row]
    cleared = len(board) - len(kept)
    score = 0
    for bonus in range(1, cleared + 1):
        score += 10 * bonus
    return [[0] * width for _ in range(cleared)] + kept, score


def pad_table(rows: list[list[str]], gap: int) -> list[str]:
    """Lay out text cells in left-aligned columns that are gap characters apart."""
    widths: list[int] = []
    for row in rows:
        for column, cell in enumerate(row):
            if column == len(widths):
                widths.append(0)
            widths[column] = max(widths[column], len(cell))
    space = " " * gap
    return [space.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def visible_towers(heights: list[list[int]]) -> int:
    """Count the towers that can be seen from the left end of their row."""
    visible = 0
    for row in heights:
        tallest = -1
        for height in row:
            if height > tallest:
                visible += 1
                tallest = height
    return visible


def draw_diamond(size: int, radius: int) -> list[str]:
    """Draw a square picture with a diamond of a radius around the middle of its odd size."""
    if size < 1 or size % 2 == 0:
        raise ValueError("size must be odd")
    middle = size // 2
    lines = []
    for row in range(size):
        line = ""
        for column in range(size):
            away = abs(row - middle) + abs(column - middle)
            line += "#" if away <= radius else "."
        lines.append(line)
    return lines


def small_determinant(grid: list[list[int]]) -> int:
    """Return the determinant of a square grid with at most three rows."""
    size = len(grid)
    if size > 3 or any(len(row) != size for row in grid):
        raise ValueError("unsupported shape")
    if size == 1:
        return grid[0][0]
    if size == 2:
        return grid[0][0] * grid[1][1] - grid[0][1] * grid[1][0]
    total = 0 if size else 1
    for c in range(size):
        left, right = (c + 1) % 3, (c + 2) % 3
        total += grid[0][c] * (grid[1][left] * grid[2][right] - grid[1][right] * grid[2][left])
    return total


def follow_arrows(grid: list[str], limit: int) -> tuple[int, int, int]:
    """Follow '>' and 'v' from the upper left; return the last cell and the steps taken."""
    row = column = steps = 0
    while steps < limit and row < len(grid) and column < len(grid[row]):
        mark = grid[row][column]
        if mark == ">":
            column += 1
        elif mark == "v":
            row += 1
        else:
            break
        steps += 1
    return row, column, steps


def sparse_entries(grid: list[list[int]], least: int) -> dict[tuple[int, int], int]:
    """Keep the cells of a grid whose size without sign is at least the given one, by position."""
    return {
        (r, c): value
        for r, row in enumerate(grid)
        for c, value in enumerate(row)
        if value != 0 and abs(value) >= least
    }


def check_latin(square: list[list[int]]) -> bool:
    """Say whether every row and column of a square holds each of the numbers 1 to its size once."""
    size = len(square)
    wanted = list(range(1, size + 1))
    for row in square:
        if sorted(row) != wanted:
            return False
    for c in range(size):
        if sorted(row[c] for row in square) != wanted:
            return False
    return size > 0


def border_sum(grid: list[list[int]], depth: int) -> int:
    """Add up the cells of a grid that lie less than depth cells away from its edge."""
    if depth <= 0:
        return 0
    total = 0
    for r, row in enumerate(grid):
        for c, value in enumerate(row):
            distance = min(r, c, len(grid) - 1 - r, len(row) - 1 - c)
            if distance < depth:
                total += value
    return total


def shear_rows(grid: list[list[int]], step: int, fill: int) -> list[list[int]]:
    """Shift every row to the right by step places more than the one above, filling up on both sides."""
    if step < 0:
        raise ValueError("negative step")
    total = step * max(0, len(grid) - 1)
    sheared = []
    for number, row in enumerate(grid):
        indent = number * step
        sheared.append([fill] * indent + row + [fill] * (total - indent))
    return sheared


def plus_shapes(grid: list[list[int]]) -> int:
    """Count the inner cells of a grid that equal the sum of their upper and left neighbours."""
    count = 0
    for r in range(1, len(grid)):
        for c in range(1, min(len(grid[r]), len(grid[r - 1]))):
            if grid[r][c] == grid[r - 1][c] + grid[r][c - 1]:
                count += 1
    return count


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "column_totals": [([[1, 2], [3, 4]],), ([[1], [2, 3, 4], []],), ([],), ([[-1, 5]],), ([[], []],)],
    "turn_clockwise": [([[1, 2], [3, 4]], 1), ([[1, 2, 3]], 2), ([[1, 2, 3], [4, 5, 6]], -1), ([], 3),
        ([[1], [2]], 4)],
    "spiral_walk": [([[1, 2, 3], [4, 5, 6], [7, 8, 9]],), ([[1, 2], [3, 4], [5, 6]],), ([],), ([[]],),
        ([[1], [2]],), ([[1, 2, 3, 4], [5, 6, 7, 8], [9, 1, 2, 3]],)],
    "matrix_product": [([[1, 2], [3, 4]], [[5, 6], [7, 8]]), ([[1, 2, 3]], [[1], [2], [3]]), ([[1]], []),
        ([], [[1]]), ([[]], [])],
    "lit_cells": [(["...", ".#.", "..."], 0, 0), (["#"], 0, 0), (["..#."], 0, 1),
        ([".", ".", "#", "."], 1, 0), (["...", "...", "..."], 1, 1), (["."], 1, 0), ([".", "."], -1, 0),
        (["."], 0, 1)],
    "saddle_points": [([[1, 2], [3, 4]],), ([[5, 5], [6, 7]],), ([],), ([[3]],),
        ([[9, 8, 7], [5, 3, 2], [6, 6, 7]],)],
    "local_lows": [([[2, 1, 9], [3, 9, 8], [9, 8, 5]],), ([[4]],), ([],), ([[1, 1]],),
        ([[5, 2, 7], [1], [0, 3]],), ([[7, 3], [3, 2]],)],
    "diagonal_sums": [([[1, 2], [3, 4]],), ([[1, 2, 3], [4, 5, 6], [7, 8, 0]],), ([],), ([[7]],),
        ([[1, 2]],)],
    "drop_stones": [(["o.", ".o", ".."],), (["oo", "o."],), ([],), (["..", "o."],), (["o.o", "...", "..o"],)],
    "cheapest_descent": [([[1, 9], [9, 2]],), ([[3, 1, 5], [4, 8, 1], [2, 7, 6]],), ([],), ([[4, 2]],),
        ([[1], [2, 3, 4]],), ([[9, 9, 1, 9], [1, 9, 9, 2]],)],
    "tile_grid": [([[1, 2]], 2, 2, 10), ([[3], [4]], 1, 3, 1), ([], 2, 2, 1), ([[5]], 0, 4, 2),
        ([[6, 0]], 1, 1, 7)],
    "symmetric_gap": [([[1, 2], [5, 3]],), ([[1, 4], [4, 0]],), ([],), ([[1, 2]],),
        ([[0, 1, 9], [3, 0, 2], [5, 2, 0]],), ([[1], [2, 3]],)],
    "first_full_run": [(["xx.", "oo.", "..."], 2), (["xo", "xo"], 2), (["x.o"], 2), ([], 1), (["x"], 0),
        (["....", ".ooo", "xxx."], 3), (["o"], 1)],
    "block_sum": [([[1, 2, 3], [4, 5, 6]], (0, 1), 2), ([[1, 2], [3, 4]], (1, 1), 3), ([[5]], (-1, 0), 1),
        ([], (0, 0), 2), ([[7, 8]], (0, 0), 1), ([[9]], (0, -1), 1)],
    "anti_diagonals": [([[1, 2], [3, 4]],), ([[1, 2, 3]],), ([],), ([[1], [2], [3]],), ([[1], [2, 3, 4]],)],
    "enlarge": [(["ab"], 2), (["a", "b"], 3), ([], 2), (["xy"], 0), (["#.", ".#"], 1)],
    "remove_full_rows": [([[1, 1], [0, 1]], 2), ([[1, 1], [2, 2]], 2), ([], 3), ([[1, 0, 2]], 3),
        ([[1], [3, 3]], 2), ([[1], [0], [4], [5]], 1)],
    "pad_table": [([["a", "bbb"], ["cc", "d"]], 1), ([["x"], ["yy", "z"]], 2), ([], 1), ([["", "q"]], 3),
        ([["one", "2", "x"], ["4"]], 0)],
    "visible_towers": [([[1, 3, 2, 4]],), ([[2, 2], [0]],), ([],), ([[], [5, 4, 3]],),
        ([[0, 1, 1, 2], [3, 3, 9]],)],
    "draw_diamond": [(3, 1), (5, 1), (1, 0), (4, 2), (5, 3), (3, -1), (-1, 1)],
    "small_determinant": [([[1, 2], [3, 4]],), ([[2, 0, 1], [1, 3, 2], [1, 1, 4]],), ([],), ([[7]],),
        ([[1, 2]],), ([[1, 2, 3], [4, 5, 6], [7, 8, 10]],)],
    "follow_arrows": [([">v", ".v", ".x"], 9), ([">>>"], 5), ([], 3), (["v", "v", "v"], 2), (["."], 4)],
    "sparse_entries": [([[0, 5], [-3, 1]], 2), ([[1, 0]], 0), ([], 1), ([[4, -4]], 4), ([[2], [1, 9]], 3)],
    "check_latin": [([[1, 2], [2, 1]],), ([[1, 2], [1, 2]],), ([[1, 1], [2, 2]],), ([],), ([[1]],),
        ([[1, 2, 3], [2, 3, 1], [3, 1, 2]],)],
    "border_sum": [([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 1), ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 2), ([[4]], 0),
        ([], 1), ([[1, 1, 1, 1], [2, 2, 2, 2], [3, 5, 3, 3]], 1), ([[8], [9]], -1)],
    "shear_rows": [([[1, 2], [3, 4]], 1, 0), ([[5], [6], [7]], 2, 9), ([], 1, 0), ([[1]], -1, 0),
        ([[8, 8], [1]], 0, 3)],
    "plus_shapes": [([[1, 2], [3, 5]],), ([[1, 1, 1], [1, 2, 3], [1, 3, 6]],), ([],), ([[4, 4]],),
        ([[0, 1], [2, 4]],)],
}
