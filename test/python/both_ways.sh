#!/bin/bash
# both_ways.sh - what the C program packs, the Python reader unpacks to the same bytes, and
# what the Python writer packs, the C program does. Neither side has read the other.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../tree.sh"
here=$(cd "$(dirname "$0")" && pwd)
scripts=$here/../../scripts
reader() { python3 "$scripts/trunk_reader.py" "$@"; }
writer() { python3 "$here/trunk_writer.py" "$@"; }
cd "$work"

make_tree tree
python3 "$scripts/make_checkpoint.py" checkpoint
python3 "$scripts/make_checkpoint.py" --links --seed 2 cache

for source in tree checkpoint cache; do
    for codec in auto fast small zstd raw; do
        check "pack $source, $codec" "$TRUNKPACK" pack -q --codec "$codec" "$source" packed
        check "... Python unpacks it" reader unpack packed back
        check "... to the same tree" same_tree "$source" back
        rm -rf packed back
    done
done

slice=${TEST_DATA:-$here/../data}/minilm-slice.safetensors
for size in 4096 65536 262144; do
    check "pack trained weights, frames of $size" \
        "$TRUNKPACK" pack -q --frame-size "$size" "$slice" packed
    check "... Python unpacks them" reader unpack packed/minilm-slice.safetensors.trunk back
    check "... to the same bytes" cmp "$slice" back
    rm -rf packed back
done

# Whole models' worth of element types, at odd and even offsets.
for source in "$slice" checkpoint/extra/* checkpoint/*.safetensors checkpoint/trunk/trunk.bin; do
    for size in 8192 131072; do
        name=${source##*/}
        check "Python packs $name, frames of $size" writer --frame-size "$size" "$source" p.trunk
        check "... C verifies it" "$TRUNKPACK" verify -q --against "$source" p.trunk
        check "... C unpacks it" "$TRUNKPACK" unpack -q p.trunk unpacked
        result=unpacked
        [ ! -d unpacked ] || result=$(find unpacked -type f)
        check "... to the same bytes" cmp "$source" "$result"
        rm -rf unpacked p.trunk
    done
done
finish
