"""Part I of pack/FORMAT.md: superblock, index, and where a frame lies."""
import struct

from .xxh3 import xxh3

ALIGNMENT = 4096
MAGIC = b"\x89TRK\r\n\x1a\n"
VERSION = 1
DRAFT = 1
RAW_SIZE_MAX = 1 << 50
INDEX_SIZE_MAX = 1 << 26
FRAME_SIZES = range(4096, (1 << 22) + 1)
BLOCK_SIZE_MAX = 1 << 26
FRAMES_PER_BLOCK_MAX = 1024
FRAME_HEADER_SIZE = 8
FEATURES = {1: "zstd", 2: "rans", 4: "wide", 8: "small"}
CHECKSUM_MASK = (1 << 48) - 1

# The fields of FORMAT.md 2.1 from offset 8 on, in order.
FIELDS = (
    ("version", "H"), ("draft", "H"), ("superblock_size", "I"),
    ("features_incompat", "Q"), ("features_ro_compat", "Q"), ("features_compat", "Q"),
    ("raw_size", "Q"), ("packed_size", "Q"), ("index_offset", "Q"), ("index_size", "Q"),
    ("index_checksum", "Q"), ("frame_size", "I"), ("block_size", "I"), ("block_count", "Q"),
    ("frame_count", "Q"), ("mtime_sec", "q"), ("mtime_nsec", "I"), ("mode", "I"),
    ("allocated_size", "Q"), ("sha256", "32s"), ("writer", "32s"),
)
LAYOUT = struct.Struct("<" + "".join(code for _, code in FIELDS))
MUST_BE_ZERO = slice(192, 2048)
CHECKSUM_OFFSET = 4088


class Corrupt(Exception):
    """The bytes break the format."""


class Unsupported(Exception):
    """The bytes may be valid, but for a newer reader."""


def require(condition, text):
    if not condition:
        raise Corrupt(text)


def up(value, alignment=ALIGNMENT):
    return -(-value // alignment) * alignment


def is_power_of_two(value):
    return value > 0 and value & (value - 1) == 0


class Superblock:
    """The fields of FORMAT.md 2.1 as attributes, checked in the order given there."""

    def __init__(self, data, file_size):
        require(len(data) >= ALIGNMENT, "shorter than a superblock")
        require(data[:8] == MAGIC, "not a packed file (magic)")
        for (name, _), value in zip(FIELDS, LAYOUT.unpack_from(data, 8)):
            setattr(self, name, value)
        if (self.version, self.draft) != (VERSION, DRAFT):
            raise Unsupported(f"version {self.version}, draft {self.draft}")
        require(self.superblock_size == ALIGNMENT, "superblock_size")
        (checksum,) = struct.unpack_from("<Q", data, CHECKSUM_OFFSET)
        require(checksum == xxh3(data[:CHECKSUM_OFFSET]), "superblock checksum")
        unknown = self.features_incompat & ~sum(FEATURES)
        if unknown:
            raise Unsupported(f"incompatible features {unknown:#x}")
        require(not any(data[MUST_BE_ZERO]), "must_be_zero")
        self.check_fields()
        require(self.packed_size == file_size, f"file is {file_size} bytes, not {self.packed_size}")

    def check_fields(self):
        require(self.raw_size <= RAW_SIZE_MAX, "raw_size")
        require(is_power_of_two(self.frame_size) and self.frame_size in FRAME_SIZES, "frame_size")
        require(is_power_of_two(self.block_size)
                and self.frame_size <= self.block_size <= BLOCK_SIZE_MAX
                and self.block_size <= FRAMES_PER_BLOCK_MAX * self.frame_size, "block_size")
        require(self.block_count == -(-self.raw_size // self.block_size), "block_count")
        require(self.frame_count == -(-self.raw_size // self.frame_size), "frame_count")
        require(self.index_size == 16 * self.block_count + 9 * self.frame_count
                and self.index_size <= INDEX_SIZE_MAX, "index_size")
        require(self.index_offset % ALIGNMENT == 0 and self.index_offset >= ALIGNMENT, "index_offset")
        require(self.packed_size == self.index_offset + self.index_size, "packed_size")
        require(self.mtime_nsec < 10**9, "mtime_nsec")
        require(self.mode <= 0o7777, "mode")
        require(self.allocated_size % ALIGNMENT == 0
                and self.allocated_size <= up(self.raw_size), "allocated_size")

    def features(self):
        return [name for bit, name in FEATURES.items() if self.features_incompat & bit]


class Frame:
    """Where one frame lies and what its raw bytes must hash to."""

    def __init__(self, number, packed_offset, packed_size, raw_size, checksum):
        self.number = number
        self.packed_offset = packed_offset
        self.packed_size = packed_size
        self.raw_size = raw_size
        self.checksum = checksum


def read_index(data, superblock):
    """Check the whole index; return its frames in order."""
    require(len(data) == superblock.index_size, "index is cut short")
    require(xxh3(data) == superblock.index_checksum, "index checksum")
    frames_per_block = superblock.block_size // superblock.frame_size
    entries = 16 * superblock.block_count
    frames, expected_offset = [], ALIGNMENT
    for block in range(superblock.block_count):
        offset, packed_size, raw_size = struct.unpack_from("<QII", data, 16 * block)
        require(offset == expected_offset, f"block {block}: packed_offset")
        left = superblock.raw_size - block * superblock.block_size
        require(raw_size == min(superblock.block_size, left), f"block {block}: raw_size")
        end = offset
        first = block * frames_per_block
        for number in range(first, min(first + frames_per_block, superblock.frame_count)):
            entry = data[entries + 9 * number:entries + 9 * number + 9]
            size = int.from_bytes(entry[:3], "little")
            frame_raw = min(superblock.frame_size, superblock.raw_size - number * superblock.frame_size)
            require(1 <= size <= frame_raw + FRAME_HEADER_SIZE, f"frame {number}: packed_size")
            checksum = int.from_bytes(entry[3:], "little")
            frames.append(Frame(number, end, size, frame_raw, checksum))
            end += size
        require(end == offset + packed_size, f"block {block}: packed_size")
        require(end <= superblock.index_offset, f"block {block}: beyond the index")
        expected_offset = up(end)
    require(superblock.index_offset == expected_offset, "index_offset")
    return frames


def frame_checksum(raw, sha256, number):
    binding = sha256 + struct.pack("<QI", number, len(raw))
    return (xxh3(raw) ^ xxh3(binding)) & CHECKSUM_MASK
