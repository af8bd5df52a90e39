"""XXH3-64 with seed 0 and the default secret, after the xxHash 0.8 specification.

Long inputs are vectorised: what the stripes of one 1024-byte block add to the accumulators
does not depend on the accumulators, so all of it is computed at once, and only the scrambling
between blocks is a loop.
"""
import numpy as np

MASK = (1 << 64) - 1

PRIME32_1 = 0x9E3779B1
PRIME32_2 = 0x85EBCA77
PRIME32_3 = 0xC2B2AE3D
PRIME64_1 = 0x9E3779B185EBCA87
PRIME64_2 = 0xC2B2AE3D27D4EB4F
PRIME64_3 = 0x165667B19E3779F9
PRIME64_4 = 0x85EBCA77C2B2AE63
PRIME64_5 = 0x27D4EB2F165667C5

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
STRIPE = 64
STRIPES_PER_BLOCK = (len(SECRET) - STRIPE) // 8
BLOCK = STRIPE * STRIPES_PER_BLOCK
INITIAL = np.array([PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3,
                    PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1], dtype=np.uint64)
SWAP_PAIRS = np.array([1, 0, 3, 2, 5, 4, 7, 6])


def u32(data, offset):
    return int.from_bytes(data[offset:offset + 4], "little")


def u64(data, offset):
    return int.from_bytes(data[offset:offset + 8], "little")


def secret_words(offset):
    return np.frombuffer(SECRET, "<u8", 8, offset)


# One row of eight words for each stripe of a block: the secret moves by 8 bytes a stripe.
STRIPE_SECRETS = np.stack([secret_words(8 * i) for i in range(STRIPES_PER_BLOCK)])
SCRAMBLE_SECRET = secret_words(len(SECRET) - STRIPE)


def avalanche_xxh64(h):
    h = (h ^ h >> 33) * PRIME64_2 & MASK
    h = (h ^ h >> 29) * PRIME64_3 & MASK
    return h ^ h >> 32


def avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & MASK
    return h ^ h >> 32


def fold(a, b):
    product = a * b
    return product & MASK ^ product >> 64


def mix16(data, offset, secret):
    return fold(u64(data, offset) ^ u64(SECRET, secret), u64(data, offset + 8) ^ u64(SECRET, secret + 8))


def rotate(h, bits):
    return (h << bits | h >> (64 - bits)) & MASK


def hash_to_16(data):
    size = len(data)
    if size > 8:
        low = u64(data, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
        high = u64(data, size - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche(size + swapped + high + fold(low, high) & MASK)
    if size >= 4:
        h = u32(data, size - 4) + (u32(data, 0) << 32) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        h ^= rotate(h, 49) ^ rotate(h, 24)
        h = h * 0x9FB21C651E98DF25 & MASK
        h = (h ^ (h >> 35) + size) * 0x9FB21C651E98DF25 & MASK
        return h ^ h >> 28
    if size > 0:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[size - 1] | size << 8
        return avalanche_xxh64(combined ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    return avalanche_xxh64(u64(SECRET, 56) ^ u64(SECRET, 64))


def hash_to_128(data):
    """17 to 128 bytes: pairs of 16 bytes from both ends towards the middle."""
    size = len(data)
    total = size * PRIME64_1
    for pair in range((size - 1) // 32 + 1):
        total += mix16(data, 16 * pair, 32 * pair)
        total += mix16(data, size - 16 * (pair + 1), 32 * pair + 16)
    return avalanche(total & MASK)


def hash_to_240(data):
    size = len(data)
    total = size * PRIME64_1 + sum(mix16(data, 16 * i, 16 * i) for i in range(8))
    total = avalanche(total & MASK)
    for i in range(8, size // 16):
        total += mix16(data, 16 * i, 16 * (i - 8) + 3)
    total += mix16(data, size - 16, 136 - 17)
    return avalanche(total & MASK)


def contributions(words, secrets):
    """What stripes (..., 8 words) add to the accumulators."""
    keyed = words ^ secrets
    return words[..., SWAP_PAIRS] + (keyed & 0xFFFFFFFF) * (keyed >> np.uint64(32))


def hash_long(data):
    size = len(data)
    block_count = (size - 1) // BLOCK
    words = np.frombuffer(data, "<u8", block_count * BLOCK // 8).reshape(-1, STRIPES_PER_BLOCK, 8)
    accumulators = INITIAL.copy()
    for added in contributions(words, STRIPE_SECRETS).sum(axis=1, dtype=np.uint64):
        accumulators += added
        accumulators ^= accumulators >> np.uint64(47)
        accumulators ^= SCRAMBLE_SECRET
        accumulators *= np.uint64(PRIME32_1)
    rest = (size - 1 - block_count * BLOCK) // STRIPE
    words = np.frombuffer(data, "<u8", rest * 8, block_count * BLOCK).reshape(rest, 8)
    accumulators += contributions(words, STRIPE_SECRETS[:rest]).sum(axis=0, dtype=np.uint64)
    last = np.frombuffer(data, "<u8", 8, size - STRIPE)
    accumulators += contributions(last, secret_words(len(SECRET) - STRIPE - 7))
    lanes = [int(lane) ^ u64(SECRET, 11 + 8 * i) for i, lane in enumerate(accumulators)]
    total = size * PRIME64_1 + sum(fold(lanes[i], lanes[i + 1]) for i in range(0, 8, 2))
    return avalanche(total & MASK)


def xxh3(data):
    """XXH3-64 of bytes (or anything with the buffer interface), as an int."""
    data = bytes(data)
    if len(data) > 240:
        return hash_long(data)
    if len(data) > 128:
        return hash_to_240(data)
    if len(data) > 16:
        return hash_to_128(data)
    return hash_to_16(data)
