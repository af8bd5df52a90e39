"""Part II of pack/FORMAT.md, sections 4 to 6: the payload of one frame to its raw bytes."""
import zstandard

import numpy as np

from . import rans, rans12
from .container import Corrupt, Unsupported, require
from .transforms import STORED, TRANSFORMS

HEADER_SIZE = 8
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
CODER_NAMES = {0: "raw", 1: "constant", 2: "zstd", 3: "rans", 4: "rest", 5: "rans12", 6: "bits"}
RAW, CONSTANT, ZSTD, RANS, REST, RANS12, BITS = CODER_NAMES


class Payload:
    """The header of a payload, checked: transform, head and tail, and the packed planes."""

    def __init__(self, data, raw_size):
        require(len(data) >= HEADER_SIZE, "payload is cut short")
        identifier, self.phase = data[0], data[1]
        require(data[2:4] == bytes(2), "reserved bytes of the payload")
        require(int.from_bytes(data[4:8], "little") == raw_size, "raw_size of the payload")
        self.head = self.tail = b""
        self.element_count = 0
        self.planes = []
        if identifier == STORED:
            self.name = "stored"
            require(self.phase == 0, "phase of a stored frame")
            require(len(data) == HEADER_SIZE + raw_size, "size of a stored frame")
            self.head = data[HEADER_SIZE:]
            return
        if identifier not in TRANSFORMS:
            raise Unsupported(f"transform {identifier}")
        self.transform = TRANSFORMS[identifier]
        self.name = self.transform.name
        self.split(data, raw_size)

    def split(self, data, raw_size):
        size = self.transform.element_size
        require(self.phase < size, "phase")
        require(raw_size >= self.phase + size, "a frame without an element")
        self.element_count = (raw_size - self.phase) // size
        directory_end = HEADER_SIZE + 4 * len(self.transform.planes)
        head_end = directory_end + self.phase
        tail_end = head_end + (raw_size - self.phase) % size
        require(len(data) >= tail_end, "payload is cut short")
        self.head, self.tail = data[directory_end:head_end], data[head_end:tail_end]
        position = tail_end
        entries = [data[at:at + 4] for at in range(HEADER_SIZE, directory_end, 4)]
        for coder in (entry[0] for entry in entries):
            if coder not in CODER_NAMES:
                raise Unsupported(f"coder {coder}")
        for entry in entries:
            packed_size = int.from_bytes(entry[1:], "little")
            require(position + packed_size <= len(data), "sizes of the planes")
            self.planes.append((entry[0], data[position:position + packed_size]))
            position += packed_size
        require(position == len(data), "sizes of the planes")


def decode_zstd(data, size):
    require(data[:4] == ZSTD_MAGIC, "zstd: not a frame")
    try:
        parameters = zstandard.get_frame_parameters(data)
        require(parameters.content_size == size, "zstd: content size")
        require(parameters.dict_id == 0, "zstd: a dictionary is asked for")
        decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
        raw = decompressor.decompress(data)
    except zstandard.ZstdError as error:
        raise Corrupt(f"zstd: {error}") from None
    require(decompressor.eof and not decompressor.unused_data, "zstd: not one whole frame")
    return raw


def decode_bits(data, size):
    """Section 9: the bits of mask, 64 symbols at a time; the other bits are the same in all."""
    require(len(data) >= 2, "bits: plane is cut short")
    mask, value = data[0], data[1]
    require(mask != 0 and value & mask == 0, "bits: mask and value")
    places = [place for place in range(8) if mask >> place & 1]
    blocks = -(-size // 64)
    require(len(data) == 2 + 8 * len(places) * blocks, "bits: size")
    bits = np.unpackbits(np.frombuffer(data, np.uint8, offset=2), bitorder="little")
    bits = bits.reshape(blocks, len(places), 64)
    symbols = np.full((blocks, 64), value, np.uint8)
    for number, place in enumerate(places):
        symbols |= bits[:, number] << place
    return symbols.tobytes()[:size]


def decode_plane(coder, data, size):
    """The bytes of a plane that stands by itself."""
    if coder == RAW:
        require(len(data) == size, "size of a raw plane")
        return data
    if coder == CONSTANT:
        require(len(data) == 1, "size of a constant plane")
        return data * size
    if coder == BITS:
        return decode_bits(data, size)
    require(coder != REST, "coder rest without a carrier")
    raw = rans12.decode(data, size) if coder == RANS12 else decode_zstd(data, size)
    require(len(raw) == size, "size of a plane")
    return raw


def decode_planes(payload):
    """All planes as arrays. A plane of coder rans may carry the end of the next one."""
    planes, carried = [], None
    for number, (coder, data) in enumerate(payload.planes):
        size = payload.transform.plane_size(number, payload.element_count)
        if carried is not None:
            require(coder == REST, "no coder rest behind a carrier")
            raw, carried = rans.join_rest(data, carried, size), None
        elif coder == RANS:
            raw, carried = rans.decode(data, size)
            if carried is not None:
                follows = number + 1 < len(payload.planes)
                require(follows and payload.transform.plane_size(number + 1, payload.element_count)
                        == size, "carry without a plane to carry")
        else:
            raw = decode_plane(coder, data, size)
        planes.append(np.frombuffer(raw, np.uint8))
    return planes


def decode_payload(data, raw_size):
    payload = Payload(data, raw_size)
    if not payload.planes:
        return payload.head
    elements = payload.transform.join(*decode_planes(payload))
    return payload.head + elements.tobytes() + payload.tail


def describe_payload(data, raw_size):
    """Transform, phase and coders in one line."""
    payload = Payload(data, raw_size)
    coders = [f"{name}={CODER_NAMES[coder]}" for name, (coder, _) in
              zip(payload.transform.planes if payload.planes else (), payload.planes)]
    return " ".join([payload.name, *([f"phase={payload.phase}"] if payload.phase else []), *coders])
