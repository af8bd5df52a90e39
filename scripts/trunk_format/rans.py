"""Part II of pack/FORMAT.md, section 7: the coders rans and rest.

All lanes of all streams are one vector. The loop over groups only advances the states and
notes each symbol's slot; symbols and escapes are looked up for the whole plane afterwards.
"""
import numpy as np

from .container import Corrupt, require

LANES = 64
SECTION = 512
STREAM_SIZE_MIN = 128
CARRY_PER_STREAM = 120
FINAL_STATE = 256
LITERAL_NIBBLE = 15


class Cursor:
    """Takes bytes off the front of a plane; never past its end."""

    def __init__(self, data):
        self.data = data
        self.position = 0

    def take(self, size):
        begin, self.position = self.position, self.position + size
        require(self.position <= len(self.data), "rans: plane is cut short")
        return self.data[begin:self.position]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")


def unpack_bits(data, width, count, check_rest):
    """count numbers of width bits, lowest bits first. check_rest is given what is left over."""
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    check_rest(bits[width * count:])
    weights = (1 << np.arange(width)).astype(np.uint8)
    return (bits[:width * count].reshape(count, width) * weights).sum(axis=1, dtype=np.uint8)


def require_zero(bits):
    require(not bits.any(), "rans: unused bits")


def unpack_selectors(cursor, table_bits, sections, check_rest=lambda bits: None):
    """The table of each section."""
    if table_bits == 0:
        return np.zeros(sections, np.uint8)
    return unpack_bits(cursor.take((sections * table_bits + 7) // 8), table_bits, sections, check_rest)


class Table:
    """frequency, offset in the entry (slot - start), symbol and escape flag of each slot."""

    def __init__(self, cursor):
        head = cursor.number(1)
        count = head & 15
        require(count >= 1 and head & 0x70 == 0, "rans: head of a table")
        if head & 0x80:
            symbols = list(cursor.take(count))
            require(all(a < b for a, b in zip(symbols, symbols[1:])), "rans: symbols of a table")
        else:
            first = cursor.number(1)
            require(first + count - 1 <= 255, "rans: symbols of a table")
            symbols = list(range(first, first + count))
        frequencies = list(cursor.take(count))
        require(min(frequencies) >= 1 and sum(frequencies) <= 255, "rans: frequencies")
        # The escape is entry 0; its symbol is looked up elsewhere.
        entries = [(256 - sum(frequencies), 0)] + sorted(zip(frequencies, symbols))
        sizes = [frequency for frequency, _ in entries]
        self.frequency = np.repeat(sizes, sizes).astype(np.uint32)
        self.offset = np.concatenate([np.arange(size) for size in sizes]).astype(np.uint32)
        self.symbol = np.repeat([symbol for _, symbol in entries], sizes).astype(np.uint8)
        self.escape = np.arange(256) < sizes[0]


class Plane:
    """Section 7.1: everything before the states, checked."""

    def __init__(self, data, size):
        cursor = Cursor(data)
        shape = cursor.number(1)
        require(shape & 3 <= 2 and shape >> 2 & 3 <= 2 and shape & 0xE0 == 0, "rans: shape")
        self.streams = 1 << (shape & 3)
        self.carry = bool(shape & 16)
        self.group = LANES * self.streams
        self.padded = -(-size // self.group) * self.group
        require(not self.carry or size >= 128 * self.streams, "rans: carry in a short plane")
        list_size = cursor.number(1)
        require(list_size <= 15, "rans: list_size")
        self.escape_count = cursor.number(3)
        require(self.escape_count <= self.padded, "rans: escape_count")
        literal_count = cursor.number(3)
        require(literal_count <= self.escape_count, "rans: literal_count")
        stream_sizes = [cursor.number(3) for _ in range(self.streams - 1)]
        escape_list = cursor.take(list_size)
        table_bits = shape >> 2 & 3
        self.tables = [Table(cursor) for _ in range(1 << table_bits)]
        sections = -(-self.padded // SECTION)
        self.table_of_section = unpack_selectors(cursor, table_bits, sections, require_zero)
        nibbles = unpack_bits(cursor.take((self.escape_count + 1) // 2), 4, self.escape_count,
                              require_zero)
        self.escapes = expand_escapes(nibbles, escape_list, cursor.take(literal_count))
        stream_sizes.append(len(data) - cursor.position - sum(stream_sizes))
        require(min(stream_sizes) >= STREAM_SIZE_MIN, "rans: size of a stream")
        self.stream_data = [np.frombuffer(cursor.take(size), np.uint8) for size in stream_sizes]


def expand_escapes(nibbles, escape_list, literals):
    is_literal = nibbles == LITERAL_NIBBLE
    require(is_literal.sum() == len(literals), "rans: literal_count")
    require((nibbles[~is_literal] < len(escape_list)).all(), "rans: escape beyond the list")
    padded_list = np.zeros(16, np.uint8)
    padded_list[:len(escape_list)] = np.frombuffer(escape_list, np.uint8)
    escapes = padded_list[nibbles]
    escapes[is_literal] = np.frombuffer(literals, np.uint8)
    return escapes


def run_states(plane):
    """Slots of all symbols, one row a group, and the final states. Checks 7.5's stream ends."""
    low = np.concatenate([data[:LANES] for data in plane.stream_data]).astype(np.uint32)
    high = np.concatenate([data[LANES:2 * LANES] for data in plane.stream_data]).astype(np.uint32)
    state = high << 8 | low
    group_count = plane.padded // plane.group
    groups_per_section = SECTION // plane.group
    slots = np.empty((group_count, plane.group), np.uint8)
    streams = range(plane.streams)
    position = [STREAM_SIZE_MIN] * plane.streams
    for group in range(group_count):
        table = plane.tables[plane.table_of_section[group // groups_per_section]]
        slot = state & 255
        slots[group] = slot
        state = table.frequency[slot] * (state >> 8) + table.offset[slot]
        starved = state < 256
        for stream in streams:
            lanes = np.flatnonzero(starved[LANES * stream:LANES * (stream + 1)]) + LANES * stream
            begin, end = position[stream], position[stream] + lanes.size
            data = plane.stream_data[stream]
            require(end <= data.size, "rans: a stream is too short")
            state[lanes] = state[lanes] << 8 | data[begin:end]
            position[stream] = end
    require(all(position[stream] == plane.stream_data[stream].size for stream in streams),
            "rans: bytes left in a stream")
    return slots, state


def symbols_of(plane, slots):
    """The symbols of all slots, escapes filled in, as one array of padded size."""
    groups_per_section = SECTION // plane.group
    symbols, is_escape = np.empty_like(slots), np.empty(slots.shape, bool)
    for number, table in enumerate(plane.tables):
        rows = np.repeat(plane.table_of_section == number, groups_per_section)[:len(slots)]
        symbols[rows] = table.symbol[slots[rows]]
        is_escape[rows] = table.escape[slots[rows]]
    symbols, is_escape = symbols.reshape(-1), is_escape.reshape(-1)
    require(is_escape.sum() == plane.escape_count, "rans: escape_count")
    symbols[is_escape] = plane.escapes
    return symbols


def decode(data, size):
    """The plane's bytes, and the bytes of the next plane that it carries, or None."""
    plane = Plane(data, size)
    slots, state = run_states(plane)
    raw = symbols_of(plane, slots)[:size].tobytes()
    if not plane.carry:
        require((state == FINAL_STATE).all(), "rans: final states")
        return raw, None
    require((state >= 32768).all(), "rans: final states")
    return raw, carried_bytes(state)


def carried_bytes(state):
    """C of 7.6: 7 bits of every high byte, then every low byte."""
    high = ((state >> 8) & 127).astype(np.uint8)
    bits = np.unpackbits(high[:, None], axis=1, bitorder="little")[:, :7]
    return np.packbits(bits.reshape(-1), bitorder="little").tobytes() + (state & 255).astype(np.uint8).tobytes()


def join_rest(data, carried, size):
    """The bytes of a plane of coder rest: its payload, then what the plane before carries."""
    group = len(carried) // CARRY_PER_STREAM * LANES
    padded = -(-size // group) * group
    require(len(data) == padded - len(carried), "rest: size")
    whole = data + carried
    if any(whole[size:]):
        raise Corrupt("rest: padding is not zero")
    return whole[:size]
