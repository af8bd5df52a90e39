#!/usr/bin/env python3
"""Write a packed file in Python, from pack/FORMAT.md alone: the other half of the oracle.

usage: trunk_writer.py [--frame-size N] [--block-size N] SRC DST.trunk

What this writes, the C library must unpack. It aims at coverage, not at size: successive
frames take the next of RECIPES, so that a file of a few dozen frames holds every transform,
coder, number of streams and shape of tables, whether that suits its bytes or not.
"""
import argparse
import hashlib
import os
import struct
import sys

import numpy as np
import zstandard

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from trunk_format.container import (  # noqa: E402
    ALIGNMENT, DRAFT, FIELDS, LAYOUT, MAGIC, VERSION, frame_checksum, up)
from trunk_format.rans import CARRY_PER_STREAM, FINAL_STATE, LANES, SECTION  # noqa: E402
from trunk_format.transforms import LANE_BLOCK, LANE_ORDER  # noqa: E402
from trunk_format.xxh3 import xxh3  # noqa: E402
from rans12_writer import Shape12, encode_bits, encode_rans12  # noqa: E402

STORED, NONE, BYTES2, BF16, FP32, BF16_JOINT = range(6)
RAW, CONSTANT, ZSTD, RANS, REST, RANS12, BITS = range(7)
ELEMENT_SIZE = (1, 1, 2, 2, 4, 2)
FEATURE_ZSTD, FEATURE_RANS, FEATURE_WIDE, FEATURE_SMALL = 1, 2, 4, 8
FEATURE_OF_TRANSFORM = {FP32: FEATURE_WIDE, BF16_JOINT: FEATURE_SMALL}
RANS12_SIZE_MIN = 128


class Shape:
    """How a rans plane is coded: streams, tables, direct symbols a table, listed or a run."""

    def __init__(self, streams, tables, direct, listed=False, carry=False):
        self.streams = streams
        self.tables = tables
        self.direct = direct
        self.listed = listed
        self.carry = carry


# (transform, phase, coder or Shape of each plane)
RECIPES = (
    (BF16, 0, (Shape(2, 1, 12, carry=True), REST)),
    (STORED, 0, ()),
    (NONE, 0, (ZSTD,)),
    (NONE, 0, (Shape(1, 1, 15),)),
    (BYTES2, 0, (ZSTD, RAW)),
    (BYTES2, 1, (Shape(1, 2, 6, listed=True), Shape(2, 1, 1))),
    (BF16, 0, (Shape(4, 4, 9), ZSTD)),
    (BF16, 1, (Shape(1, 1, 3, listed=True, carry=True), REST)),
    (BF16, 0, (Shape(4, 2, 15, carry=True), REST)),
    (BF16, 1, (Shape(4, 1, 11, carry=True), REST)),
    (BF16, 0, (Shape(2, 4, 7, listed=True), Shape(4, 1, 14))),
    (BF16, 0, (ZSTD, RAW)),
    (NONE, 0, (Shape12(),)),
    (BYTES2, 0, (Shape12(marked=True), RAW)),
    (NONE, 0, (Shape12(tables=4, mirror=0x80),)),
    (BF16, 0, (Shape12(tables=2, mirror=0x81, marked=True), BITS)),
    (FP32, 0, (Shape(1, 1, 12, carry=True), REST, BITS, Shape12())),
    (FP32, 3, (Shape(2, 2, 9), RAW, RAW, RAW)),
    (BF16_JOINT, 0, (BITS, Shape12(tables=2), BITS)),
    (BF16_JOINT, 1, (Shape(1, 1, 4), Shape12(), BITS)),
)


def pack_bits(values, width):
    bits = np.unpackbits(np.asarray(values, np.uint8)[:, None], axis=1, bitorder="little")[:, :width]
    return np.packbits(bits.reshape(-1), bitorder="little").tobytes()


