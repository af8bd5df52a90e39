"""Reading from a mount as a program does that knows read(2): a short count is read on."""
import errno
import os


def read_exactly(descriptor, size, offset, end):
    """The bytes [offset, offset + size), cut at end; or OSError. A failure behind some good
    bytes makes the kernel return those first, as on any disk; reading on tells. A count of
    0 before the end would be a silent end of file: an AssertionError."""
    size = max(0, min(size, end - offset))
    pieces = []
    while size > 0:
        piece = os.pread(descriptor, size, offset)
        assert piece, f"end of file at {offset}, before {end}"
        pieces.append(piece)
        size -= len(piece)
        offset += len(piece)
    return b"".join(pieces)


def verdict(descriptor, original, offset, size):
    """'right', 'refused' (EIO, or ESTALE of a file that is gone), or what is wrong."""
    try:
        got = read_exactly(descriptor, size, offset, len(original))
    except OSError as error:
        refused = error.errno in (errno.EIO, errno.ESTALE)
        return "refused" if refused else f"errno {error.errno}"
    except AssertionError as error:
        return str(error)
    return "right" if got == original[offset:offset + size] else "wrong bytes"
