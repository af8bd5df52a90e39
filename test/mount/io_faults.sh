#!/bin/bash
# io_faults.sh - reads of packed bytes that come back short, interrupted, refused, failed
# or changed: the reply is exact or an error, and the mount lives.
. "$(dirname "$0")/lib.sh"
cd "$work"
mkdir src
sample bf16 6000001 1 >src/weights
sample random 1000003 2 >src/verbatim
"$TRUNKPACK" pack -q src packed
reader=$TEST_PROGRAMS/diff_reader

for io in uring plain; do
    for fault in short/2 again/3 intr/3 short/3:again/5:intr/7; do
        mount_start "$work/packed" "io=$io,fault=$fault,prefetch=off"
        check "$fault, io=$io: a packed file reads exactly" "$reader" src/weights "$mnt/weights" 8 4
        check "$fault, io=$io: a copied file too" "$reader" src/verbatim "$mnt/verbatim" 8 4
        check "$fault, io=$io: unmount" mount_stop
    done
done

# Reads fail, or bits flip, now and then, under 64 readers: each read is right or EIO.
cat >tolerant.py <<'PY'
import errno, os, random, sys, threading
original = open(sys.argv[1], "rb").read()
counts = {"right": 0, "refused": 0}
wrong = []
lock = threading.Lock()
def read(seed):
    rng = random.Random(seed)
    for _ in range(12):
        fd = os.open(sys.argv[2], os.O_RDONLY | (os.O_DIRECT if rng.random() < 0.5 else 0))
        at = rng.randrange(len(original)) // 4096 * 4096
        size = 4096 << rng.randrange(8)
        try:
            got = os.preadv(fd, [memoryview(buffer := bytearray(size))], at)
            expected = original[at:at + size]
            # A failure in the middle may leave a short count before it, as on any disk.
            verdict = "right" if buffer[:got] == expected[:got] and got > 0 else "wrong"
            if got < len(expected):
                verdict = "wrong" if got % 4096 else verdict
        except OSError as error:
            verdict = "refused" if error.errno == errno.EIO else f"errno {error.errno}"
        os.close(fd)
        with lock:
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict not in ("right", "refused"):
                wrong.append((verdict, at, size))
threads = [threading.Thread(target=read, args=(seed,)) for seed in range(64)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(counts, wrong[:5])
sys.exit(1 if wrong or not counts["right"] else 0)
PY
for io in uring plain; do
    for fault in eio/4 flip/5 short/3:eio/7:flip/11; do
        mount_start "$work/packed" "io=$io,fault=$fault,memory=16M"
        check "$fault, io=$io: 64 readers get the right bytes or EIO" \
            python3 tolerant.py src/weights "$mnt/weights"
        check "$fault, io=$io: the mount lives" stat "$mnt/weights"
        check "$fault, io=$io: unmount" mount_stop
    done
done
# When the fault goes, reads recover: eio/1 fails all reads, at the next mount none.
mount_start "$work/packed" "fault=eio/1"
refuse "every read fails" cat "$mnt/weights"
also "... with EIO" grep -q 'Input/output error' "$err"
check "the tree is still there" stat "$mnt/verbatim"
check "unmount" mount_stop
finish
