#!/bin/bash
# shapes.sh - files of awkward sizes against their source, the same bytes at any number of
# threads, and files packed with other block sizes than the default.
. "$(dirname "$0")/../tap.sh"
cd "$work"
mkdir src
block=$((1 << 20))
sample bf16 $((3 * block + 77778)) 1 >src/not-a-multiple
sample bf16 $((4 * block)) 2 >src/exact-multiple
sample bf16 $((block / 3)) 3 >src/smaller-than-a-block
sample bf16 $((40 * block)) 4 >src/more-blocks-than-threads
sample bf16 $((2 * block + 12345)) 5 >src/odd-length
sample bf16 $((block + 1)) 6 >src/one-byte-over
sample f32 $((block + 4)) 7 >src/f32
sample text $((2 * block)) 8 >src/text
sample random $((block + 3)) 9 >src/random
sample zero $((5 * block)) >src/zero
printf '\1' | cat - src/exact-multiple >src/odd-phase

for jobs in 1 2 3 5 8 12 16; do
    check "pack with $jobs threads" "$TRUNKPACK" pack -q -j $jobs --block-size 1M src packed.$jobs
    check "unpack with $jobs threads equals the source" bash -c \
        '"$0" unpack -q -j "$1" "packed.$1" "back.$1" && diff -r src "back.$1"' "$TRUNKPACK" $jobs
    [ "$jobs" = 1 ] || also "... and the packed bytes are those of one thread" \
        diff -r packed.1 packed.$jobs
    rm -rf back.$jobs
    [ "$jobs" = 1 ] || rm -rf packed.$jobs
done

for codec in auto fast small zstd raw; do
    round_trip() {
        "$TRUNKPACK" pack -q --codec $codec src "codec.$codec" &&
            "$TRUNKPACK" verify -q --against src "codec.$codec" &&
            "$TRUNKPACK" unpack -q "codec.$codec" "codec.$codec.back" &&
            diff -r src "codec.$codec.back"
    }
    rm -rf codec.*
    check "round trip with --codec $codec" round_trip
done
rm -rf codec.*

for sizes in "16M 256K" "64M 4M" "4K 4K" "4M 64K" "256K 256K"; do
    block_size=${sizes% *} frame_size=${sizes#* }
    other_sizes() {
        rm -rf other other.back
        "$TRUNKPACK" pack -q --block-size "$block_size" --frame-size "$frame_size" src other &&
            "$TRUNKPACK" unpack -q other other.back && diff -r src other.back
    }
    check "blocks of $block_size, frames of $frame_size open with any build" other_sizes
done
finish
