"""Planes of the coders rans12 and bits, from pack/FORMAT.md sections 8 and 9. For trunk_writer.py."""
import struct

import numpy as np

from trunk_format.rans12 import (
    LANE_OF_SYMBOL, LANES, LEVEL_MAX, SECTION_GROUPS, SLOTS, TAIL_GROUPS, UNARY_MAX, weight_of_level)

WEIGHTS = [weight_of_level(level) for level in range(LEVEL_MAX + 1)]
RICE = 2


class Shape12:
    """tables, bits of the mirror, and whether rare values become literals."""

    def __init__(self, tables=1, mirror=0, marked=False):
        self.tables = tables
        self.mirror = mirror
        self.marked = marked


class BitString:
    def __init__(self):
        self.value = 0
        self.size = 0

    def put(self, value, width):
        self.value |= value << self.size
        self.size += width

    def to_bytes(self):
        return self.value.to_bytes((self.size + 7) // 8, "little")


def put_difference(bits, difference):
    z = 2 * difference if difference >= 0 else -2 * difference - 1
    ones = z >> RICE
    if ones < UNARY_MAX:
        bits.put((1 << ones) - 1, ones + 1)
        bits.put(z & (1 << RICE) - 1, RICE)
    else:
        bits.put((1 << UNARY_MAX) - 1, UNARY_MAX)
        bits.put(z, 8)


def put_levels(bits, levels):
    position, last, zeros = 0, 0, 0
    while position < len(levels):
        level = levels[position]
        put_difference(bits, level - last)
        position += 1
        if level:
            last, zeros = level, 0
            continue
        zeros += 1
        if zeros == 2:
            run = 0
            while run < 255 and position + run < len(levels) and levels[position + run] == 0:
                run += 1
            bits.put(run, 8)
            position, zeros = position + run, 0


class Table:
    """Levels near the histogram of the values kept; frequency and start of each byte value."""

    def __init__(self, histogram, mirror, escape_units):
        self.mirror, self.escape_units = mirror, escape_units
        doublings = mirror.bit_count()
        coded = [value for value in range(256) if value & mirror == 0]
        counts = np.zeros(256, np.int64)
        np.add.at(counts, np.arange(256) & ~mirror, histogram)
        counts = counts[coded]
        wanted = counts * 12000 / max(1, counts.max())
        self.levels = [0 if count == 0 else max(2, int(np.abs(np.array(WEIGHTS) - want).argmin()))
                       for count, want in zip(counts, wanted)]
        if sum(map(bool, self.levels)) << doublings < 2:  # a table has two values at least
            self.levels[0 if self.levels[0] == 0 else 1] = 2
        self.escape = escape_units << doublings
        room = (SLOTS - self.escape >> doublings) - sum(map(bool, self.levels))
        total = sum(WEIGHTS[level] for level in self.levels)
        frequency, before = np.zeros(256, np.uint64), 0
        for value, level in zip(coded, self.levels):
            after = before + WEIGHTS[level]
            frequency[value] = 1 + after * room // total - before * room // total if level else 0
            before = after
        self.frequency = frequency[np.arange(256) & ~mirror]
        self.start = np.cumsum(self.frequency) - self.frequency

    def put(self, bits, marked):
        bits.put(self.mirror, 8)
        if marked:
            bits.put(self.escape_units, 8)
        bits.put(RICE, 3)
        put_levels(bits, self.levels)


def choose_tables(symbols, shape):
    """(tables, table of each section, which values become literals)"""
    section = SECTION_GROUPS * LANES
    sections = -(-symbols.size // section)
    selectors = np.arange(sections, dtype=np.uint8) % shape.tables
    of_symbol = np.repeat(selectors, section)[:symbols.size]
    rare = np.zeros(256, bool)
    if shape.marked:
        histogram = np.bincount(symbols, minlength=256)
        rare = histogram * 200 < symbols.size
        if (histogram[~rare] > 0).sum() < 2:
            rare[:] = False
    tables = []
    for number in range(shape.tables):
        histogram = np.bincount(symbols[of_symbol == number], minlength=256)
        histogram[rare] = 0
        tables.append(Table(histogram, shape.mirror, 24 if shape.marked else 0))
    return tables, selectors, rare


def encode_rans12(plane, shape):
    symbols = np.pad(plane, (0, -plane.size % LANES))
    groups = symbols.size // LANES - TAIL_GROUPS
    body, tail = symbols[:groups * LANES], symbols[groups * LANES:].reshape(TAIL_GROUPS, LANES)
    tables, selectors, rare = choose_tables(symbols, shape)
    marker = int(rare.argmax()) if shape.marked else None
    # The marker's own value must not pass for an escape.
    literal = rare.copy()
    if shape.marked:
        literal[marker] = True
    rows = np.empty((groups, LANES), np.uint8)
    rows[:, LANE_OF_SYMBOL] = body.reshape(groups, LANES)
    lane_tail = np.empty((TAIL_GROUPS, LANES), np.uint64)
    lane_tail[:, LANE_OF_SYMBOL] = tail
    state = np.uint64(65536) + (lane_tail[1] << np.uint64(8) | lane_tail[0])
    chunks = []
    for group in range(groups - 1, -1, -1):
        table = tables[selectors[group // SECTION_GROUPS]]
        escaped = literal[rows[group]]
        frequency = np.where(escaped, table.escape, table.frequency[rows[group]]).astype(np.uint64)
        start = np.where(escaped, SLOTS - table.escape, table.start[rows[group]]).astype(np.uint64)
        full = state >= frequency << np.uint64(20)
        chunks.append((state[full] & np.uint64(65535)).astype("<u2").tobytes())
        state = np.where(full, state >> np.uint64(16), state)
        state = (state // frequency << np.uint64(12)) + state % frequency + start
    bits = BitString()
    for table in tables:
        table.put(bits, shape.marked)
    table_bits = shape.tables.bit_length() - 1
    picked = np.unpackbits(selectors[:, None], axis=1, bitorder="little")[:, :table_bits].reshape(-1)
    literals = body[literal[body]].tobytes()
    header = bytes([table_bits | (4 if shape.marked else 0)])
    if shape.marked:
        header += bytes([marker]) + len(literals).to_bytes(3, "little")
    return header + bits.to_bytes() + np.packbits(picked, bitorder="little").tobytes() + literals \
        + struct.pack("<64I", *map(int, state)) + b"".join(chunks[::-1])


def encode_bits(plane):
    differing = int(np.bitwise_or.reduce(plane) & ~np.bitwise_and.reduce(plane))
    if differing == 0:
        differing = 1
    value = int(plane[0]) & ~differing & 255
    symbols = np.pad(plane, (0, -plane.size % 64)).reshape(-1, 64)
    places = [place for place in range(8) if differing >> place & 1]
    planes = np.stack([symbols >> place & 1 for place in places], axis=1)
    return bytes([differing, value]) + np.packbits(planes.reshape(-1), bitorder="little").tobytes()
