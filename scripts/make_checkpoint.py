#!/usr/bin/env python3
"""Write a synthetic checkpoint directory in the shape that large models ship in.

usage: make_checkpoint.py [--size tiny|small] [--seed N] [--links] OUT

  OUT/model-0000N-of-0000M.safetensors   a layer a shard: F32, then BF16, then U8 tensors
                                         (MXFP4 experts: nibbles and E8M0 block scales)
  OUT/model.safetensors.index.json, config.json, tokenizer.json, vocab.txt
  OUT/trunk/trunk.bin, trunk.json        raw runs without a header: each layer's F32 and BF16
                                         bytes, padded to 4096
  OUT/extra/other-types.safetensors      F16, F8_E4M3, F8_E5M2, I8, F32 that holds bf16
  OUT/extra/odd-offset.safetensors       bf16 data that begins at an odd offset
  OUT/extra/malformed.safetensors        a header length beyond the end of the file
  OUT/extra/empty, one-byte, odd-length.bin, sparse.bin, name.trunk

--links lays the shards out like a Hugging Face cache: blobs/ holds the bytes under their
SHA-256, snapshots/main/ holds relative symbolic links; the rest stands beside the links.

Weights are Gaussian with log-normal scales per tensor, row and column and a few outlier
columns. The same arguments give the same bytes with the same numpy. Sizes: tiny about 8 MB,
small about 0.3 GB. OUT must not exist.
"""
import argparse
import hashlib
import json
import os
import struct
import sys

import numpy as np

from convert_model import to_bf16, to_fp8, to_mxfp4, E4M3, E5M2

SIZES = {
    "tiny": dict(hidden=256, layers=3, dense=512, experts=4, inner=128, vocab=1024),
    "small": dict(hidden=1536, layers=5, dense=4096, experts=8, inner=512, vocab=8192),
}
ELEMENT_SIZE = {"F32": 4, "F16": 2, "BF16": 2, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1}
FULL_ATTENTION_EVERY = 4
SCALE_GROUP = 32


