"""Corpus, topic `bits`: flags, masks, checksums and packed numbers."""


def count_flags(mask: int, width: int) -> int:
    """Count the flags that are set among the lowest bits of a mask."""
    if width < 0:
        raise ValueError("width must not be negative")
    total = 0
    for position in range(width):
        if mask >> position & 1:
            total += 1
    return total


def highest_flag(mask: int) -> int:
    """Return the position of the highest set flag, or -1 for an empty mask."""
    if mask <= 0:
        return -1
    position = 0
    while mask > 1:
        mask //= 2
        position += 1
    return position


def flag_names(mask: int, names: list[str]) -> list[str]:
    """List the names of the set flags, the lowest bit first."""
    if mask >= 1 << len(names):
        raise ValueError("unknown flag")
    active = []
    for bit, name in enumerate(names):
        if mask & (1 << bit):
            active.append(name)
    return active


def pack_nibbles(nibbles: list[int]) -> int:
    """Pack numbers from 0 to 15 into one number, the first on top."""
    packed = 0
    for nibble in nibbles:
        if not 0 <= nibble <= 15:
            raise ValueError("not a nibble")
        packed = packed << 4 | nibble
    return packed


def unpack_bytes(value: int, size: int) -> list[int]:
    """Split a number into bytes, the lowest first, and refuse what does not fit."""
    if value < 0 or size < 0:
        raise ValueError("negative")
    parts = []
    rest = value
    for _ in range(size):
        parts.append(rest % 256)
        rest //= 256
    if rest > 0:
        raise ValueError("number too big")
    return parts


def reverse_in_word(value: int, width: int) -> int:
    """Mirror the lowest bits of a value within a word."""
    mirrored = 0
    for i in range(width):
        bit = (value >> i) & 1
        mirrored |= bit << (width - 1 - i)
    return mirrored


def turn_word_left(value: int, shift: int, width: int) -> int:
    """Rotate a word of the given width to the left, any shift being allowed."""
    if width <= 0:
        return 0
    full = (1 << width) - 1
    word = value & full
    shift %= width
    return ((word << shift) | (word >> (width - shift))) & full


def longest_one_run(value: int) -> int:
    """Return the length of the longest run of set bits of a number."""
    if value < 0:
        raise ValueError("negative value")
    longest = run = 0
    while value:
        run = run + 1 if value & 1 else 0
        longest = max(longest, run)
        value >>= 1
    return longest


def toggled_mask(known: list[str], names: list[str], mask: int) -> int:
    """Toggle the flags of the given names in a mask, unknown names being passed over."""
    if len(set(known)) != len(known):
        raise ValueError("flag named twice")
    for name in names:
        try:
            position = known.index(name)
        except ValueError:
            continue
        mask ^= 1 << position
    return mask


def bits_to_flip(before: list[int], after: list[int]) -> int:
    """Count the bits that change between two register dumps of equal size."""
    if len(before) != len(after):
        raise ValueError("dumps differ in size")
    flips = 0
    for old, new in zip(before, after):
        difference = abs(old) ^ abs(new)
        while difference > 0:
            flips += difference & 1
            difference >>= 1
    return flips


def to_gray(number: int) -> list[int]:
    """List the Gray codes of the numbers from 0 up to and without the given one."""
    codes = []
    for i in range(number):
        codes.append(i ^ (i >> 1))
    return codes


def from_gray(code: int) -> int:
    """Return the number that a Gray code stands for."""
    if code < 0:
        raise ValueError("negative code")
    number = 0
    while code:
        number ^= code
        code >>= 1
    return number


def mix_checksum(data: list[int], seed: int) -> int:
    """Return a 16-bit checksum that depends on the order of the bytes."""
    low, high = seed & 255, 0
    for byte in data:
        if byte < 0 or byte > 255:
            continue
        low = (low + byte) % 255
        high = (high + low) % 255
    return (high << 8) | low


def crc_step(register: int, bits: str, polynomial: int) -> int:
    """Feed a string of bits into an 8-bit shift register with feedback."""
    register &= 255
    for char in bits:
        if char not in "01":
            raise ValueError(f"not a bit: {char}")
        top = register >> 7
        register = (register << 1) & 255
        if top != int(char):
            register ^= polynomial & 255
    return register


