"""Part II of pack/FORMAT.md, section 8: the coder rans12."""
import numpy as np

from .container import require
from .rans import Cursor, unpack_selectors

LANES = 64
SECTION_GROUPS = 512 // LANES
TAIL_GROUPS = 2
SIZE_MIN = 128
SLOTS = 4096
LEVEL_MAX = 96
UNARY_MAX = 12
# The lane of symbol i of a group.
LANE_OF_SYMBOL = np.array([16 * (i % 4) + i // 4 for i in range(LANES)])


class Bits:
    """A string of bits from the lowest of the first byte on."""

    def __init__(self, data):
        self.value = int.from_bytes(data, "little")
        self.size = 8 * len(data)
        self.position = 0

    def take(self, width):
        require(self.position + width <= self.size, "rans12: tables are cut short")
        found = self.value >> self.position & (1 << width) - 1
        self.position += width
        return found


def take_level_difference(bits, rice):
    ones = 0
    while ones < UNARY_MAX and bits.take(1):
        ones += 1
    z = bits.take(8) if ones == UNARY_MAX else (ones << rice) + bits.take(rice)
    return z // 2 if z % 2 == 0 else -(z + 1) // 2


def take_levels(bits, rice, count):
    levels, last, zeros = [], 0, 0
    while len(levels) < count:
        level = last + take_level_difference(bits, rice)
        require(0 <= level <= LEVEL_MAX, "rans12: level")
        levels.append(level)
        if level:
            last, zeros = level, 0
            continue
        zeros += 1
        if zeros == 2:
            run = bits.take(8)
            require(len(levels) + run <= count, "rans12: a run of zeros beyond the last value")
            levels += [0] * run
            zeros = 0
    return levels


def weight_of_level(level):
    v = level - 1
    return 0 if level == 0 else v if v < 8 else (8 + v % 8) << (v // 8 - 1)


class Table:
    """frequency, offset in its entry (slot - start) and symbol of each slot."""

    def __init__(self, bits, marker):
        mirror = bits.take(8)
        doublings = mirror.bit_count()
        require(doublings <= 2, "rans12: mirror")
        escape = bits.take(8) << doublings if marker is not None else 0
        rice = bits.take(3)
        coded = [value for value in range(256) if value & mirror == 0]
        levels = take_levels(bits, rice, len(coded))
        count = sum(level != 0 for level in levels)
        weights = [weight_of_level(level) for level in levels]
        total = sum(weights)
        require(count << doublings >= 2 and total > 0, "rans12: a table of less than two values")
        room = (SLOTS - escape >> doublings) - count
        frequency_of, before = {}, 0
        for value, level, weight in zip(coded, levels, weights):
            after = before + weight
            frequency_of[value] = 1 + after * room // total - before * room // total if level else 0
            before = after
        sizes = [frequency_of[value & ~mirror] for value in range(256)] + [escape]
        symbols = [*range(256), marker or 0]
        assert sum(sizes) == SLOTS
        self.frequency = np.repeat(sizes, sizes).astype(np.uint32)
        self.offset = np.concatenate([np.arange(size) for size in sizes]).astype(np.uint32)
        self.symbol = np.repeat(symbols, sizes).astype(np.uint8)


class Plane:
    """Section 8.1, checked."""

    def __init__(self, data, size):
        require(size >= SIZE_MIN, "rans12: a short plane")
        cursor = Cursor(data)
        shape = cursor.number(1)
        require(shape & 3 <= 2 and shape & 0xF8 == 0, "rans12: shape")
        self.padded = -(-size // LANES) * LANES
        self.groups = self.padded // LANES - TAIL_GROUPS
        self.marker, literal_count = None, 0
        if shape & 4:
            self.marker = cursor.number(1)
            literal_count = cursor.number(3)
            require(literal_count <= self.padded, "rans12: literal_count")
        bits = Bits(data[cursor.position:])
        self.tables = [Table(bits, self.marker) for _ in range(1 << (shape & 3))]
        cursor.take((bits.position + 7) // 8)
        sections = -(-self.padded // (SECTION_GROUPS * LANES))
        self.table_of_section = unpack_selectors(cursor, shape & 3, sections)
        self.literals = np.frombuffer(cursor.take(literal_count), np.uint8)
        self.state = np.frombuffer(cursor.take(4 * LANES), "<u4").astype(np.uint32)
        words = cursor.take(len(data) - cursor.position)
        require(len(words) % 2 == 0, "rans12: half a word")
        self.words = np.frombuffer(words, "<u2").astype(np.uint32)


def decode(data, size):
    plane = Plane(data, size)
    state, position = plane.state, 0
    lanes = np.empty((plane.groups + TAIL_GROUPS, LANES), np.uint8)
    for group in range(plane.groups):
        table = plane.tables[plane.table_of_section[group // SECTION_GROUPS]]
        slot = state & SLOTS - 1
        lanes[group] = table.symbol[slot]
        state = table.frequency[slot] * (state >> 12) + table.offset[slot]
        starved = np.flatnonzero(state < 65536)
        words = plane.words[position:position + starved.size]
        require(words.size == starved.size, "rans12: too few words")
        state[starved] = state[starved] << 16 | words
        position += starved.size
    require(position == plane.words.size, "rans12: words left")
    require((state >> 16 == 1).all(), "rans12: final states")
    symbols = lanes[:plane.groups][:, LANE_OF_SYMBOL].reshape(-1)
    if plane.marker is not None:
        marked = symbols == plane.marker
        require(marked.sum() == plane.literals.size, "rans12: literal_count")
        symbols[marked] = plane.literals
    tail = np.stack([state & 255, state >> 8 & 255]).astype(np.uint8)[:, LANE_OF_SYMBOL]
    return (symbols.tobytes() + tail.tobytes())[:size]
