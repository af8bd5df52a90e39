#!/bin/bash
# mutation.sh - builds with an error on purpose: the tests must notice it and name it.
#   1  the encoder swaps the planes: the round trip must fail and name the planes
#   2  encoder and decoder both do: a round trip cannot see it, the vectors must
# usage: mutation.sh ROUNDTRIP-1 VECTORS-2
. "$(dirname "$0")/tap.sh"
export CK_DEFAULT_TIMEOUT=240

# Under a cross build the programs run in what meson says. Unquoted: it is words.
# shellcheck disable=SC2086
fails() { ! ${MESON_EXE_WRAPPER:-} "$@"; }
check "swapped planes fail the round trip" fails "$1"
cp "$out" "$work/roundtrip"
planes_named() { grep '^not ok' "$work/roundtrip" | grep 'planes .* swapped'; }
also "... and the message names the planes" planes_named
bytes_named() { planes_named | grep 'high and low bytes'; }
also "... those of bytes" bytes_named
check "planes swapped on both sides fail the vectors" fails "$2"
cp "$out" "$work/vectors"
vectors_named() { grep '^not ok' "$work/vectors" | grep good-bytes2; }
also "... those with planes" vectors_named
finish
