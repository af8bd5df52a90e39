#!/usr/bin/env python3
"""Read packed directories and files without the C library, from pack/FORMAT.md alone.

usage: trunk_reader.py unpack PACKED DST     PACKED: a packed directory, or one packed file
       trunk_reader.py verify PACKED         every frame decoded, checksums and SHA-256 compared
       trunk_reader.py info   PACKED         superblocks, sizes, transforms and coders

The oracle of the tests: what the C program packs, this must unpack to the same bytes. It is
not fast. DST must not exist, but one packed file may go into an existing directory. Exit
status: 0, 1 if anything is wrong with a file, 2 for wrong usage. Needs numpy and zstandard.
"""
import argparse
import collections
import os
import shutil
import stat
import sys

from trunk_format.container import Corrupt, Unsupported, require
from trunk_format.packed_file import PackedFile
from trunk_format.payload import describe_payload

SUFFIX = ".trunk"
TEMPORARY_PREFIX = ".trunk-tmp-"
COPY, PACKED, HIDDEN = "copy", "packed", "hidden"


def kind_of(name, status):
    """What an entry of a packed directory is, and the name it is shown under."""
    if name.startswith(TEMPORARY_PREFIX):
        return HIDDEN, name
    if stat.S_ISREG(status.st_mode) and name.endswith(SUFFIX):
        shown = name[:-len(SUFFIX)]
        return (HIDDEN, name) if shown in ("", ".", "..") else (PACKED, shown)
    return COPY, name


def entries_of(directory):
    """(kind, path, name shown, status) of each visible entry, sorted; a clash is an error."""
    seen, entries = {}, []
    for entry in sorted(os.scandir(directory), key=lambda item: os.fsencode(item.name)):
        status = entry.stat(follow_symlinks=False)
        kind, shown = kind_of(entry.name, status)
        if kind == HIDDEN:
            continue
        require(shown not in seen, f"{entry.path} and {seen.get(shown)} are shown under one name")
        seen[shown] = entry.path
        entries.append((kind, entry.path, shown, status))
    return entries


def walk(packed):
    """Every visible entry below packed: (kind, path, path shown relative to packed, status).
    Directories come before what they hold."""
    pending = [(packed, "")]
    while pending:
        directory, prefix = pending.pop()
        for kind, path, shown, status in entries_of(directory):
            yield kind, path, os.path.join(prefix, shown), status
            if stat.S_ISDIR(status.st_mode):
                pending.append((path, os.path.join(prefix, shown)))


def packed_files(packed):
    if not os.path.isdir(packed):
        return [packed]
    return [path for kind, path, _, _ in walk(packed) if kind == PACKED]


def unpack_file(path, target):
    with PackedFile(path) as packed:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(descriptor, "wb") as output:
                packed.copy_to(output.write)
        except BaseException:
            os.unlink(target)
            raise
        superblock = packed.superblock
    os.chmod(target, superblock.mode)
    time = superblock.mtime_sec * 10**9 + superblock.mtime_nsec
    os.utime(target, ns=(time, time))


def unpack_entry(kind, path, target, status):
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(path), target)
        shutil.copystat(path, target, follow_symlinks=False)
    elif kind == PACKED:
        unpack_file(path, target)
    else:
        require(stat.S_ISREG(status.st_mode), f"{path}: not a file, directory or link")
        shutil.copy2(path, target)


def unpack_directory(packed, target):
    os.mkdir(target)
    directories, first_link, failures = [(packed, target)], {}, 0
    for kind, path, shown, status in walk(packed):
        destination = os.path.join(target, shown)
        inode = (status.st_dev, status.st_ino)
        if stat.S_ISDIR(status.st_mode):
            os.mkdir(destination)
            directories.append((path, destination))
        elif inode in first_link:
            os.link(first_link[inode], destination, follow_symlinks=False)
        else:
            try:
                unpack_entry(kind, path, destination, status)
            except (Corrupt, Unsupported, OSError) as error:
                failures += report(path, error)
                continue
            if status.st_nlink > 1:
                first_link[inode] = destination
    # Modes and times last: a directory may be read-only, and filling it changes its time.
    for path, destination in reversed(directories):
        shutil.copystat(path, destination)
    return failures


def command_unpack(arguments):
    packed, target = arguments.packed, arguments.dst
    if os.path.isdir(target) and not os.path.isdir(packed):
        target = os.path.join(target, os.path.basename(packed).removesuffix(SUFFIX))
    if os.path.lexists(target):
        sys.exit(f"trunk_reader.py: {target} exists: remove it or choose another place")
    if os.path.isdir(packed):
        return unpack_directory(packed, target)
    unpack_file(packed, target)
    return 0


def command_verify(arguments):
    failures, files = 0, packed_files(arguments.packed)
    for path in files:
        try:
            with PackedFile(path) as packed:
                packed.copy_to(lambda raw: None)
        except (Corrupt, Unsupported, OSError) as error:
            failures += report(path, error)
    print(f"{len(files) - failures} of {len(files)} packed files are good")
    return failures


def command_info(arguments):
    failures = 0
    for path in packed_files(arguments.packed):
        try:
            with PackedFile(path) as packed:
                print_info(path, packed)
        except (Corrupt, Unsupported, OSError) as error:
            failures += report(path, error)
    return failures


def print_info(path, packed):
    superblock = packed.superblock
    ratio = superblock.packed_size / superblock.raw_size if superblock.raw_size else 1.0
    print(f"{path}\n  {superblock.raw_size} -> {superblock.packed_size} bytes, ratio {ratio:.4f}")
    print(f"  sha256 {superblock.sha256.hex()}")
    print(f"  mode {superblock.mode:04o}, mtime {superblock.mtime_sec}.{superblock.mtime_nsec:09}, "
          f"allocated {superblock.allocated_size}")
    print(f"  frames {superblock.frame_count} of {superblock.frame_size}, blocks "
          f"{superblock.block_count} of {superblock.block_size}, "
          f"features {' '.join(superblock.features()) or 'none'}")
    counts = collections.Counter(
        describe_payload(packed.payload(frame), frame.raw_size) for frame in packed.frames)
    for description, count in counts.most_common():
        print(f"  {count:6} x {description}")


def report(path, error):
    print(f"trunk_reader.py: {path}: {error}", file=sys.stderr)
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, run in (("unpack", command_unpack), ("verify", command_verify), ("info", command_info)):
        command = commands.add_parser(name)
        command.add_argument("packed", metavar="PACKED")
        if name == "unpack":
            command.add_argument("dst", metavar="DST")
        command.set_defaults(run=run)
    arguments = parser.parse_args()
    try:
        return 1 if arguments.run(arguments) else 0
    except (Corrupt, Unsupported, OSError) as error:
        return report(arguments.packed, error)


if __name__ == "__main__":
    sys.exit(main())
