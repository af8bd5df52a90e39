#!/bin/bash
# faults.sh - what goes wrong while packing: a full disk, files that cannot be read or that
# change, paths inside each other, damage afterwards. Errors name the file; nothing is lost.
. "$(dirname "$0")/../tap.sh"
cd "$work"
mkdir src
sample bf16 2500001 1 >src/weights
sample text 5000 2 >src/config.json
sample random 30000 3 >src/random
tree_listing src >before

untouched() { tree_listing src >after && cmp before after; }
no_partial() { # DST: whatever has a final name verifies
    [ ! -d "$1" ] || [ -z "$(ls -A "$1")" ] || "$TRUNKPACK" verify -q "$1"
}

# --- paths
refuse "destination inside the source" "$TRUNKPACK" pack src src/packed
also "... is said" grep -q 'src' "$err"
also "... and nothing was made there" untouched
refuse "destination is the source" "$TRUNKPACK" pack src src
ln -s src alias
refuse "destination inside the source, through a link" "$TRUNKPACK" pack src alias/packed
check "the source is as it was" untouched
check "pack for what follows" "$TRUNKPACK" pack -q src packed
refuse "unpack into the packed directory" "$TRUNKPACK" unpack packed packed
refuse "unpack below the packed directory" "$TRUNKPACK" unpack packed packed/back
check "the packed directory still verifies" "$TRUNKPACK" verify -q --against src packed
sample text 10 >file
refuse "destination is a file" "$TRUNKPACK" pack src file

# --- what already stands in the destination
mkdir taken
sample text 10 >taken/weights
refuse "a stranger's file of the source's name is in the way" "$TRUNKPACK" pack -q src taken
also "... is named" grep -q 'weights.*move it away' "$err"
also "... and is still there, alone" test -f taken/weights -a ! -e taken/weights.trunk
rm taken/weights
cp -p src/weights taken/weights && chmod 0600 taken/weights
check "a copy of the source, of another mode, gives way" "$TRUNKPACK" pack -q src taken
also "... and is gone" test ! -e taken/weights -a -f taken/weights.trunk

# --- links to what is not packed
mkdir -p hub/blobs hub/snapshots/a/b
cp src/weights hub/blobs/0
ln -s ../../blobs/0 hub/snapshots/a/weights
ln -s ../../../blobs/0 hub/snapshots/a/b/weights
ln -s nothing hub/snapshots/a/dangling
check "links alone" "$TRUNKPACK" pack hub/snapshots/a links
also "... are said to lead out of the source" grep -q 'weights: leads out of the source (such links: 2)' "$err"
check "links within the source" "$TRUNKPACK" pack hub links.within
also "... are nothing to speak of" test ! -s "$err"
mkfifo hub/fifo
expect 1 "a FIFO is left out" "$TRUNKPACK" pack hub links.within
also "... as an error" grep -q ' 1 errors' "$out"
check "unpacking" "$TRUNKPACK" unpack packed unpacked
check "unpacking again" "$TRUNKPACK" unpack packed unpacked
also "... leaves what is there, and says so" grep -q 'weights.trunk: unpacked before' "$out"

# --- selection
check "--exclude" "$TRUNKPACK" pack -q --exclude '*.json' src excluded
also "... leaves out what matches" bash -c '! ls excluded | grep -q json'
also "... and nothing else" test -f excluded/weights.trunk -a -f excluded/random
check "--dry-run" "$TRUNKPACK" pack --dry-run src dry
also "... reports" test -s "$out" -o -s "$err"
also "... and writes nothing" test ! -e dry

# --- remove-source
cp -a src removed
check "--remove-source" "$TRUNKPACK" pack -q --remove-source removed removed.packed
also "... removes the source files" bash -c '[ -z "$(find removed -type f 2>/dev/null)" ]'
also "... and the packed have everything" bash -c \
    '"$0" unpack -q removed.packed removed.back && diff -r src removed.back' "$TRUNKPACK"