class Weights:
    """A deterministic source of tensors; every method returns bytes."""

    def __init__(self, seed):
        self.random = np.random.Generator(np.random.PCG64(seed))

    def matrix(self, rows, columns, deviation=0.02):
        random = self.random
        scale = deviation * np.exp(random.normal(0, 0.35))
        columns_scale = np.exp(random.normal(0, 0.12, columns))
        outliers = random.choice(columns, max(1, columns // 512), replace=False)
        columns_scale[outliers] *= random.uniform(4, 16, outliers.size)
        rows_scale = np.exp(random.normal(0, 0.1, (rows, 1)))
        values = random.standard_normal((rows, columns), dtype=np.float32)
        return values * (scale * columns_scale * rows_scale).astype(np.float32)

    def bf16(self, *shape, deviation=0.02, mean=0.0):
        rows = int(np.prod(shape[:-1]))
        values = mean + self.matrix(rows, shape[-1], deviation)
        return to_bf16(values.astype(np.float32)).tobytes()

    def f32(self, *shape, deviation=0.5):
        return self.random.normal(0, deviation, shape).astype(np.float32).tobytes()

    def mxfp4(self, rows, columns):
        """Packed nibbles (low one first) and one power-of-two scale per 32 weights."""
        packed, scales = to_mxfp4(self.matrix(rows, columns))
        return packed.tobytes(), scales.tobytes()


def safetensors_header(tensors, alignment=8):
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, dtype, shape, data in tensors:
        size = int(np.prod(shape)) * ELEMENT_SIZE[dtype]
        assert len(data) == size, (name, len(data), size)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % alignment)
    return struct.pack("<Q", len(text)) + text


def write_safetensors(path, tensors):
    with open(path, "wb") as file:
        file.write(safetensors_header(tensors))
        for *_, data in tensors:
            file.write(data)


def attention_tensors(weights, prefix, size, full):
    hidden = size["hidden"]
    tensors = [(prefix + name + "_proj.weight", "BF16", (hidden, hidden), weights.bf16(hidden, hidden))
               for name in ("q", "k", "v", "o")]
    if not full:
        tensors += [(prefix + "A_log", "F32", (64,), weights.f32(64)),
                    (prefix + "dt_bias", "F32", (hidden,), weights.f32(hidden)),
                    (prefix + "q_conv1d.weight", "F32", (hidden, 1, 4), weights.f32(hidden, 1, 4))]
    return tensors


def expert_tensors(weights, prefix, size):
    hidden, inner = size["hidden"], size["inner"]
    tensors = [(prefix + "gate.weight", "BF16", (size["experts"], hidden),
                weights.bf16(size["experts"], hidden)),
               (prefix + "gate.bias", "F32", (size["experts"],), weights.f32(size["experts"]))]
    for expert in range(size["experts"]):
        for name, rows, columns in (("w1", inner, hidden), ("w2", hidden, inner), ("w3", inner, hidden)):
            packed, scales = weights.mxfp4(rows, columns)
            base = f"{prefix}experts.{expert}.{name}.weight_"
            tensors += [(base + "packed", "U8", (rows, columns // 2), packed),
                        (base + "scale", "U8", (rows, columns // SCALE_GROUP), scales)]
    return tensors


def layer_tensors(weights, layer, size):
    """The tensors of one layer in the order that shards have: F32, BF16, U8, by name."""
    hidden, dense = size["hidden"], size["dense"]
    prefix = f"model.layers.{layer}."
    tensors = [(f"{prefix}{name}_layernorm.weight", "BF16", (hidden,), weights.bf16(hidden, mean=1.0))
               for name in ("input", "post_attention")]
    full = layer % FULL_ATTENTION_EVERY == FULL_ATTENTION_EVERY - 1 or layer == size["layers"] - 1
    tensors += attention_tensors(weights, prefix + "self_attn.", size, full)
    if layer == 0:
        tensors += [(f"{prefix}mlp.{name}_proj.weight", "BF16", shape, weights.bf16(*shape))
                    for name, shape in (("gate", (dense, hidden)), ("up", (dense, hidden)),
                                        ("down", (hidden, dense)))]
    else:
        tensors += expert_tensors(weights, prefix + "moe.", size)
    return sorted(tensors, key=lambda tensor: (-ELEMENT_SIZE[tensor[1]], tensor[0]))


def write_shards(out, weights, size):
    """Write the shards; return the trunk's layers (the F32 and BF16 bytes of each)."""
    shard_count = size["layers"] + 1
    weight_map, total, trunk = {}, 0, []
    for shard in range(shard_count):
        if shard < size["layers"]:
            tensors = layer_tensors(weights, shard, size)
            trunk.append([tensor for tensor in tensors if tensor[1] != "U8"])
        else:
            shape = (size["vocab"], size["hidden"])
            tensors = [(name, "BF16", shape, weights.bf16(*shape))
                       for name in ("lm_head.weight", "model.embed_tokens.weight")]
        name = f"model-{shard + 1:05}-of-{shard_count:05}.safetensors"
        write_safetensors(os.path.join(out, name), tensors)
        total += sum(len(tensor[3]) for tensor in tensors)
        weight_map.update((tensor[0], name) for tensor in tensors)
    write_json(os.path.join(out, "model.safetensors.index.json"),
               {"metadata": {"total_size": total}, "weight_map": weight_map})
    return trunk


def write_json(path, value):
    with open(path, "w") as file:
        json.dump(value, file, indent=1)
        file.write("\n")


def write_trunk(directory, layers):
    os.mkdir(directory)
    table, offset = [], 0
    with open(os.path.join(directory, "trunk.bin"), "wb") as file:
        for number, tensors in enumerate(layers):
            run = b"".join(data for *_, data in tensors)
            run += bytes(-len(run) % 4096)
            file.write(run)
            table.append({"layer": number, "offset": offset, "size": len(run),
                          "tensors": [[name, dtype, list(shape)] for name, dtype, shape, _ in tensors]})
            offset += len(run)
    write_json(os.path.join(directory, "trunk.json"), {"alignment": 4096, "layers": table})


def write_extra(directory, weights):
    os.mkdir(directory)
    matrix = weights.matrix(256, 384)
    scaled = matrix / np.abs(matrix).max(axis=1, keepdims=True)
    e4m3, e4m3_scale = to_fp8(matrix, E4M3, 0x7F)
    e5m2, e5m2_scale = to_fp8(matrix, E5M2, 0x7F)
    tensors = [
        ("bf16_in_f32", "F32", (256, 384), (to_bf16(matrix).astype(np.uint32) << 16).tobytes()),
        ("e4m3", "F8_E4M3", (256, 384), e4m3.tobytes()),
        ("e4m3_scale", "F32", (256, 1), e4m3_scale.tobytes()),
        ("e5m2", "F8_E5M2", (256, 384), e5m2.tobytes()),
        ("e5m2_scale", "F32", (256, 1), e5m2_scale.tobytes()),
        ("f16", "F16", (256, 384), matrix.astype(np.float16).tobytes()),
        ("i8", "I8", (256, 384), np.rint(scaled * 127).astype(np.int8).tobytes()),
        ("scalar", "F32", (), np.float32(1.5).tobytes()),
        ("nothing", "F32", (0, 4), b""),
    ]
    write_safetensors(os.path.join(directory, "other-types.safetensors"), tensors)

    odd = [("w", "BF16", (300, 500), weights.bf16(300, 500))]
    header = safetensors_header(odd, alignment=1)
    if len(header) % 2 == 0:
        header = struct.pack("<Q", len(header) - 7) + header[8:] + b" "
    files = {
        "odd-offset.safetensors": header + odd[0][3],
        "malformed.safetensors": struct.pack("<Q", 1 << 40) + b'{"w":' + weights.bf16(200, 200),
        "empty": b"",
        "one-byte": b"x",
        "odd-length.bin": weights.bf16(1000, 333)[:-1],
        # The suffix of packed files, on a file that is not one.
        "name.trunk": b"this is not a packed file\n" * 2000,
    }
    for name, data in files.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)
    with open(os.path.join(directory, "sparse.bin"), "wb") as file:
        file.seek(1 << 20)
        file.write(weights.bf16(64, 1024))
        file.truncate(3 << 20)


def write_text(out, size, random):
    write_json(os.path.join(out, "config.json"),
               {"hidden_size": size["hidden"], "num_hidden_layers": size["layers"],
                "vocab_size": size["vocab"], "intermediate_size": size["dense"],
                "n_routed_experts": size["experts"], "moe_intermediate_size": size["inner"],
                "torch_dtype": "bfloat16"})
    letters = np.array(list("aeiounrstlmdk"))
    words = ["".join(random.choice(letters, random.integers(2, 9))) for _ in range(size["vocab"])]
    write_json(os.path.join(out, "tokenizer.json"),
               {"model": {"type": "BPE", "vocab": {word: i for i, word in enumerate(words)}}})
    with open(os.path.join(out, "vocab.txt"), "w") as file:
        file.write("\n".join(words) + "\n")


def make_links(out):
    """Move what lies at the top into blobs/ and leave links to it in snapshots/main/."""
    names = sorted(name for name in os.listdir(out) if os.path.isfile(os.path.join(out, name)))
    os.mkdir(os.path.join(out, "blobs"))
    os.makedirs(os.path.join(out, "snapshots", "main"))
    for name in names:
        path = os.path.join(out, name)
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        os.replace(path, os.path.join(out, "blobs", digest))
        os.symlink(f"../../blobs/{digest}", os.path.join(out, "snapshots", "main", name))
    os.mkdir(os.path.join(out, "refs"))
    with open(os.path.join(out, "refs", "main"), "w") as file:
        file.write("main")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", metavar="OUT", help="directory to make")
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--links", action="store_true", help="like a Hugging Face cache")
    arguments = parser.parse_args()
    size = SIZES[arguments.size]
    weights = Weights(arguments.seed)
    try:
        os.makedirs(arguments.out)
    except FileExistsError:
        sys.exit(f"make_checkpoint.py: {arguments.out} exists: remove it or choose another directory")
    write_trunk(os.path.join(arguments.out, "trunk"), write_shards(arguments.out, weights, size))
    write_extra(os.path.join(arguments.out, "extra"), weights)
    write_text(arguments.out, size, weights.random)
    if arguments.links:
        make_links(arguments.out)


if __name__ == "__main__":
    main()
