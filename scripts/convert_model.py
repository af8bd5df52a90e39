#!/usr/bin/env python3
"""Convert the floating-point tensors of a safetensors file to another element type.

    convert_model.py SRC.safetensors DST.safetensors --to TYPE

The benchmarks and tests need one real model in every type that models ship in;
few are published in more than one. Conversion is deterministic: the same SRC gives
the same bytes on every machine. Needs numpy only; holds one tensor at a time.

TYPE
  bf16, fp16       nearest, ties to even
  fp32             widened (SRC in bf16 or fp16), or as it is
  fp32_from_bf16   rounded to bf16 and widened again: half of the bytes are zero
  fp8_e4m3         F8_E4M3, each row divided by its largest magnitude / 448;
                   the scales follow as NAME_scale, F32, [rows, 1]
  fp8_e5m2         F8_E5M2, the same with 57344
  int8             I8, each row divided by its largest magnitude / 127 and rounded to the
                   nearest, ties to even; scales as with fp8
  mxfp4            OCP MX: E2M1 nibbles, low nibble first, as NAME_packed, U8,
                   [rows, columns / 2]; an E8M0 exponent per 32 elements of a row as
                   NAME_scale, U8, [rows, columns / 32]

The 8- and 4-bit types apply to tensors of two or more dimensions (mxfp4: with a
multiple of 32 columns); other floating-point tensors become bf16, as published
quantised models keep their norms and biases. Integer tensors are copied.
"""

import argparse
import json
import os
import struct
import sys

import numpy as np

SOURCE_TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
TARGETS = "bf16 fp16 fp32 fp32_from_bf16 fp8_e4m3 fp8_e5m2 int8 mxfp4".split()
BLOCK = 32  # elements that share an E8M0 scale
E2M1_MAX_EXPONENT = 2  # 6.0 = 1.5 * 2^2


def read_header(source):
    """The tensors of an open safetensors file in file order, its metadata, where data begins."""
    (header_size,) = struct.unpack("<Q", source.read(8))
    header = json.loads(source.read(header_size))
    metadata = header.pop("__metadata__", None)
    tensors = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
    return tensors, metadata, 8 + header_size


def to_float32(raw, dtype):
    values = np.frombuffer(raw, SOURCE_TYPES[dtype])
    if dtype == "BF16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)


def to_bf16(values):
    bits = values.view(np.uint32)
    rounded = (bits + (((bits >> 16) & 1) + 0x7FFF)) >> 16
    quiet = (bits >> 16) | 0x40  # adding to a NaN could wrap to infinity or zero
    return np.where(np.isnan(values), quiet, rounded).astype("<u2")


def minifloat_magnitudes(exponent_bits, mantissa_bits, bias, count):
    """Values of the codes 0 to count - 1 (sign 0) of a small floating-point type."""
    codes = np.arange(count)
    exponent, mantissa = codes >> mantissa_bits, codes & ((1 << mantissa_bits) - 1)
    assert count <= 1 << (exponent_bits + mantissa_bits)
    fraction = mantissa + np.where(exponent > 0, 1 << mantissa_bits, 0)
    return np.ldexp(fraction.astype(np.float64), np.maximum(exponent, 1) - bias - mantissa_bits)


# Finite codes only: conversion saturates.
E4M3 = minifloat_magnitudes(4, 3, 7, 0x7F)
E5M2 = minifloat_magnitudes(5, 2, 15, 0x7C)
E2M1 = minifloat_magnitudes(2, 1, 1, 8)


def to_minifloat(values, magnitudes, sign_shift):
    """The code nearest to each value, ties to even, out of range to the largest."""
    magnitude = np.abs(values.astype(np.float64))
    middle = (magnitudes[1:] + magnitudes[:-1]) / 2  # exact in float64
    code = np.searchsorted(middle, magnitude, side="left")
    tie = magnitude == middle[np.minimum(code, len(middle) - 1)]
    code += tie & (code & 1 == 1)
    return (code | (np.signbit(values).astype(np.int64) << sign_shift)).astype(np.uint8)


def to_fp8(values, magnitudes, nan_code):
    """Codes, and a float32 scale per row with value = code * scale."""
    rows = values.reshape(-1, values.shape[-1])
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0, where=np.isfinite(rows))
    scale = np.where(largest > 0, largest / np.float32(magnitudes[-1]), 1).astype("<f4")
    scale = np.where(scale > 0, scale, np.finfo(np.float32).tiny).astype("<f4")
    scaled = rows.astype(np.float64) / scale
    code = to_minifloat(np.nan_to_num(scaled, nan=0.0), magnitudes, 7)
    return np.where(np.isnan(rows), np.uint8(nan_code), code), scale


