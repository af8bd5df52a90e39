#!/bin/bash
# large.sh - a file of more than 4 GiB: offsets beyond 32 bits, with holes and with data at
# its far end; and a mere 2^32 + 1 bytes.
. "$(dirname "$0")/../tap.sh"
cd "$work"
truncate -s $((5 << 30)) big
sample bf16 1000001 1 | dd of=big bs=1M seek=$(((4 << 10) + 3)) conv=notrunc status=none
sample bf16 77777 2 | dd of=big bs=1 seek=$(((5 << 30) - 77777)) conv=notrunc status=none
check "pack 5 GiB" "$TRUNKPACK" pack -q big packed
check "it takes next to nothing" test "$(du -s --block-size=1 packed | cut -f1)" -lt 6000000
check "verify" "$TRUNKPACK" verify -q packed
check "unpack" "$TRUNKPACK" unpack -q packed back
check "the same bytes" cmp big back/big
check "holes again" test "$(stat -c %b back/big)" -lt 100000
finish
