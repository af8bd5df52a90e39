#!/usr/bin/env python3
"""Payloads broken on purpose: the C decoder, by every instruction set, and the Python reader
must agree on which are valid and on every byte of those.

usage: check_verdicts.py FRAME_VERDICT [COUNT]

Both refuse a payload that is wrong in two ways, but may name either reason. Payloads with a
zstd plane are left as they were written: libzstd's releases differ in what they make of a
broken one, and the frame's checksum decides. TAP on standard output.
"""
import os
import struct
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from trunk_format.container import Corrupt, Unsupported  # noqa: E402
from trunk_format.payload import ZSTD_MAGIC, decode_payload  # noqa: E402
from trunk_format.xxh3 import xxh3  # noqa: E402
from trunk_writer import RECIPES, encode_frame  # noqa: E402

COUNT = 2000
HEADERS_END = 80  # most fields lie before it, so most damage is done there


def damage(payload, random):
    """One byte changed, removed, added or cut off."""
    limit = len(payload) if random.random() < 0.4 else min(len(payload), HEADERS_END)
    at = int(random.integers(0, limit))
    kind = int(random.integers(0, 5))
    if kind == 0:
        payload[at] ^= 1 << int(random.integers(0, 8))
    elif kind == 1:
        payload[at] = int(random.integers(0, 256))
    elif kind == 2 and len(payload) > 9:
        del payload[at]
    elif kind == 3:
        payload.insert(at, int(random.integers(0, 256)))
    else:
        payload[at] = payload[at] + int(random.choice([1, 255])) & 255


def make_cases(count):
    random = np.random.Generator(np.random.PCG64(5))
    weights = (random.standard_normal(8192) * 0.02).astype(np.float32).view(np.uint32) >> 16
    weights = weights.astype("<u2").tobytes()
    cases = []
    for number in range(count):
        recipe = RECIPES[number % len(RECIPES)]
        raw = b"\x05" * recipe[1] + weights[:int(random.integers(1, 9000))]
        payload = bytearray(encode_frame(raw, recipe)[0])
        raw_size = len(raw)
        if ZSTD_MAGIC not in payload:
            for _ in range(int(random.integers(0, 4))):
                damage(payload, random)
            if random.random() < 0.05:
                raw_size = max(1, raw_size + int(random.integers(-3, 4)))
        cases.append((raw_size, bytes(payload)))
    return cases


def python_verdict(raw_size, payload):
    try:
        return f"ok {xxh3(decode_payload(payload, raw_size))}"
    except (Corrupt, Unsupported):
        return "refused"


def c_verdicts(program, isa, cases):
    """None if this machine lacks the instruction set."""
    records = b"".join(struct.pack("<II", raw_size, len(payload)) + payload
                       for raw_size, payload in cases)
    result = subprocess.run([program], input=records, capture_output=True, check=False, timeout=300,
                            env=dict(os.environ, TRUNKFS_ISA=isa))
    if result.returncode == 1 and b"no decoder" in result.stderr:
        return None
    lines = result.stdout.decode().splitlines()
    if result.returncode != 0 or len(lines) != len(cases):
        sys.exit(f"Bail out! {program} with {isa}: status {result.returncode}, {len(lines)} lines\n"
                 + result.stderr.decode(errors="replace"))
    return [line if line.startswith("ok ") else "refused" for line in lines]


def main():
    cases = make_cases(int(sys.argv[2]) if len(sys.argv) > 2 else COUNT)
    expected = [python_verdict(*case) for case in cases]
    valid = sum(verdict != "refused" for verdict in expected)
    print(f"{'ok' if 0 < valid < len(cases) else 'not ok'} 1 - {valid} of {len(cases)} payloads are valid")
    failed = not 0 < valid < len(cases)
    isas = ("scalar", "avx2", "avx512", "neon")
    for number, isa in enumerate(isas, 2):
        found = c_verdicts(sys.argv[1], isa, cases)
        if found is None:
            print(f"ok {number} - {isa} # SKIP not on this machine")
            continue
        differing = [i for i, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]]
        for i in differing[:5]:
            print(f"# case {i}: Python {expected[i]}, C {found[i]}: {cases[i][1][:60].hex()}")
        print(f"{'not ok' if differing else 'ok'} {number} - {isa} agrees with Python on every payload")
        failed = failed or bool(differing)
    print(f"1..{len(isas) + 1}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