def run_lengths(bits: str) -> list[int]:
    """Encode a bit string as lengths of alternating runs that start with zeros."""
    runs = [0]
    current = "0"
    for bit in bits:
        if bit == current:
            runs[-1] += 1
        else:
            runs.append(1)
            current = bit
    return runs


def permission_text(mode: int) -> str:
    """Spell a permission number of nine bits in the manner of a file listing."""
    if mode < 0 or mode > 511:
        raise ValueError("mode out of range")
    text = ""
    for i in range(9):
        letter = "rwx"[i % 3]
        text += letter if mode & (256 >> i) else "-"
    return text


def address_in_block(address: list[int], block: list[int], prefix: int) -> bool:
    """Tell if a four-part address shares the leading bits of a block."""
    if len(address) != 4 or len(block) != 4 or not 0 <= prefix <= 32:
        raise ValueError("bad address or prefix")
    left = right = 0
    for a, b in zip(address, block):
        left = left * 256 + a
        right = right * 256 + b
    shift = 32 - prefix
    return left >> shift == right >> shift


def subset_with_mask(items: list[str], mask: int) -> tuple[list[str], list[str]]:
    """Part the items into those picked by a mask and those left behind."""
    picked: list[str] = []
    left: list[str] = []
    for item in items:
        if mask % 2 == 1:
            picked.append(item)
        else:
            left.append(item)
        mask //= 2
    return picked, left


def cheapest_flag_set(costs: list[int], covers: list[int], goal: int) -> int:
    """Return the least cost of a choice of modules which covers all goal bits, or -1."""
    best = -1
    size = min(len(costs), len(covers))
    for choice in range(1 << size):
        cost = covered = 0
        for i in range(size):
            if choice >> i & 1:
                cost += costs[i]
                covered |= covers[i]
        if covered & goal == goal and (best < 0 or cost < best):
            best = cost
    return best


def zigzag_numbers(values: list[int]) -> list[int]:
    """Map signed numbers to unsigned ones so that small sizes stay small."""
    mapped = []
    for value in values:
        if value >= 0:
            mapped.append(value * 2)
        else:
            mapped.append(-value * 2 - 1)
    return mapped


def varint_groups(value: int) -> list[int]:
    """Split a number into groups of seven bits, marked where more groups follow."""
    if value < 0:
        raise ValueError("unsigned only")
    groups = []
    while value >= 128:
        groups.append(value % 128 + 128)
        value //= 128
    groups.append(value)
    return groups


def signed_from_word(word: int, width: int) -> int:
    """Read the lowest bits of a word as a signed number in two's complement."""
    if width < 1:
        raise ValueError("no bits to read")
    limit = 1 << width
    value = word % limit
    if value >= limit // 2:
        value -= limit
    return value


def interleave_axes(x: int, y: int) -> int:
    """Weave the bits of two coordinates into one key, x in the even places."""
    if x < 0 or y < 0:
        raise ValueError("negative coordinate")
    key, place = 0, 0
    while x or y:
        key |= (x & 1) << place
        key |= (y & 1) << (place + 1)
        x >>= 1
        y >>= 1
        place += 2
    return key


def free_slots(bitmap: list[int], wanted: int) -> int:
    """Return the start of the first run of zero bits in 8-bit words that is long enough."""
    run = 0
    for position in range(len(bitmap) * 8):
        word, bit = divmod(position, 8)
        if bitmap[word] & (1 << bit):
            run = 0
            continue
        run += 1
        if run >= wanted:
            return position - run + 1
    return -1


def scale_color(color: int, percent: int) -> int:
    """Darken a 24-bit colour channel by channel to a percentage of its light."""
    percent = max(0, min(percent, 100))
    result = 0
    for shift in (16, 8, 0):
        channel = color >> shift & 255
        result |= channel * percent // 100 << shift
    return result


def shared_high_bits(first: int, last: int) -> tuple[int, int]:
    """Return the common leading bits of two numbers and how many low bits differ."""
    dropped = 0
    while first != last and dropped < 64:
        first >>= 1
        last >>= 1
        dropped += 1
    return first, dropped


