#!/bin/bash
# reads.sh - every way to read, many threads, cold and warm, under every option that
# changes the read path: 0 differences from the original.
. "$(dirname "$0")/lib.sh"
cd "$work"
mkdir src
sample bf16 9000001 1 >src/weights
sample f32 3000000 2 >src/f32
sample text 1500000 3 >src/text
sample random 2000003 4 >src/verbatim
sample bf16 70000 5 >src/small
printf x >src/one
: >src/empty
"$TRUNKPACK" pack -q src packed
"$TRUNKPACK" pack -q --frame-size 4K --block-size 64K src packed.small-frames
"$TRUNKPACK" pack -q --frame-size 4M --block-size 64M src packed.large-frames
reader=$TEST_PROGRAMS/diff_reader

read_all() { # THREADS ROUNDS
    local file
    for file in weights f32 text verbatim small one empty; do
        "$reader" "src/$file" "$mnt/$file" "$1" "$2" || return 1
    done
}

totals() {
    awk '/reads/ { r += $2; b += $4; m += $6 }
        END { printf "# %.0f reads, %.0f bytes, %.0f mismatches\n", r, b, m }' "$out"
}

mount_start "$work/packed"
check "8 threads" read_all 8 "$TEST_ROUNDS"
totals
check "64 threads on one file" "$reader" src/weights "$mnt/weights" 64 3
check "unmount" mount_stop
check "nothing was logged as an error" bash -c '! grep -i -E "error|corrupt" "$0"' "$daemon_log"

for options in io=plain memory=16M threads=1 threads=16 verify=off prefetch=off readahead=0 \
    readahead=16M max_background=1 max_background=1000 isa=scalar \
    memory=16M,io=plain,threads=2; do
    mount_start "$work/packed" "$options"
    check "-o $options" read_all 4 $((TEST_ROUNDS / 3 + 1))
    totals
    check "-o $options: unmount" mount_stop
done
for frames in small large; do
    mount_start "$work/packed.$frames-frames"
    check "$frames frames" read_all 4 5
    check "$frames frames: unmount" mount_stop
done
finish
