"""Part II of pack/FORMAT.md, section 5: planes to elements.

A join takes the planes as arrays of uint8 and gives an array whose bytes are the elements.
"""
import numpy as np

STORED = 0
LANE_BLOCK = 64

# Plane position 64b + l holds the element 64b + p(l).
LANE_ORDER = np.array([8 * (lane // 16) + lane % 16 if lane % 16 < 8
                       else 32 + 8 * (lane // 16) + lane % 16 - 8 for lane in range(LANE_BLOCK)])


def from_lane_order(plane):
    elements = plane.copy()
    whole = plane.size // LANE_BLOCK * LANE_BLOCK
    elements[:whole].reshape(-1, LANE_BLOCK)[:, LANE_ORDER] = plane[:whole].reshape(-1, LANE_BLOCK)
    return elements


def join_none(plane):
    return plane


def join_bytes2(high, low):
    return np.stack([low, high], axis=1)


def rotate_right(words):
    """16-bit words by one bit: the sign returns to the top."""
    return words >> 1 | words << 15


def join_bf16(exponent, sign_mantissa):
    return rotate_right(from_lane_order(exponent).astype("<u2") << 8 | from_lane_order(sign_mantissa))


def join_fp32(exponent, upper, middle, low):
    high_half = rotate_right(exponent.astype("<u2") << 8 | upper)
    return np.stack([middle.astype("<u2") << 8 | low, high_half], axis=1)


def join_bf16_joint(top, joint, rest):
    return rotate_right((top & 3).astype("<u2") << 14 | joint.astype("<u2") << 6 | rest & 63)


class Transform:
    """planes: names, for people. Every plane has one byte an element unless plane_size says."""

    def __init__(self, name, element_size, planes, join):
        self.name = name
        self.element_size = element_size
        self.planes = planes
        self.join = join

    def plane_size(self, _number, element_count):
        return element_count


TRANSFORMS = {
    1: Transform("none", 1, ("bytes",), join_none),
    2: Transform("bytes2", 2, ("H", "L"), join_bytes2),
    3: Transform("bf16", 2, ("E", "S"), join_bf16),
    4: Transform("fp32", 4, ("E", "S", "B", "A"), join_fp32),
    5: Transform("bf16_joint", 2, ("T", "J", "R"), join_bf16_joint),
}
