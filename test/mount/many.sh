#!/bin/bash
# many.sh - a directory of 10,000 files, a deep tree, thousands of files open at once, and
# names looked up by many at the same time.
. "$(dirname "$0")/lib.sh"
cd "$work"
mkdir -p packed/many
python3 - packed/many <<'PY'
import os, sys
for number in range(10000):
    with open(f"{sys.argv[1]}/file-{number:05}-with-a-name-of-some-length", "w") as file:
        file.write(str(number))
PY
deep=packed
for level in {1..60}; do deep=$deep/level-$level; done
mkdir -p "$deep"
sample bf16 300000 1 >weights
"$TRUNKPACK" pack -q weights "$deep"
mkdir packed/frames
sample bf16 200000 2 >frame
"$TRUNKPACK" pack -q frame one
for number in {1..300}; do cp one/frame.trunk "packed/frames/$number.trunk"; done
mount_start "$work/packed"

names() { (cd "$1" && find many | LC_ALL=C sort); }
check "10,000 names are listed" cmp <(names packed) <(names "$mnt")
content() { (cd "$1/many" && find . -type f -print0 | sort -z | xargs -0 cat | sha256sum); }
same_content() { [ "$(content packed)" = "$(content "$mnt")" ]; }
check "... and their content is right" same_content
check "60 levels down" cmp weights "${deep/#packed/$mnt}/weights"
check "directories are read in pieces, again and from the middle" python3 - "$mnt/many" <<'PY'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = ctypes.c_void_p
for name in ("readdir", "telldir", "seekdir", "rewinddir"):
    getattr(libc, name).restype = ctypes.c_void_p if name == "readdir" else ctypes.c_long
directory = ctypes.c_void_p(libc.opendir(os.fsencode(sys.argv[1])))
def entry():
    pointer = libc.readdir(directory)
    return ctypes.string_at(pointer + 19) if pointer else None
def rest():
    names = []
    while (name := entry()) is not None:
        names.append(name)
    return names
whole = rest()
assert len(whole) == len(set(whole)) == 10002, len(whole)
libc.rewinddir(directory)
for _ in range(3777):
    entry()
place = libc.telldir(directory)
behind = rest()
assert behind == whole[3777:]
libc.seekdir(directory, ctypes.c_long(place))
assert rest() == behind
PY
check "300 packed files open at once by 16 threads" python3 - frame "$mnt/frames" <<'PY'
import concurrent.futures, os, sys
original = open(sys.argv[1], "rb").read()
def work(number):
    fd = os.open(f"{sys.argv[2]}/{number}", os.O_RDONLY)
    assert os.fstat(fd).st_size == len(original)
    assert os.pread(fd, 70000, number * 101) == original[number * 101:number * 101 + 70000]
    return fd
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    open_files = list(pool.map(work, range(1, 301)))
for fd in open_files:
    assert os.pread(fd, 9, 100000) == original[100000:100009]
    os.close(fd)
PY
lookups() {
    local i pids=() failed=0
    for i in {1..16}; do
        find "$mnt" -type f -newermt 1990-01-01 -size -100k -printf '%s\n' >"sizes.$i" &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || failed=1; done
    for i in {2..16}; do cmp sizes.1 "sizes.$i" || failed=1; done
    return $failed
}
check "16 finds at once see the same" lookups
check "unmount" mount_stop
finish
