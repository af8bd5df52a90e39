#!/bin/bash
# safetensors.sh - the official Python library reads every tensor through the mount as it
# does from the original; so do files of other shapes that models ship.
. "$(dirname "$0")/lib.sh"
python3 -c 'import numpy, safetensors' 2>/dev/null || skip_all "numpy or safetensors is not installed"
cd "$work"
mkdir src
cp "$TEST_DATA"/minilm-slice.safetensors src/
python3 "$TEST_SOURCE_ROOT/scripts/make_checkpoint.py" "$@" src/checkpoint >generated 2>&1 ||
    { sed 's/^/# /' generated; false; }
"$TRUNKPACK" pack -q src packed
check "packed and compared" "$TRUNKPACK" verify -q --against src packed
mount_start "$work/packed"
check "the same files" diff -r src "$mnt"
cat >tensors.py <<'PY'
import json, os, struct, sys
from safetensors import safe_open
import numpy

def header(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(size))

def raw(path, name):
    """Bytes of one tensor by an mmap of the file, for types that numpy lacks."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        begin, end = header(path)[name]["data_offsets"]
        return numpy.memmap(path, dtype=numpy.uint8, mode="r")[8 + size + begin:8 + size + end]

tensors = files = by_library = 0
for directory, _, names in os.walk(sys.argv[1]):
    for name in sorted(names):
        if not name.endswith(".safetensors"):
            continue
        original = os.path.join(directory, name)
        mounted = os.path.join(sys.argv[2], os.path.relpath(original, sys.argv[1]))
        try:
            a, b = safe_open(original, "numpy"), safe_open(mounted, "numpy")
        except Exception as error:
            try:
                safe_open(mounted, "numpy")
            except Exception as other:
                assert str(error) == str(other), (error, other)
                continue
            raise
        files += 1
        assert list(a.keys()) == list(b.keys())
        assert a.metadata() == b.metadata()
        for key in a.keys():
            tensors += 1
            assert (raw(original, key) == raw(mounted, key)).all(), key
            try:
                x = a.get_tensor(key)
            except Exception:
                continue
            assert x.tobytes() == b.get_tensor(key).tobytes(), key
            by_library += 1
print(f"{files} files, {tensors} tensors equal, {by_library} of them through the library")
assert tensors > 0 and by_library > 0
PY
check "every tensor is equal" python3 tensors.py src "$mnt"
sed 's/^/# /' "$out"
check "unmount" mount_stop
finish
