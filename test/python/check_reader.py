#!/usr/bin/env python3
"""The Python reader on the committed vectors, and on files that the Python writer made.

usage: check_reader.py VECTORS_DIR

A vector's name says what must become of it: good-* unpacks (its SHA-256 is compared),
bad-* is refused as corrupt, unsupported-* as newer than the reader. TAP on standard output.
"""
import io
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from trunk_format.container import Corrupt, Unsupported  # noqa: E402
from trunk_format.packed_file import PackedFile  # noqa: E402
from trunk_format.xxh3 import xxh3  # noqa: E402
from trunk_writer import write_packed  # noqa: E402

checks = []


def check(name, passed, detail=""):
    checks.append(passed)
    print(f"{'ok' if passed else 'not ok'} {len(checks)} - {name}")
    if not passed:
        print(f"# {detail}")


def verdict_on(path):
    """("good", raw bytes), ("bad", why) or ("unsupported", why)."""
    raw = io.BytesIO()
    try:
        with PackedFile(path) as packed:
            packed.copy_to(raw.write)
    except Corrupt as error:
        return "bad", str(error)
    except Unsupported as error:
        return "unsupported", str(error)
    return "good", raw.getvalue()


def check_vectors(directory):
    names = sorted(name for name in os.listdir(directory) if name.endswith(".trunk"))
    check("there are vectors", len(names) > 0)
    for name in names:
        expected = name.split("-")[0]
        verdict, detail = verdict_on(os.path.join(directory, name))
        check(name, verdict == expected, f"{verdict}: {str(detail)[:200]}")


def check_hash():
    """Published test values of XXH3-64, seed 0: one of each way it treats a length."""
    sanity, generator = bytearray(), 0x9E3779B1
    for _ in range(2367):
        sanity.append(generator >> 56)
        generator = generator * 0x9E3779B185EBCA8D & (1 << 64) - 1
    for size, expected in ((0, 0x2D06800538D394C2), (1, 0xC44BDFF4074EECDB),
                           (6, 0x27B56A84CD2D7325), (12, 0xA713DAF0DFBB77E7),
                           (24, 0xA3FE70BF9D3510EB), (48, 0x397DA259ECBA1F11),
                           (80, 0xBCDEFBBB2C47C90A), (195, 0xCD94217EE362EC3A),
                           (403, 0xCDEB804D65C6DEA4), (512, 0x617E49599013CB6B),
                           (2048, 0xDD59E2C3A5F038E0), (2367, 0xCB37AEB9E5D361ED)):
        found = xxh3(bytes(sanity[:size]))
        check(f"XXH3-64 of {size} bytes", found == expected, f"{found:#x}, expected {expected:#x}")


def sample_inputs():
    random = np.random.Generator(np.random.PCG64(11))
    weights = (random.standard_normal(1 << 20) * 0.02).astype(np.float32).view(np.uint32) >> 16
    weights = weights.astype("<u2").tobytes()
    yield "weights", weights
    yield "weights at an odd offset", b"\x07" + weights[:700_000]
    yield "an odd length", weights[:333_333]
    yield "random bytes", random.bytes(500_000)
    yield "text", b"the quick brown fox jumps over the lazy dog\n" * 9000
    yield "zeros", bytes(400_000)
    yield "one byte", b"x"
    yield "nothing", b""


def check_round_trips():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "file.trunk")
        for name, raw in sample_inputs():
            for frame_size in (4096, 65536):
                with open(path, "wb") as output:
                    write_packed(raw, frame_size, 4 * frame_size, os.stat(path), output)
                verdict, found = verdict_on(path)
                check(f"{name}, frames of {frame_size}", (verdict, found) == ("good", raw),
                      f"{verdict}: {str(found)[:200]}")


def check_damage():
    """No changed bit of a small packed file yields wrong bytes."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "file.trunk")
        raw = dict(sample_inputs())["weights"][:40_000]
        with open(path, "wb") as output:
            write_packed(raw, 4096, 16384, os.stat(path), output)
        with open(path, "rb") as file:
            good = file.read()
        random = np.random.Generator(np.random.PCG64(3))
        wrong = 0
        for bit in random.integers(0, 8 * len(good), 300):
            bad = bytearray(good)
            bad[bit // 8] ^= 1 << bit % 8
            with open(path, "wb") as file:
                file.write(bad)
            verdict, found = verdict_on(path)
            wrong += verdict == "good" and found != raw
        check("300 flipped bits, none served as other bytes", wrong == 0, f"{wrong} were")


def main():
    check_hash()
    check_vectors(sys.argv[1])
    check_round_trips()
    check_damage()
    print(f"1..{len(checks)}")
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
