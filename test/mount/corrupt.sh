#!/bin/bash
# corrupt.sh - damaged packed files through the mount: EIO, a refusal, or the right bytes;
# never wrong ones, never a short reply; and what is not damaged reads on.
. "$(dirname "$0")/lib.sh"
python3 -c 'import numpy, zstandard' 2>/dev/null || skip_all "numpy or zstandard is not installed"
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
cd "$work"
corruption=$here/corruption.py
count=$TEST_DAMAGES
mkdir src damaged
sample bf16 500001 1 >src/weights
sample bf16 500001 2 >src/other
"$TRUNKPACK" pack -q --frame-size 32K --block-size 128K src packed
python3 "$corruption" make packed/weights.trunk packed/other.trunk damaged "$count"
cp packed/weights.trunk damaged/good.trunk

for options in io=auto io=plain memory=16M; do
    mount_start "$work/damaged" $options
    check "$count damaged files, -o $options: never wrong bytes" \
        python3 "$corruption" check src/weights "$mnt"
    sed 's/^/# /' "$out"
    # What the test is worth: nearly every damage must have been refused somewhere.
    noticed() {
        cat "$out"
        awk '/ files: / { exit !($1 - $5 >= 0.9 * ($1 - 1)) }' "$out"
    }
    also "... and most were noticed" noticed
    also "... an undamaged file beside them is right" cmp src/weights "$mnt/good"
    also "... and the daemon lives" mount_stop
    also "... and named them" grep -q truncation "$daemon_log"
done

# One frame: EIO for the reads that touch it and for nothing else.
mkdir one
cp packed/weights.trunk one/
python3 - one/weights.trunk <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(4096 + 40000)
    byte = f.read(1)[0]
    f.seek(4096 + 40000)
    f.write(bytes([byte ^ 1]))
PY
mount_start "$work/one"
check "one flipped bit spoils one frame" python3 - src/weights "$mnt/weights" <<'PY'
import os, sys
from reading import verdict
original = open(sys.argv[1], "rb").read()
fd = os.open(sys.argv[2], os.O_RDONLY)
verdicts = {at: verdict(fd, original, at, 32768) for at in range(0, len(original), 32768)}
assert set(verdicts.values()) == {"right", "refused"}, verdicts
bad = [at for at in verdicts if verdicts[at] == "refused"]
assert len(bad) == 1, bad
frame = bad[0]
for at, size, expected in ((0, frame, "right"), (frame + 32768, 10, "right"),
                           (frame - 1, 1, "right"), (frame, 1, "refused"),
                           (frame + 32767, 1, "refused"), (0, len(original), "refused")):
    assert verdict(fd, original, at, size) == expected, (at, size)
direct = os.open(sys.argv[2], os.O_RDONLY | os.O_DIRECT)
for at in range(0, len(original), 4096):
    expected = "refused" if frame <= at < frame + 32768 else "right"
    assert verdict(direct, original, at, 4096) == expected, at
PY
also "... logged with the file's name" grep -q weights "$daemon_log"
logged_once() { [ "$(grep -c weights "$daemon_log")" -le 3 ]; }
also "... once, not at every read" logged_once
counted() { [ "$(metric trunkfs_errors_corrupt_total)" -eq 1 ]; }
also "... counted" counted
check "unmount" mount_stop

# Foreign and truncated files in the packed directory.
mkdir foreign
cp packed/weights.trunk foreign/good.trunk
sample text 9000 >foreign/foreign.trunk
: >foreign/empty.trunk
head -c 5000 packed/weights.trunk >foreign/cut.trunk
mkfifo foreign/pipe.trunk
printf hello >foreign/plain
mount_start "$work/foreign"
for name in foreign empty cut; do
    refuse "a bad file is refused: $name" cat "$mnt/$name"
    also "... with EIO" grep -q 'Input/output error' "$err"
    also "... and named in the log" grep -q "$name" "$daemon_log"
done
check "the rest works" cmp src/weights "$mnt/good"
check "plain files too" grep -qx hello "$mnt/plain"
listed() { [ "$(ls "$mnt" | tr '\n' ' ')" = "cut empty foreign good plain " ]; }
check "all are listed" listed
check "unmount" mount_stop

# The vectors: good ones read, others are refused.
vectors=$TEST_SOURCE_ROOT/test/vectors
mkdir originals vectors
"$TEST_PROGRAMS/make_vectors" vectors originals
mount_start "$work/vectors"
good_vectors() { local f; for f in originals/*; do cmp "$f" "$mnt/$(basename "$f")" || return 1; done; }
check "good vectors read" good_vectors
bad_vectors() {
    local f name
    for f in "$vectors"/bad-*.trunk "$vectors"/unsupported-*.trunk; do
        name=$(basename "$f" .trunk)
        ! cat "$mnt/$name" >/dev/null 2>message || { echo "$name was read"; return 1; }
        grep -q 'Input/output error' message || { cat message; return 1; }
    done
}
check "bad and unsupported vectors give EIO" bad_vectors
check "unmount" mount_stop
# A name that would write lines of its own, or be obeyed by a terminal, does neither in the log.
mkdir names
head -c 5000 /dev/zero >"names/$(printf 'a\ntrunkfs: \033[31mforged').trunk"
mount_start "$work/names"
refuse "a damaged file with a hostile name" cat "$mnt/$(printf 'a\ntrunkfs: \033[31mforged')"
also "... and the daemon lives" mount_stop
also "... is logged in one harmless line" \
    bash -c 'grep -q "a?trunkfs: ?.31mforged" "$0" && ! grep -q "^trunkfs: .\[31m" "$0"' "$daemon_log"
finish
