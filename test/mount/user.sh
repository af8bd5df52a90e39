#!/bin/bash
# user.sh - a user who is not root mounts through fusermount3, and allow_other follows the
# permissions of the files.
. "$(dirname "$0")/lib.sh"
cd "$work"
mkdir src
sample bf16 3000001 1 >src/weights
sample text 900 2 >src/config.json
chmod 600 src/config.json
"$TRUNKPACK" pack -q src packed
nobody=()
if [ "$(id -u)" = 0 ]; then
    command -v setpriv >/dev/null || skip_all "setpriv is not installed"
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chmod 755 "$work"
    chown -R 65534:65534 packed
    mnt=$work/user
    mkdir "$mnt"
    chown 65534:65534 "$mnt"
    "${nobody[@]}" test -x "$TRUNKFS" || skip_all "$TRUNKFS cannot be reached by other users"
    # Distributions make it 0666; a container may have kept it for root.
    mode=$(stat -c %a /dev/fuse)
    [ "$mode" = 666 ] || { chmod 666 /dev/fuse && at_exit "chmod $mode /dev/fuse"; }
    [ -u "$(command -v fusermount3)" ] || skip_all "fusermount3 is not set-uid root"
else
    mnt=$work/user
    mkdir "$mnt"
fi
at_exit "unmount_lazily '$mnt'"
check "a user mounts" "${nobody[@]}" "$TRUNKFS" packed "$mnt"
also "... and reads" "${nobody[@]}" cmp packed/config.json "$mnt/config.json"
also "... weights too" bash -c 'cmp - "$1" <"$0"' src/weights <("${nobody[@]}" cat "$mnt/weights")
check "ro, nosuid, nodev" grep -E "$mnt fuse.trunkfs [^ ]*nosuid" /proc/mounts
if [ "$(id -u)" = 0 ]; then
    refuse "others, even root, may not look" stat "$mnt/weights"
fi
check "the user unmounts" "${nobody[@]}" fusermount3 -u "$mnt"

if [ "$(id -u)" = 0 ]; then
    chown -R 0:0 packed
    mount_start "$work/packed" allow_other
    check "allow_other: others read what they may" "${nobody[@]}" cmp src/weights "$mnt/weights"
    refuse "... and not what they may not" "${nobody[@]}" cat "$mnt/config.json"
    also "... because of its mode" grep -q 'Permission denied' "$err"
    also "... default_permissions is on" grep -E "$mnt fuse.trunkfs [^ ]*default_permissions" /proc/mounts
    check "unmount" mount_stop
    mount_start "$work/packed"
    refuse "without allow_other others see nothing" "${nobody[@]}" cat "$mnt/weights"
    check "unmount" mount_stop
fi
finish
