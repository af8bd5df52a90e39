"""One packed file, opened and checked: its frames, decoded and compared."""
import hashlib
import os

from .container import ALIGNMENT, Corrupt, Superblock, frame_checksum, read_index, require
from .payload import decode_payload


class PackedFile:
    """Use as a context manager. Opening checks superblock and index."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "rb", buffering=0)
        try:
            size = os.fstat(self.file.fileno()).st_size
            self.superblock = Superblock(self.file.read(ALIGNMENT), size)
            self.file.seek(self.superblock.index_offset)
            index = read_exactly(self.file, self.superblock.index_size)
            self.frames = read_index(index, self.superblock)
        except BaseException:
            self.file.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def payload(self, frame):
        self.file.seek(frame.packed_offset)
        return read_exactly(self.file, frame.packed_size)

    def raw_frame(self, frame):
        """The raw bytes of one frame, compared with its checksum."""
        try:
            raw = decode_payload(self.payload(frame), frame.raw_size)
            require(len(raw) == frame.raw_size, "inflated size")
            checksum = frame_checksum(raw, self.superblock.sha256, frame.number)
            require(checksum == frame.checksum, "checksum")
        except Corrupt as error:
            raise Corrupt(f"frame {frame.number}: {error}") from None
        return raw

    def copy_to(self, write):
        """Give every raw frame to write(), in order; at the end compare the SHA-256."""
        digest = hashlib.sha256()
        for frame in self.frames:
            raw = self.raw_frame(frame)
            digest.update(raw)
            write(raw)
        require(digest.digest() == self.superblock.sha256, "SHA-256 of the whole file")


def read_exactly(file, size):
    pieces, left = [], size
    while left > 0:
        piece = file.read(left)
        require(len(piece) > 0, "file is cut short")
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
