#!/usr/bin/env python3
"""Cut test/data/minilm-slice.safetensors out of the real bf16 model.

usage: make_test_slice.py MODEL.safetensors SLICE.safetensors

    scripts/make_test_slice.py "$(scripts/fetch_models minilm-bf16)/model.safetensors" \\
        test/data/minilm-slice.safetensors

About 1 MiB of trained weights, so that unit tests see real distributions without the
network: rows of the embedding, one whole attention matrix, rows of a feed-forward matrix,
and the small vectors of one layer. Deterministic: the committed slice is this program's output.
"""
import json
import struct
import sys

from convert_model import read_header

LAYER = "encoder.layer.2."
# (tensor, rows to keep; None for all)
SLICES = (
    ("embeddings.word_embeddings.weight", 512),
    (LAYER + "attention.self.query.weight", None),
    (LAYER + "intermediate.dense.weight", 448),
    (LAYER + "attention.self.query.bias", None),
    (LAYER + "intermediate.dense.bias", None),
    (LAYER + "output.LayerNorm.bias", None),
    (LAYER + "output.LayerNorm.weight", None),
)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    header, body = {"__metadata__": {"format": "pt"}}, b""
    with open(sys.argv[1], "rb") as model:
        tensors, _, data_begin = read_header(model)
        tensors = dict(tensors)
        for name, rows in SLICES:
            info = tensors[name]
            begin, end = info["data_offsets"]
            shape = list(info["shape"])
            if rows is not None:
                end = begin + (end - begin) // shape[0] * rows
                shape[0] = rows
            model.seek(data_begin + begin)
            header[name] = {"dtype": info["dtype"], "shape": shape,
                            "data_offsets": [len(body), len(body) + end - begin]}
            body += model.read(end - begin)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(sys.argv[2], "wb") as output:
        output.write(struct.pack("<Q", len(text)) + text + body)


if __name__ == "__main__":
    main()
