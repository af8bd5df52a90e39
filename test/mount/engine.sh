#!/bin/bash
# engine.sh - reads as a streaming engine does: large O_DIRECT runs at odd multiples of
# 4096 that share frames, experts beyond the end of file while the same file is read
# buffered; each frame is decoded once for 64 readers.
. "$(dirname "$0")/lib.sh"
cd "$work"
mkdir src
sample bf16 $((32 * 1048576 + 20 * 4096 + 77)) 1 >src/trunk.bin
"$TRUNKPACK" pack -q src packed
reader=$TEST_PROGRAMS/engine_reader
frames=$((($(stat -c %s src/trunk.bin) + 262143) / 262144))

for mode in requests experts layers slices; do
    mount_start "$work/packed"
    check "$mode" "$reader" $mode src/trunk.bin "$mnt/trunk.bin" 16
    check "$mode: unmount" mount_stop
done

# 64 readers of neighbouring ranges, none of which begins on the frame grid.
mount_start "$work/packed"
check "64 slices at once" "$reader" slices src/trunk.bin "$mnt/trunk.bin" 64
decoded_once() {
    local decoded
    decoded=$(metric trunkfs_frames_decoded_total) || return 1
    echo "$decoded decoded, $frames frames"
    [ "$decoded" -eq "$frames" ]
}
check "each frame was decoded once" decoded_once
fetched_once() { # but for what was read ahead in vain, and a page on either side of each frame
    local fetched ahead packed
    fetched=$(metric trunkfs_bytes_fetched_total) || return 1
    ahead=$(($(metric trunkfs_prefetch_issued_bytes_total) - $(metric trunkfs_prefetch_used_bytes_total)))
    packed=$(stat -c %s packed/trunk.bin.trunk)
    echo "$fetched fetched, of it $ahead ahead in vain, $packed packed"
    [ $((fetched - ahead)) -le $((packed + frames * 8192)) ]
}
also "... and fetched once" fetched_once
check "64 slices: unmount" mount_stop

# All 64 want the same range at the same moment.
mount_start "$work/packed"
same_range() {
    local i pids=() failed=0
    for ((i = 0; i < 64; i++)); do
        dd if="$mnt/trunk.bin" of=/dev/null bs=4M iflag=direct count=1 status=none &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || failed=1; done
    return $failed
}
check "64 processes read the same 4 MiB" same_range
echo "# $(metric trunkfs_frames_decoded_total) frames decoded for 64 times 16"
check "unmount" mount_stop
finish