def lone_values(readings: list[int]) -> list[int]:
    """List the values that occur an odd number of times, in rising order."""
    odd: set[int] = set()
    for reading in readings:
        if reading in odd:
            odd.remove(reading)
        else:
            odd.add(reading)
    return sorted(odd)


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "count_flags": [(13, 4), (13, 3), (0, 5), (7, 0), (5, -1), (-1, 6), (8, 3)],
    "highest_flag": [(8,), (7,), (1,), (0,), (-5,), (2,), (37,)],
    "flag_names": [(5, ["r", "w", "x"]), (8, ["r", "w", "x"]), (0, []), (1, []), (-1, ["p", "q"]),
        (2, ["p", "q"])],
    "pack_nibbles": [([1, 2, 3],), ([15, 0],), ([16],), ([-1],), ([],), ([0, 9, 15],)],
    "unpack_bytes": [(513, 2), (255, 1), (256, 1), (0, 0), (-1, 2), (3, -1), (1, 0), (70000, 3)],
    "reverse_in_word": [(1, 4), (6, 4), (13, 3), (5, 0), (2, 8), (-1, 5)],
    "turn_word_left": [(9, 1, 4), (9, 5, 4), (3, -1, 4), (7, 2, 0), (18, 0, 4), (1, 1, 1), (11, 3, 6)],
    "longest_one_run": [(55,), (0,), (1,), (-3,), (29,), (42,), (231,)],
    "toggled_mask": [(["r", "w", "x"], ["w", "x"], 2), (["r"], ["q"], 5), (["a", "a"], [], 0), ([], [], 7),
        (["p", "q"], ["q", "q", "p"], 0)],
    "bits_to_flip": [([5, 0], [3, 1]), ([1], []), ([], []), ([7], [-7]), ([0, -8], [15, 1]), ([6], [6])],
    "to_gray": [(4,), (0,), (1,), (-2,), (9,)],
    "from_gray": [(6,), (0,), (1,), (-1,), (13,), (8,)],
    "mix_checksum": [([1, 2], 1), ([2, 1], 1), ([256, -1, 255], 0), ([], 300), ([0, 254], 3),
        ([100, 100, 100, 100], 255)],
    "crc_step": [(0, "1011", 7), (255, "0", 29), (128, "1", 7), (1, "2", 7), (300, "", 7),
        (77, "110100", 49)],
    "run_lengths": [("0011101",), ("1",), ("",), ("000",), ("1100",), ("01x",)],
    "permission_text": [(493,), (0,), (511,), (512,), (-1,), (420,), (73,)],
    "address_in_block": [([10, 1, 2, 3], [10, 1, 0, 0], 16), ([10, 1, 2, 3], [10, 1, 0, 0], 23),
        ([1], [1], 8), ([1, 1, 1, 1], [1, 1, 1, 1], 32), ([0, 0, 0, 0], [9, 9, 9, 9], 0), ([0, 0, 0, 0], [0, 0, 0, 0], 33),
        ([0, 0, 0, 0], [0], 1)],
    "subset_with_mask": [(["a", "b", "c"], 5), (["a"], 0), ([], 3), (["a", "b"], -1),
        (["p", "q", "r", "s"], 6)],
    "cheapest_flag_set": [([3, 2, 4], [1, 2, 3], 3), ([5, 5], [1, 2], 4), ([], [], 0), ([1], [1, 2], 1),
        ([9, 2, 2], [7, 3, 4], 7), ([4, 4], [2, 6], 2)],
    "zigzag_numbers": [([0, -1, 1, -2],), ([],), ([-30],), ([59],), ([2, 2, -3],)],
    "varint_groups": [(300,), (127,), (128,), (0,), (-1,), (70000,)],
    "signed_from_word": [(15, 4), (7, 4), (8, 4), (1, 1), (3, 0), (-3, 5), (20, 4)],
    "interleave_axes": [(3, 1), (0, 0), (0, 2), (-1, 0), (0, -1), (5, 6)],
    "free_slots": [([255, 1], 2), ([7], 5), ([7], 6), ([], 1), ([254, 0], 3), ([0b10010001], 2),
        ([128, 1, 0], 8)],
    "scale_color": [(16711935, 50), (255, 100), (65280, 0), (1, 99), (66051, 150), (8421504, -5),
        (13158, 33)],
    "shared_high_bits": [(12, 15), (5, 5), (0, 1), (-1, 3), (40, 47), (16, 8)],
    "lone_values": [([1, 2, 1],), ([],), ([4, 4, 4],), ([7, 7],), ([3, -1, 2, -1],), ([9, 8],)],
}
