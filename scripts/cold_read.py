#!/usr/bin/env python3
"""Read the large files below a directory, cold, and print bytes and seconds.

usage: cold_read.py DIR [BACKING_DIR]

Files of 1 MiB and more are read one after the other by preads of 64 MiB, with O_DIRECT where the
file system has it; small ones would measure the disk's latency. Cold means that before the clock
starts the page cache is dropped: as root all of it, otherwise the pages of the files in DIR and of
those in BACKING_DIR, where a mount's bytes come from. One process does both, since a program
started afterwards would itself be read from disk; and the files are opened before, so that reading
is timed and not looking up names.
"""
import mmap
import os
import sys
import time

PIECE = 64 << 20
LARGE = 1 << 20
DROP = "/proc/sys/vm/drop_caches"


def files_below(directory):
    for parent, _, names in os.walk(directory):
        for name in sorted(names):
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                yield path


def make_cold(directories):
    os.sync()
    try:
        with open(DROP, "w") as file:
            file.write("1")
        return
    except OSError:
        pass
    for directory in directories:
        for path in files_below(directory):
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def open_direct(path):
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError:
        return os.open(path, os.O_RDONLY)


def read_all(descriptor, buffer):
    total = 0
    while (count := os.preadv(descriptor, [buffer], total)) > 0:
        total += count
        if count < len(buffer):  # only at the end of the file
            break
    return total


def main():
    buffer = mmap.mmap(-1, PIECE)
    for page in range(0, PIECE, mmap.PAGESIZE):
        buffer[page] = 0
    descriptors = [open_direct(path) for path in files_below(sys.argv[1])
                   if os.path.getsize(path) >= LARGE]
    make_cold(sys.argv[1:])
    begin = time.monotonic()
    total = sum(read_all(descriptor, buffer) for descriptor in descriptors)
    print(total, f"{time.monotonic() - begin:.6f}")


if __name__ == "__main__":
    main()