def to_int8(values):
    """Integers, and a float32 scale per row with value = integer * scale."""
    rows = np.nan_to_num(values.reshape(-1, values.shape[-1])).astype(np.float64)
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0)
    scale = np.maximum(np.where(largest > 0, largest / 127, 1), np.finfo(np.float32).tiny)
    scale = scale.astype("<f4")
    return np.clip(np.rint(rows / scale), -127, 127).astype(np.int8), scale


def to_mxfp4(values):
    """Packed nibbles and E8M0 scale bytes, both with one line per row."""
    rows = values.reshape(-1, values.shape[-1])
    blocks = np.nan_to_num(rows).reshape(rows.shape[0], -1, BLOCK).astype(np.float64)
    largest = np.max(np.abs(blocks), axis=2, keepdims=True)
    # frexp gives largest = m * 2^e with m in [0.5, 1), so floor(log2) is e - 1.
    exponent = np.where(largest > 0, np.frexp(largest)[1] - 1 - E2M1_MAX_EXPONENT, -127)
    exponent = np.clip(exponent, -127, 127)
    code = to_minifloat(np.ldexp(blocks, -exponent), E2M1, 3).reshape(rows.shape)
    packed = code[:, 0::2] | (code[:, 1::2] << 4)
    return packed, (exponent[:, :, 0] + 127).astype(np.uint8)


def convert(name, info, raw, target):
    """Yield (name, dtype, shape, array) for what one tensor of the source becomes."""
    dtype, shape = info["dtype"], info["shape"]
    if dtype not in SOURCE_TYPES:
        yield name, dtype, shape, np.frombuffer(raw, np.uint8)
        return
    values = to_float32(raw, dtype).reshape(shape)
    is_matrix = len(shape) >= 2 and values.size > 0
    if target == "fp32":
        yield name, "F32", shape, values.astype("<f4")
    elif target == "fp32_from_bf16":
        yield name, "F32", shape, to_float32(to_bf16(values).tobytes(), "BF16").astype("<f4")
    elif target == "fp16":
        with np.errstate(over="ignore"):
            yield name, "F16", shape, values.astype("<f2")
    elif target in ("fp8_e4m3", "fp8_e5m2") and is_matrix:
        is_e4m3 = target == "fp8_e4m3"
        code, scale = to_fp8(values, E4M3 if is_e4m3 else E5M2, 0x7F)
        yield name, "F8_E4M3" if is_e4m3 else "F8_E5M2", shape, code
        yield name + "_scale", "F32", [scale.size, 1], scale
    elif target == "int8" and is_matrix:
        integers, scale = to_int8(values)
        yield name, "I8", shape, integers
        yield name + "_scale", "F32", [scale.size, 1], scale
    elif target == "mxfp4" and is_matrix and shape[-1] % BLOCK == 0:
        packed, scale = to_mxfp4(values)
        yield name + "_packed", "U8", shape[:-1] + [shape[-1] // 2], packed
        yield name + "_scale", "U8", shape[:-1] + [shape[-1] // BLOCK], scale
    else:
        yield name, "BF16", shape, to_bf16(values)


def convert_file(source_path, body_path, target):
    """Write the converted tensors to body_path; return the header that describes them."""
    header, offset = {}, 0
    with open(source_path, "rb") as source, open(body_path, "wb") as body:
        tensors, metadata, data_begin = read_header(source)
        if metadata is not None:
            header["__metadata__"] = metadata
        for name, info in tensors:
            begin, end = info["data_offsets"]
            source.seek(data_begin + begin)
            raw = source.read(end - begin)
            for new_name, dtype, shape, array in convert(name, info, raw, target):
                if new_name in header:
                    raise ValueError(f"two tensors would be named {new_name}")
                body.write(array.tobytes())
                header[new_name] = {
                    "dtype": dtype,
                    "shape": shape,
                    "data_offsets": [offset, offset + array.nbytes],
                }
                offset += array.nbytes
    return header


def write_safetensors(path, header, body_path):
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as output, open(body_path, "rb") as body:
        output.write(struct.pack("<Q", len(text)))
        output.write(text)
        while chunk := body.read(1 << 22):
            output.write(chunk)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", metavar="SRC")
    parser.add_argument("destination", metavar="DST")
    parser.add_argument(
        "--to",
        required=True,
        choices=TARGETS,
    )
    arguments = parser.parse_args()
    body_path, temporary = arguments.destination + ".body", arguments.destination + ".tmp"
    try:
        header = convert_file(arguments.source, body_path, arguments.to)
        write_safetensors(temporary, header, body_path)
        os.replace(temporary, arguments.destination)
    except (OSError, ValueError, KeyError, struct.error) as error:
        print(f"convert_model.py: {arguments.source}: {error}", file=sys.stderr)
        return 1
    finally:
        for leftover in (body_path, temporary):
            if os.path.exists(leftover):
                os.unlink(leftover)
    return 0


if __name__ == "__main__":
    sys.exit(main())
