#!/usr/bin/env python3
"""Damaged packed files, and what a mount makes of them.

usage: corruption.py make PACKED_FILE OTHER_FILE DIRECTORY COUNT [SEED]
       corruption.py check ORIGINAL MOUNT

make writes COUNT damaged copies of PACKED_FILE: single bits, bursts of 1 byte to 64 KiB,
truncations, extensions, frames swapped within the file and with OTHER_FILE (of the same
shape), index and superblock of the other file. check reads each file of the mount that
stems from it in pieces and compares with the original: a piece is right, or EIO; anything
else is wrong. Prints counts; exit status 1 if anything was wrong.
"""
import errno
import os
import random
import sys

from reading import verdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
from trunk_format.packed_file import PackedFile  # noqa: E402

PIECE = 32768
BURST_MAX = 65536


def bit(data, rng, _):
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def payload_bit(data, rng, context):
    frame = rng.choice(context.frames)
    data[frame.packed_offset + rng.randrange(frame.packed_size)] ^= 1 << rng.randrange(8)


def burst(data, rng, _):
    size = min(int(2 ** rng.uniform(0, 16)), BURST_MAX, len(data))
    at = rng.randrange(len(data) - size + 1)
    data[at:at + size] = rng.choice((bytes(size), rng.randbytes(size), b"\xff" * size))


def truncation(data, rng, _):
    del data[rng.randrange(len(data)):]


def extension(data, rng, _):
    data += rng.randbytes(rng.choice((1, 4096, 100000)))


def swap_within(data, rng, context):
    a, b = rng.sample(context.frames, 2)
    size = min(a.packed_size, b.packed_size)
    first, second = slice(a.packed_offset, a.packed_offset + size), \
        slice(b.packed_offset, b.packed_offset + size)
    data[first], data[second] = data[second], data[first]


def swap_across(data, rng, context):
    frame = rng.choice(context.frames)
    other = context.other_frames[frame.number]
    size = min(frame.packed_size, other.packed_size)
    data[frame.packed_offset:frame.packed_offset + size] = \
        context.other[other.packed_offset:other.packed_offset + size]


def other_index(data, _, context):
    at = context.index_offset
    data[at:] = context.other[context.other_index_offset:]


def other_superblock(data, _, context):
    data[:4096] = context.other[:4096]


DAMAGES = (bit, payload_bit, payload_bit, burst, burst, truncation, extension, swap_within,
           swap_across, other_index, other_superblock)


class Context:
    def __init__(self, path, other):
        with PackedFile(path) as packed:
            self.frames = packed.frames
            self.index_offset = packed.superblock.index_offset
        with PackedFile(other) as packed:
            self.other_frames = packed.frames
            self.other_index_offset = packed.superblock.index_offset
        with open(other, "rb") as file:
            self.other = file.read()


def make(path, other, directory, count, seed):
    rng, context = random.Random(seed), Context(path, other)
    with open(path, "rb") as file:
        good = file.read()
    for number in range(count):
        damage = DAMAGES[number % len(DAMAGES)]
        data = bytearray(good)
        damage(data, rng, context)
        with open(f"{directory}/{number:04}-{damage.__name__}.trunk", "wb") as file:
            file.write(data)


def read_file(path, original):
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        return ["refused" if error.errno == errno.EIO else f"open: errno {error.errno}"]
    try:
        if os.fstat(descriptor).st_size != len(original):
            return ["size"]
        return [verdict(descriptor, original, at, PIECE) for at in range(0, len(original), PIECE)]
    finally:
        os.close(descriptor)


def check(original_path, mount):
    with open(original_path, "rb") as file:
        original = file.read()
    counts = {"right": 0, "refused": 0}
    untouched = wrong = partly = 0
    names = sorted(os.listdir(mount))
    for name in names:
        results = read_file(os.path.join(mount, name), original)
        for result in results:
            counts[result] = counts.get(result, 0) + 1
        bad = sorted(set(results) - {"right", "refused"})
        if bad:
            print(f"{name}: {', '.join(bad)}")
        wrong += bool(bad)
        untouched += set(results) == {"right"}
        partly += {"right", "refused"} <= set(results)
    print(f"{len(names)} files: {wrong} wrong, {untouched} right throughout, {partly} in part; "
          f"pieces: {counts}")
    return 1 if wrong else 0


def main(arguments):
    if len(arguments) >= 5 and arguments[0] == "make":
        seed = int(arguments[5]) if len(arguments) > 5 else 1
        make(arguments[1], arguments[2], arguments[3], int(arguments[4]), seed)
        return 0
    if len(arguments) == 3 and arguments[0] == "check":
        return check(arguments[1], arguments[2])
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
