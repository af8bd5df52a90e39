#!/bin/bash
# tree.sh - a directory comes back as it was: names, modes, times, links, holes; and the
# packed directory mirrors it.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../tree.sh"
cd "$work"
make_tree src
tree_listing src >before

check "pack" "$TRUNKPACK" pack src packed
tree_listing src >after
check "the source is untouched" cmp before after
check "verify" "$TRUNKPACK" verify packed
check "verify --against the source" "$TRUNKPACK" verify --against src packed
check "unpack" "$TRUNKPACK" unpack packed back
check "the tree is the same" same_tree src back

check "weights became a packed file" test -f packed/weights.bin.trunk -a ! -e packed/weights.bin
check "random bytes were copied" cmp src/random.bin packed/random.bin
check "a source file named *.trunk was wrapped" test -f packed/already.trunk.trunk
also "... even if it does not shrink" test -f packed/random.trunk.trunk
also "... even if it is empty" test -f packed/empty.trunk.trunk
check "a directory named *.trunk is a directory" test -d packed/directory.trunk
check "the file beside it was copied" cmp src/directory packed/directory
check "a symbolic link named *.trunk is one" test -L packed/link.trunk
check "a name too long for the suffix was copied" test -f "packed/$(printf 'm%.0s' {1..255})"
check "a name of 249 bytes was packed" test -f "packed/$(printf 'n%.0s' {1..249}).trunk"
check "hard links are hard links when packed" \
    test packed/weights.bin.trunk -ef packed/nested/hard-packed-too.trunk
also "... and when copied" test packed/random.bin -ef packed/nested/hard-copied
also "... and again in the result" test back/weights.bin -ef back/nested/hard-packed-too
also "... also the copied" test back/random.bin -ef back/nested/hard-copied
check "links are links" test "$(readlink packed/dangling)" = /nonexistent/target
check "the whole is smaller" \
    test "$(du -sb packed | cut -f1)" -lt "$(du -sb src | cut -f1)"
sparse_blocks() { [ "$(stat -c %b back/sparse)" -le "$(stat -c %b src/sparse)" ]; }
check "holes are holes again" sparse_blocks

again() { "$TRUNKPACK" pack src packed && "$TRUNKPACK" verify --against src packed; }
cp -a packed reference
check "packing again changes nothing" again
also "... not a byte" diff -r --no-dereference reference packed
check "nothing temporary is left" bash -c '! find packed back -name ".trunk-tmp-*" | grep -q .'

for file in src/*; do
    [ -f "$file" ] && [ ! -L "$file" ] || continue
    name=$(basename -- "$file"; printf x)
    name=${name%$'\n'x}
    [ -f "packed/$name.trunk" ] && [ ! -L "packed/$name.trunk" ] || continue
    grow=$(($(stat -c %s -- "packed/$name.trunk") - $(stat -c %s -- "$file")))
    [ "$grow" -le 20000 ] || echo "$name grew by $grow"
done >grown
check "no packed file outgrows its source by more than its index" test ! -s grown

mkdir fifo-src
mkfifo fifo-src/pipe
sample text 100 >fifo-src/file
attempt "$TRUNKPACK" pack fifo-src fifo-packed
also "a FIFO does not hang and is named" grep -q pipe "$err"
also "... and what lies beside it is packed" test -f fifo-packed/file -o -f fifo-packed/file.trunk
# What is a hole in source and copy is not read to compare them: that could take hours.
mkdir holes && truncate -s 1T holes/nothing && printf x >>holes/nothing
check "a copy that is nearly all hole is made at once" \
    timeout 30 "$TRUNKPACK" pack -q holes holes.packed
also "... and is one" test "$(stat -c '%s' holes.packed/nothing)" = 1099511627777 \
    -a "$(du -k holes.packed/nothing | cut -f1)" -lt 1000
finish
