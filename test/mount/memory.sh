#!/bin/bash
# memory.sh - memory= is kept: 64 readers with memory=64M stay within 96 MiB of resident
# memory; with 16M everything still works.
. "$(dirname "$0")/lib.sh"
cd "$work"
mkdir src
sample bf16 $((60000001 / TEST_SIZE_DIVISOR)) 1 >src/weights
sample f32 $((30000001 / TEST_SIZE_DIVISOR)) 2 >src/f32
sample random $((20000001 / TEST_SIZE_DIVISOR)) 3 >src/verbatim
"$TRUNKPACK" pack -q src packed
peak() { awk '/^VmHWM/ { print $2 }' "/proc/$daemon_pid/status"; }
within() { # KILOBYTES
    local kilobytes
    kilobytes=$(peak)
    echo "peak resident memory $kilobytes kB"
    echo "# peak resident memory $kilobytes kB" >&2
    [ "${TEST_SANITIZED:-0}" = 1 ] || [ "$kilobytes" -le "$1" ]
}

mount_start "$work/packed" memory=64M
check "64 readers, memory=64M: differential" "$TEST_PROGRAMS/diff_reader" src/weights "$mnt/weights" 64 2
check "64 slices" "$TEST_PROGRAMS/engine_reader" slices src/weights "$mnt/weights" 64
check "64 readers of experts" "$TEST_PROGRAMS/engine_reader" experts src/weights "$mnt/weights" 64
check "whole runs" "$TEST_PROGRAMS/engine_reader" layers src/f32 "$mnt/f32"
check "a copied file" "$TEST_PROGRAMS/engine_reader" slices src/verbatim "$mnt/verbatim" 64
check "peak resident memory at most 96 MiB" within 98304
cat "$err" | head -n 1
check "unmount" mount_stop

mount_start "$work/packed" memory=16M
check "64 readers, memory=16M" "$TEST_PROGRAMS/diff_reader" src/weights "$mnt/weights" 64 1
check "64 readers of experts, memory=16M" "$TEST_PROGRAMS/engine_reader" experts src/weights "$mnt/weights" 64
check "whole runs, memory=16M" "$TEST_PROGRAMS/engine_reader" layers src/weights "$mnt/weights"
check "peak resident memory at most 48 MiB" within 49152
check "unmount" mount_stop

# 256 threads that fault on one mapping.
mount_start "$work/packed" memory=64M
check "256 threads" "$TEST_PROGRAMS/diff_reader" src/f32 "$mnt/f32" 256 1
check "unmount" mount_stop
finish