class Table:
    """Direct symbols and frequencies that fit the given symbols."""

    def __init__(self, symbols, shape):
        histogram = np.bincount(symbols, minlength=256)
        count = shape.direct
        if shape.listed:
            self.symbols = sorted(int(s) for s in np.argsort(-histogram, kind="stable")[:count])
        else:
            first = int(np.convolve(histogram, np.ones(count, np.int64), "valid").argmax())
            self.symbols = list(range(first, first + count))
        weights = histogram[self.symbols]
        # 255 - count slots are dealt by weight, one to each symbol, the rest to the escape.
        share = weights * (255 - count) // max(1, histogram.sum())
        self.frequencies = [int(value) + 1 for value in share]
        self.listed = shape.listed
        entries = [(256 - sum(self.frequencies), None)] + sorted(zip(self.frequencies, self.symbols))
        self.frequency = np.full(256, entries[0][0], np.uint32)
        self.start = np.zeros(256, np.uint32)
        self.is_escape = np.ones(256, bool)
        start = 0
        for frequency, symbol in entries:
            if symbol is not None:
                self.frequency[symbol], self.start[symbol] = frequency, start
                self.is_escape[symbol] = False
            start += frequency

    def encode(self):
        head = len(self.symbols) | (0x80 if self.listed else 0)
        return bytes([head]) + bytes(self.symbols if self.listed else self.symbols[:1]) \
            + bytes(self.frequencies)


