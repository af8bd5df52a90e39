#!/bin/bash
# corrupt.sh - damaged packed files through the mount: EIO, a refusal, or the right bytes;
# never wrong ones, never a short reply; and what is not damaged reads on.
. "$(dirname "$0")/lib.sh"
python3 -c 'import numpy, zstandard' 2>/dev/null || skip_all "numpy or zstandard is not installed"
cd "$work"
corruption=$(dirname "$0")/corruption.py
case $corruption in /*) ;; *) corruption=$OLDPWD/$corruption ;; esac
count=${TEST_DAMAGES:-440}
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
    # What the test is worth: nearly every damage must have been refused somewhere.
    noticed() {
        cat "$out"
        awk '/ files: / { exit !($1 - $5 >= 0.9 * ($1 - 1)) }' "$out"
    }
    cp "$out" noticed && check "... and most were noticed" noticed
    check "... an undamaged file beside them is right" cmp src/weights "$mnt/good"
    check "... and the daemon lives" mount_stop
    check "... and named them" grep -q truncation "$daemon_log"
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
import errno, os, sys
original = open(sys.argv[1], "rb").read()
fd = os.open(sys.argv[2], os.O_RDONLY)
direct = os.open(sys.argv[2], os.O_RDONLY | os.O_DIRECT)
bad = []
for at in range(0, len(original), 32768):
    try:
        assert os.pread(fd, 32768, at) == original[at:at + 32768], at
    except OSError as error:
        assert error.errno == errno.EIO
        bad.append(at)
assert len(bad) == 1, bad
frame = bad[0]
assert os.pread(fd, frame, 0) == original[:frame]
assert os.pread(fd, 10, frame + 32768) == original[frame + 32768:frame + 32778]
for fd in (fd, direct):
    for at, size in ((frame, 4096), (0, len(original))):
        try:
            got = os.pread(fd, size // 4096 * 4096, at)
            assert at == 0 and got == original[:len(got)] and len(got) <= frame, (at, len(got))
        except OSError as error:
            assert error.errno == errno.EIO
PY
check "... logged with the file's name" grep -q weights "$daemon_log"
logged_once() { [ "$(grep -c weights "$daemon_log")" -le 3 ]; }
check "... once, not at every read" logged_once
check "... counted" bash -c '[ "$0" -ge 1 ]' "$(metric trunkfs_errors_total || metric trunkfs_errors_corrupt_total || echo 0)"
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
    check "... with EIO" grep -q 'Input/output error' "$err"
    check "... and named in the log" grep -q "$name" "$daemon_log"
done
check "the rest works" cmp src/weights "$mnt/good"
check "plain files too" grep -qx hello "$mnt/plain"
check "ls works" ls -la "$mnt"
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
finish
