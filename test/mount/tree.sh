#!/bin/bash
# tree.sh - the mount is indistinguishable from the source for every ordinary program.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../tree.sh"
cd "$work"
make_tree src
"$TRUNKPACK" pack -q src packed
mount_start "$work/packed"

check "same tree: types, modes, sizes, times, links, content" same_tree src "$mnt"
attributes() { (cd "$1" && find . -mindepth 1 ! -type d -printf '%P %s %m %T@ %n %y %l\0' | sort -z); }
same_attributes() { cmp <(attributes src) <(attributes "$mnt"); }
check "stat: size, mode, mtime, link count" same_attributes
listing() { (cd "$1" && LC_ALL=C ls -lAR --time-style=full-iso --block-size=1 | grep -v '^total' |
    awk '{ $2 = ""; if ($1 ~ /^d/) $5 = ""; print }'); }
same_listing() { diff <(listing src) <(listing "$mnt"); }
check "ls -lAR" same_listing
dots() { (cd "$1" && ls -a "$2"); }
same_dots() { diff <(dots src cache) <(dots "$mnt" cache); }
check "ls -a shows . and .. and nothing else" same_dots
usage() {
    (cd "$1" && find . -type f -print0 | sort -z | xargs -0 du --apparent-size --block-size=1)
}
same_usage() { diff <(usage src) <(usage "$mnt"); }
check "du --apparent-size" same_usage
sparse_usage() {
    local a b
    a=$(du --block-size=1 src/sparse | cut -f1)
    b=$(du --block-size=1 "$mnt/sparse" | cut -f1)
    echo "$a $b"
    [ "$b" -le $((a + 65536)) ] && [ "$b" -ge 4096 ]
}
check "du knows holes" sparse_usage
file_system() { df --output=size,used "$mnt" | tail -n 1 | awk '{ exit !($1 > 0) }'; }
check "df shows a size" file_system
check "df -i works" df -i "$mnt"
inodes() { (cd "$mnt" && find . -printf '%P %i\0' | sort -z); }
stable_inodes() { inodes >i1; echo 3 >/proc/sys/vm/drop_caches 2>/dev/null || true; inodes >i2; cmp i1 i2; }
check "inode numbers are stable" stable_inodes
unique_inodes() { [ "$(find "$mnt" -printf '%i\n' | sort | uniq -d | wc -l)" -eq 2 ]; }
check "hard links share an inode and nothing else does" unique_inodes
check "hard links are the same file" test "$mnt/weights.bin" -ef "$mnt/nested/hard-packed-too"
check "readlink" test "$(readlink "$mnt/cache/snapshots/abc123/model.safetensors")" = ../../blobs/3f2a
check "a link into blobs/ reads" cmp src/cache/blobs/3f2a "$mnt/cache/snapshots/abc123/model.safetensors"
sums() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }
same_sums() { cmp <(sums src) <(sums "$mnt"); }
check "sha256sum" same_sums
copied() { cp -a "$mnt" copy && same_tree src copy; }
check "cp -a" copied
archived() { diff <(cd src && tar cf - --sort=name weights.bin nested cache | sha256sum) \
    <(cd "$mnt" && tar cf - --sort=name weights.bin nested cache | sha256sum); }
check "tar" archived
if command -v rsync >/dev/null; then
    synced() { [ -z "$(rsync -rclpt --itemize-changes --dry-run src/ "$mnt/")" ]; }
    check "rsync -c finds nothing to do" synced
else
    skip_optional "rsync -c finds nothing to do" "rsync is not installed"
fi
check "grep through an odd name" grep -q layer "$mnt/$(printf 'new\nline')"

# --- read-only
read_only() { # COMMAND...: fails with EROFS
    local message
    ! message=$(LC_ALL=C "$@" 2>&1) && grep -q 'Read-only file system' <<<"$message"
}
check "open for writing gives EROFS" read_only dd if=/dev/zero of="$mnt/weights.bin" count=1 conv=notrunc
check "creating gives EROFS" read_only touch "$mnt/new"
check "mkdir gives EROFS" read_only mkdir "$mnt/new"
check "rm gives EROFS" read_only rm -f "$mnt/config.json"
check "mv gives EROFS" read_only mv "$mnt/config.json" "$mnt/other"
check "chmod gives EROFS" read_only chmod 777 "$mnt/config.json"
check "ln gives EROFS" read_only ln "$mnt/config.json" "$mnt/other"
check "truncate gives EROFS" read_only truncate -s 0 "$mnt/config.json"
mount_options() { awk -v m="$mnt" '$2 == m { print $4 }' /proc/mounts; }
safe_options() {
    local option
    for option in ro nosuid nodev; do [[ ,$(mount_options), == *,$option,* ]] || return 1; done
}
check "mounted ro, nosuid, nodev" safe_options
also "... of type fuse.trunkfs" grep -q "$mnt fuse.trunkfs" /proc/mounts

# --- what is hidden, what does not exist, what comes later
refuse "a missing name" stat "$mnt/missing"
refuse "the packed name of a file is not there" stat "$mnt/weights.bin.trunk"
hidden() { ! ls -A "$mnt" | grep -q trunkfs && ! find "$mnt" -name '.trunkfs*' | grep -q .; }
check ".trunkfs is hidden from listings" hidden
also "... and can be read" grep -q '^trunkfs_bytes_served_total' "$mnt/.trunkfs/metrics"
check "the metrics are Prometheus text" python3 -c '
import re, sys
for line in open(sys.argv[1]):
    assert re.match(r"^(# (HELP|TYPE) .+|[a-z_]+(\{[^}]*\})? -?[0-9.e+]+(Inf)?)$", line.rstrip()), line
' "$mnt/.trunkfs/metrics"
check "--stats prints for people" "$TRUNKFS" --stats "$mnt"
sample random 1000 >packed/.trunk-tmp-unfinished
check "unfinished files are hidden" bash -c '! ls -A "$0" | grep -q tmp && ! stat "$0/.trunk-tmp-unfinished"' "$mnt"

stat "$mnt/later" 2>/dev/null || true
mkdir -p more/later-dir
sample bf16 300000 50 >more/later
sample bf16 300000 51 >more/later-dir/file
"$TRUNKPACK" pack -q more packed-more
cp -a packed-more/later.trunk packed/
cp -a packed-more/later-dir packed/
appears() { # bounded: names are remembered for a second
    local i
    for ((i = 0; i < 100; i++)); do cmp more/later "$mnt/later" && return 0; sleep 0.1; done
    return 1
}
check "files that are packed while mounted appear" appears
also "... in the listing too" bash -c 'ls "$0" | grep -qx later' "$mnt"
also "... and directories" cmp more/later-dir/file "$mnt/later-dir/file"
check "unmount; the daemon exits with 0" mount_stop
check "the mountpoint is a plain directory again" test -z "$(ls -A "$mnt")"
finish