def choose_tables(symbols, shape):
    """Tables, and the table of each section: sections in order of their mean, in equal parts."""
    sections = -(-symbols.size // SECTION)
    means = [symbols[SECTION * k:SECTION * (k + 1)].mean() for k in range(sections)]
    rank = np.argsort(np.argsort(means, kind="stable"), kind="stable")
    selectors = (rank * shape.tables // sections).astype(np.uint8)
    table_of_symbol = np.repeat(selectors, SECTION)[:symbols.size]
    tables = []
    for number in range(shape.tables):
        chosen = symbols[table_of_symbol == number]
        tables.append(Table(chosen if chosen.size else symbols, shape))
    return tables, selectors


def encode_escapes(escaped):
    """The escape list (the most frequent, at most 15), nibbles and literals."""
    histogram = np.bincount(escaped, minlength=256)
    listed = [int(s) for s in np.argsort(-histogram, kind="stable")[:15] if histogram[s] > 0]
    place = np.full(256, 15, np.uint8)
    place[listed] = np.arange(len(listed))
    nibbles = place[escaped]
    literals = escaped[nibbles == 15].astype(np.uint8).tobytes()
    return bytes(listed), pack_bits(nibbles, 4), literals


def run_states_backwards(symbols, tables, selectors, shape, state):
    """The streams' bytes; state: the final states, uint32."""
    group = LANES * shape.streams
    chunks = [[] for _ in range(shape.streams)]
    for number in range(symbols.size // group - 1, -1, -1):
        row = symbols[group * number:group * (number + 1)]
        table = tables[selectors[group * number // SECTION]]
        frequency, start = table.frequency[row], table.start[row]
        full = state >> 8 >= frequency
        for stream in range(shape.streams):
            lanes = slice(LANES * stream, LANES * (stream + 1))
            chunks[stream].append((state[lanes][full[lanes]] & 255).astype(np.uint8).tobytes())
        state = np.where(full, state >> 8, state)
        state = (state // frequency << 8) + state % frequency + start
    low, high = (state & 255).astype(np.uint8), (state >> 8).astype(np.uint8)
    streams = []
    for stream in range(shape.streams):
        lanes = slice(LANES * stream, LANES * (stream + 1))
        streams.append(low[lanes].tobytes() + high[lanes].tobytes() + b"".join(chunks[stream][::-1]))
    return streams


def carried_states(carried):
    """Final states that hold the bytes C of FORMAT.md 7.6."""
    streams = len(carried) // CARRY_PER_STREAM
    bits = np.unpackbits(np.frombuffer(carried, np.uint8, 56 * streams), bitorder="little")
    high = np.packbits(bits.reshape(-1, 7), axis=1, bitorder="little").reshape(-1)
    low = np.frombuffer(carried, np.uint8, offset=56 * streams)
    return (128 | high.astype(np.uint32)) << 8 | low


def encode_rans(plane, shape, carried):
    group = LANES * shape.streams
    symbols = np.pad(plane, (0, -plane.size % group), mode="edge")
    tables, selectors = choose_tables(symbols, shape)
    table_of_symbol = np.repeat(selectors, SECTION)[:symbols.size]
    is_escape = np.stack([table.is_escape for table in tables])[table_of_symbol, symbols]
    listed, nibbles, literals = encode_escapes(symbols[is_escape])
    final = carried_states(carried) if carried else np.full(group, FINAL_STATE, np.uint32)
    streams = run_states_backwards(symbols, tables, selectors, shape, final)
    table_bits = shape.tables.bit_length() - 1
    header = bytes([shape.streams.bit_length() - 1 | table_bits << 2 | (16 if carried else 0), len(listed)])
    header += int(is_escape.sum()).to_bytes(3, "little") + len(literals).to_bytes(3, "little")
    header += b"".join(len(stream).to_bytes(3, "little") for stream in streams[:-1])
    body = listed + b"".join(table.encode() for table in tables)
    body += pack_bits(selectors, table_bits) if table_bits else b""
    return header + body + nibbles + literals + b"".join(streams)


def rotated_words(low, high):
    word = low.astype(np.uint16) | high.astype(np.uint16) << 8
    return word << 1 | word >> 15


def split_planes_fp32(elements):
    rotated = rotated_words(elements[2::4], elements[3::4])
    return [(rotated >> 8).astype(np.uint8), (rotated & 255).astype(np.uint8),
            elements[1::4].copy(), elements[0::4].copy()]


def split_planes(transform, raw):
    elements = np.frombuffer(raw, np.uint8)
    if transform == NONE:
        return [elements]
    if transform == FP32:
        return split_planes_fp32(elements)
    low, high = elements[0::2], elements[1::2]
    if transform == BYTES2:
        return [high, low]
    rotated = rotated_words(low, high)
    if transform == BF16_JOINT:
        return [plane.astype(np.uint8) for plane in (rotated >> 14, rotated >> 6 & 255, rotated & 63)]
    return [to_lane_order(plane.astype(np.uint8)) for plane in (rotated >> 8, rotated & 255)]


def to_lane_order(plane):
    ordered = plane.copy()
    whole = plane.size // LANE_BLOCK * LANE_BLOCK
    ordered[:whole] = plane[:whole].reshape(-1, LANE_BLOCK)[:, LANE_ORDER].reshape(-1)
    return ordered


def split_carried(plane, shape):
    """(what coder rest stores, what the plane before carries)"""
    padded = plane.tobytes() + bytes(-plane.size % (LANES * shape.streams))
    size = CARRY_PER_STREAM * shape.streams
    return padded[:-size], padded[-size:]


def encode_plane(planes, number, coders):
    """(coder's identifier, payload, feature bits)"""
    plane, coder = planes[number], coders[number]
    if isinstance(coder, Shape):
        carried = split_carried(planes[number + 1], coder)[1] if coder.carry else None
        return RANS, encode_rans(plane, coder, carried), FEATURE_RANS
    if coder == REST:
        return REST, split_carried(plane, coders[number - 1])[0], FEATURE_RANS
    if (plane == plane[0]).all():
        return CONSTANT, plane[:1].tobytes(), 0
    if isinstance(coder, Shape12):
        return RANS12, encode_rans12(plane, coder), FEATURE_WIDE
    if coder == BITS:
        return BITS, encode_bits(plane), FEATURE_WIDE
    if coder == ZSTD:
        return ZSTD, zstandard.ZstdCompressor(level=1).compress(plane.tobytes()), FEATURE_ZSTD
    return RAW, plane.tobytes(), 0


def shortest_plane(coder):
    if isinstance(coder, Shape):
        return 128 * coder.streams
    return RANS12_SIZE_MIN if isinstance(coder, Shape12) else 1


def encode_frame(raw, recipe):
    transform, phase, coders = recipe
    stored = struct.pack("<BBHI", STORED, 0, 0, len(raw)) + raw, 0
    size = ELEMENT_SIZE[transform]
    usable = len(raw) - phase
    if transform == STORED or usable // size < max(map(shortest_plane, coders)):
        return stored
    tail_at = len(raw) - usable % size
    planes = split_planes(transform, raw[phase:tail_at])
    packed = [encode_plane(planes, number, coders) for number in range(len(planes))]
    directory = b"".join(bytes([identifier]) + len(data).to_bytes(3, "little")
                         for identifier, data, _ in packed)
    payload = struct.pack("<BBHI", transform, phase, 0, len(raw)) + directory + raw[:phase] \
        + raw[tail_at:] + b"".join(data for _, data, _ in packed)
    if len(payload) > len(raw) + 8:
        return stored
    features = FEATURE_OF_TRANSFORM.get(transform, 0)
    for _, _, used in packed:
        features |= used
    return payload, features


def write_packed(raw, frame_size, block_size, status, output):
    """Blocks, then the index, then the superblock in front."""
    digest = hashlib.sha256(raw).digest()
    blocks, frames, features, offset = [], [], 0, ALIGNMENT
    for block, begin in enumerate(range(0, len(raw), block_size)):
        output.seek(offset)
        end = min(begin + block_size, len(raw))
        for at in range(begin, end, frame_size):
            number = at // frame_size
            piece = raw[at:min(at + frame_size, end)]
            payload, used = encode_frame(piece, RECIPES[number % len(RECIPES)])
            features |= used
            checksum = frame_checksum(piece, digest, number)
            frames.append(len(payload).to_bytes(3, "little") + checksum.to_bytes(6, "little"))
            output.write(payload)
        size = output.tell() - offset
        blocks.append(struct.pack("<QII", offset, size, end - begin))
        offset = up(offset + size)
    index = b"".join(blocks + frames)
    output.seek(offset)
    output.write(index)
    values = dict(
        version=VERSION, draft=DRAFT, superblock_size=ALIGNMENT, features_incompat=features,
        features_ro_compat=0, features_compat=0, raw_size=len(raw), packed_size=offset + len(index),
        index_offset=offset, index_size=len(index), index_checksum=xxh3(index),
        frame_size=frame_size, block_size=block_size, block_count=len(blocks),
        frame_count=len(frames), mtime_sec=status.st_mtime_ns // 10**9,
        mtime_nsec=status.st_mtime_ns % 10**9, mode=status.st_mode & 0o7777,
        allocated_size=up(len(raw)), sha256=digest, writer=b"trunk_writer.py")
    superblock = (MAGIC + LAYOUT.pack(*(values[name] for name, _ in FIELDS))).ljust(4088, b"\0")
    output.seek(0)
    output.write(superblock + struct.pack("<Q", xxh3(superblock)))
    # Without frames nothing was written at the index's offset.
    output.truncate(offset + len(index))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--frame-size", type=int, default=65536)
    parser.add_argument("--block-size", type=int, default=1 << 20)
    parser.add_argument("source", metavar="SRC")
    parser.add_argument("destination", metavar="DST")
    arguments = parser.parse_args()
    with open(arguments.source, "rb") as source:
        raw = source.read()
        status = os.fstat(source.fileno())
    with open(arguments.destination, "wb") as output:
        write_packed(raw, arguments.frame_size, arguments.block_size, status, output)


if __name__ == "__main__":
    main()