# --- damage
flip() { # FILE OFFSET
    python3 - "$1" "$2" <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    byte = f.read(1)[0]
    f.seek(int(sys.argv[2]))
    f.write(bytes([byte ^ 0x10]))
PY
}
size=$(stat -c %s packed/weights.trunk)
for at in 0 17 45 130 4096 5000 $((size / 2)) $((size - 1)) $((size - 40)); do
    cp -a packed damaged
    flip damaged/weights.trunk $at
    expect 1 "verify finds a flipped bit at $at" "$TRUNKPACK" verify damaged
    also "... and names the file" grep -q weights "$err"
    expect 1 "unpack refuses it" "$TRUNKPACK" unpack damaged damaged.back
    also "... and leaves no wrong file" bash -c '[ ! -e damaged.back/weights ]'
    rm -rf damaged damaged.back
done
cp -a packed damaged
truncate -s -1 damaged/weights.trunk
expect 1 "verify finds a truncation" "$TRUNKPACK" verify damaged
truncate -s +1 damaged/weights.trunk
expect 1 "... and the same length with another byte" "$TRUNKPACK" verify damaged
truncate -s +1 damaged/weights.trunk
expect 1 "... and an extension" "$TRUNKPACK" verify damaged
cp -a src changed
flip changed/weights 1000000
expect 1 "verify --against a source that differs" "$TRUNKPACK" verify --against changed packed
also "... names the file" grep -q weights "$err"
rm changed/random
expect 1 "verify --against a source with a file missing" "$TRUNKPACK" verify --against changed packed
flip packed/random 7
expect 1 "verify --against finds damage in a copied file" "$TRUNKPACK" verify --against src packed
flip packed/random 7

# --- the source changes all the time while it is packed
mkdir moving
changing() { # HOW
    local status=0 pid
    rm -rf moving.packed
    sample bf16 20000000 7 >moving/weights
    ( trap 'exit 0' TERM; while :; do
        case $1 in
        append) printf x >>moving/weights ;;
        shrink) truncate -s 9000000 moving/weights; truncate -s 20000000 moving/weights ;;
        replace) cp moving/weights moving.new; mv moving.new moving/weights ;;
        esac
    done ) &
    pid=$!
    "$TRUNKPACK" pack -q --codec zstd moving moving.packed || status=$?
    kill $pid && wait $pid || true
    [ "$status" -eq 1 ] && [ ! -e moving.packed/weights.trunk ]
}
for how in append shrink replace; do
    check "a source that changes is detected ($how)" changing $how
    also "... and named" grep -q weights "$err"
done

# --- permissions, as somebody who is not root
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chmod 755 "$work"
    mkdir -m 777 open
    cp -a src unreadable
    chmod 000 unreadable/weights
    expect 1 "an unreadable file fails" "${nobody[@]}" "$TRUNKPACK" pack unreadable open/packed
    also "... and is named" grep -q weights "$err"
    also "... the others are packed" test -e open/packed/random
    mkdir -m 555 closed
    expect 1 "a destination without permission fails" "${nobody[@]}" "$TRUNKPACK" pack src closed/packed
    also "... and is named" grep -q closed "$err"
else
    skip_optional "unreadable files" "not root"
fi

# --- a full disk
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=256k none small 2>/dev/null; then
    at_exit "umount '$work/small'"
    for size in 256k 700k 1300k 1600k; do
        mount -o remount,size=$size small
        expect 1 "a disk of $size is too small" "$TRUNKPACK" pack src small/packed
        also "... the message says so" grep -q -i 'space' "$err"
        also "... what has a name is right" no_partial small/packed
        rm -rf small/packed
        cp -a src full
        expect 1 "... with --remove-source too" "$TRUNKPACK" pack --remove-source full small/packed
        also "... the file that failed is still there" cmp src/weights full/weights
        rm -rf small/packed full
    done
    mount -o remount,size=8m small
    check "with room it succeeds" "$TRUNKPACK" pack -q src small/packed
    mount -o remount,size=2m small
    expect 1 "unpacking onto a full disk fails" "$TRUNKPACK" unpack packed small/back
    also "... and leaves no wrong file" bash -c '[ ! -e small/back/weights ]'
else
    skip_optional "full disk" "cannot mount a tmpfs"
fi
check "the source was never touched" untouched
finish
