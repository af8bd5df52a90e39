#!/usr/bin/env python3
"""scripts/convert_model.py: every value of the small types, rounding, and a whole file. Prints TAP.

usage: check_convert.py CONVERT_MODEL
"""
import importlib.util
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

results = []


def check(name, good):
    results.append(good)
    print(f"{'ok' if good else 'not ok'} {len(results)} - {name}")


def load(path):
    spec = importlib.util.spec_from_file_location("convert_model", path)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def check_small_types(convert):
    for name, values, largest in [("E4M3", convert.E4M3, 448.0), ("E5M2", convert.E5M2, 57344.0),
                                  ("E2M1", convert.E2M1, 6.0)]:
        codes = np.arange(len(values))
        check(f"{name} ends with {largest}", values[-1] == largest)
        check(f"{name}: each value is its own code",
              np.array_equal(convert.to_minifloat(values, values, 7), codes)
              and np.array_equal(convert.to_minifloat(-values, values, 7), codes + 128))
        middles = (values[1:] + values[:-1]) / 2
        check(f"{name}: ties go to even codes",
              not np.any(convert.to_minifloat(middles, values, 7) & 1))
        above = convert.to_minifloat(np.nextafter(middles, np.inf), values, 7)
        check(f"{name}: what is above a tie goes up", np.array_equal(above, codes[1:]))
        check(f"{name} saturates", convert.to_minifloat(np.array([1e9]), values, 7)[0] == codes[-1])


def check_bf16(convert):
    bits = np.array([0x3F800000, 0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x7F800001],
                    np.uint32)
    check("bf16: nearest, ties to even, overflow to infinity, NaN stays NaN",
          convert.to_bf16(bits.view(np.float32)).tolist()
          == [0x3F80, 0x3F80, 0x3F82, 0x3F81, 0x7F80, 0x7FC0])


def write_model(path):
    rng = np.random.default_rng(1)
    tensors = {"a.weight": ("F32", rng.standard_normal((6, 64)).astype("<f4")),
               "a.bias": ("F32", rng.standard_normal(6).astype("<f4")),
               "ids": ("I64", np.arange(5, dtype="<i8"))}
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, array in tensors.values():
            file.write(array.tobytes())
    return tensors


def read_model(path):
    with open(path, "rb") as file:
        raw = file.read()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    header.pop("__metadata__")
    return {name: (info["dtype"], info["shape"],
                   raw[8 + size :][info["data_offsets"][0] : info["data_offsets"][1]])
            for name, info in header.items()}


def check_files(path, convert):
    with tempfile.TemporaryDirectory() as directory:
        source = os.path.join(directory, "source.safetensors")
        tensors = write_model(source)
        for target in convert.TARGETS:
            result = os.path.join(directory, target)
            subprocess.run([sys.executable, path, source, result, "--to", target], check=True)
            model = read_model(result)
            check(f"{target}: integers are copied",
                  model["ids"][2] == tensors["ids"][1].tobytes())
            if target == "fp32":
                check("fp32 is the same", all(model[n][2] == t[1].tobytes()
                                              for n, t in tensors.items()))
            if target == "mxfp4":
                check("mxfp4: shapes", model["a.weight_packed"][1] == [6, 32]
                      and model["a.weight_scale"][1] == [6, 2] and model["a.bias"][0] == "BF16")
            if target in ("fp8_e4m3", "fp8_e5m2", "int8"):
                check(f"{target}: a scale for each row", model["a.weight_scale"][1] == [6, 1])
        check("nothing else is left behind",
              sorted(os.listdir(directory)) == sorted(convert.TARGETS + ["source.safetensors"]))


def main():
    path = sys.argv[1]
    sys.dont_write_bytecode = True
    convert = load(path)
    check_small_types(convert)
    check_bf16(convert)
    check_files(path, convert)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
