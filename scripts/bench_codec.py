"""The measuring part of scripts/bench-codec: runs `trunkpack bench` on each file with each
instruction set and sets the results beside the goals. Needs numpy, for the made files only."""
import argparse
import glob
import json
import os
import subprocess
import sys

import numpy as np

ISAS = ["avx512", "neon", "avx2", "scalar"]
TYPES = ["fp32", "fp16", "fp8_e4m3", "fp8_e5m2", "mxfp4", "fp32_from_bf16"]

# Largest ratio, of the whole packed file; and shares of memcpy: decode, checked, encode.
RATIO_GOALS = {
    ("synthetic bf16", "auto"): 0.6650,
    ("model bf16", "auto"): 0.6635,
    ("model bf16", "small"): 0.6600,
    ("model fp32", "auto"): 0.834,
    ("model fp16", "auto"): 0.853,
    ("model fp8_e4m3", "auto"): 0.820,
    ("model fp8_e5m2", "auto"): 0.696,
    ("model mxfp4", "auto"): 0.936,
    ("model fp32_from_bf16", "auto"): 0.335,
}
SPEED_GOALS = {
    ("avx512", "auto"): (0.85, 0.65, 0.25),
    ("avx512", "small"): (0.10, None, None),
    ("avx2", "auto"): (0.40, None, None),
    ("scalar", "auto"): (0.04, None, 0.03),
}


def write_synthetic(path):
    """64 MiB of bf16: eight matrices whose rows differ in scale, some of them heavy-tailed."""
    rng = np.random.default_rng(7)
    with open(path, "wb") as out:
        for i in range(8):
            scale = 0.02 * np.exp(rng.normal(0, 0.25, (2048, 1)))
            weights = rng.standard_normal((2048, 2048)) * scale
            if i % 3 == 0:
                weights = rng.standard_t(6, (2048, 2048)) * scale
            bits = weights.astype(np.float32).view(np.uint32)
            ((bits + (((bits >> 16) & 1) + 0x7FFF)) >> 16).astype("<u2").tofile(out)


def made(path, make):
    """path, made by make(temporary name) unless it is there."""
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        make(path + ".part")
        os.rename(path + ".part", path)
    return path


def convert(source, element_type):
    script = os.path.join(os.path.dirname(__file__), "convert_model.py")
    return lambda path: subprocess.run(
        [sys.executable, script, source, path, "--to", element_type], check=True,
        stdout=subprocess.DEVNULL)


def one(pattern):
    return sorted(glob.glob(pattern))[0]


def list_files(args):
    synthetic = made(os.path.join(args.work, "synthetic.bf16"), write_synthetic)
    files = {"synthetic bf16": synthetic,
             "model bf16": one(os.path.join(args.minilm_bf16, "*.safetensors"))}
    if args.quick:
        return files
    source = one(os.path.join(args.minilm, "*.safetensors"))
    for element_type in TYPES:
        files[f"model {element_type}"] = made(
            os.path.join(args.work, element_type + ".safetensors"), convert(source, element_type))
    files["JSON (tokenizer)"] = os.path.join(args.minilm, "tokenizer.json")
    files["Q4_1 GGUF"] = one(os.path.join(args.smollm2, "*.gguf"))
    return files


def bench(trunkpack, isa, path):
    """The rows by codec. Tables come as they are measured, and only the first is wanted."""
    env = dict(os.environ, TRUNKFS_ISA=isa)
    text = ""
    with subprocess.Popen([trunkpack, "bench", "--json", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env=env) as process:
        for line in process.stdout:
            if line.lstrip().startswith('"levels"'):
                break
            text += line
        process.terminate()
    if '"codecs"' not in text:
        raise SystemExit(f"trunkpack bench failed on {path}")
    return json.loads(text.rstrip().rstrip(",") + "}")["codecs"]


def available(trunkpack):
    return [isa for isa in ISAS
            if subprocess.run([trunkpack, "--version"], env=dict(os.environ, TRUNKFS_ISA=isa),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0]


def against(value, goal, at_most):
    """The value, and the goal where there is one; a ! where it is missed."""
    if goal is None:
        return f"{value:.4f}" if at_most else f"{value:.2f}"
    met = value <= goal if at_most else value >= goal
    digits = 4 if at_most else 2
    return f"{value:.{digits}f} ({goal:.{digits}f}){' ' if met else '!'}"


def print_row(name, row):
    bf16 = name.endswith(" bf16")
    speeds = SPEED_GOALS.get((row["isa"], row["codec"])) if bf16 else None
    decode, checked, encode = speeds or (None, None, None)
    memcpy = row["memcpy_gbps"]
    ratio = against(row["ratio"], RATIO_GOALS.get((name, row["codec"])), True)
    shares = [against(row[key] / memcpy, goal, False) for key, goal in
              (("decode_gbps", decode), ("decode_checked_gbps", checked), ("encode_gbps", encode))]
    print(f"{name:<21} {row['isa']:<7} {row['codec']:<6} {ratio:<17} {memcpy:6.2f} "
          f"{row['decode_gbps']:6.2f} {shares[0]:<13} {row['decode_checked_gbps']:6.2f} "
          f"{shares[1]:<13} {row['encode_gbps']:6.2f} {shares[2]:<13}", flush=True)


def wanted(name, isa, best, codec):
    if name.endswith(" bf16"):
        return isa == best or codec == "auto"
    return isa == best and codec in ("auto", "zstd")


def main():
    parser = argparse.ArgumentParser(prog="bench-codec")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json")
    for name in ("trunkpack", "minilm", "minilm-bf16", "smollm2", "work"):
        parser.add_argument("--" + name, required=True, help=argparse.SUPPRESS)
    args = parser.parse_args()

    isas = available(args.trunkpack)
    results = []
    print("10^9 raw bytes a second; shares of memcpy behind them; goals in brackets, ! if missed\n")
    print(f"{'data':<21} {'isa':<7} {'codec':<6} {'ratio':<17} {'memcpy':>6} {'decode':>6} "
          f"{'':<13} {'+check':>6} {'':<13} {'encode':>6}")
    for name, path in list_files(args).items():
        for isa in isas if name.endswith(" bf16") else isas[:1]:
            for row in bench(args.trunkpack, isa, path):
                results.append(dict(row, data=name))
                if wanted(name, isa, isas[0], row["codec"]):
                    print_row(name, row)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump(results, out, indent=1)


if __name__ == "__main__":
    main()
