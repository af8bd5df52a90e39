#!/bin/bash
# refused.sh - a kernel or container that refuses io_uring, or a file system that refuses
# O_DIRECT: the same bytes by plain reads, said once in the log.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip_all "not root"
cd "$work"
mkdir src
sample bf16 5000001 1 >src/weights
sample random 1000001 2 >src/verbatim
"$TRUNKPACK" pack -q src packed
reader=$TEST_PROGRAMS/diff_reader

# With io_uring_setup answered by EPERM or ENOSYS (a seccomp filter, as containers have).
real=$TRUNKFS
for errno in EPERM ENOSYS; do
    printf '#!/bin/sh\nexec "%s" %s "%s" "$@"\n' "$TEST_PROGRAMS/deny_uring" $errno "$real" >trunkfs
    chmod +x trunkfs
    TRUNKFS=$work/trunkfs
    mount_start "$work/packed"
    check "io_uring refused ($errno): the same bytes" "$reader" src/weights "$mnt/weights" 8 5
    also "... of a copied file" "$reader" src/verbatim "$mnt/verbatim" 4 3
    also "... unmount" mount_stop
    said_once() { [ "$(grep -c -i 'io_uring' "$daemon_log")" -eq 1 ]; }
    also "... said once" said_once
done
TRUNKFS=$real
mount_start "$work/packed" io=plain
check "io=plain" "$reader" src/weights "$mnt/weights" 8 5
check "unmount" mount_stop

# ramfs knows no O_DIRECT.
mkdir ram
if mount -t ramfs none ram 2>/dev/null; then
    at_exit "umount -l '$work/ram'"
    cp -a packed ram/
    if dd if=ram/packed/weights.trunk of=/dev/null iflag=direct bs=4k count=1 status=none 2>/dev/null; then
        skip_optional "O_DIRECT refused" "ramfs accepts O_DIRECT here"
    else
        for io in uring plain; do
            mount_start "$work/ram/packed" io=$io
            check "O_DIRECT refused, io=$io: the same bytes" "$reader" src/weights "$mnt/weights" 8 4
            also "... of a copied file" "$reader" src/verbatim "$mnt/verbatim" 4 3
            also "... unmount" mount_stop
            said_once() { [ "$(grep -c 'O_DIRECT' "$daemon_log")" -eq 1 ]; }
            also "... said once" said_once
        done
    fi
    umount ram
else
    skip_optional "O_DIRECT refused" "cannot mount a ramfs"
fi
# tmpfs and overlay are where containers keep things.
mkdir tmp
if mount -t tmpfs none tmp 2>/dev/null; then
    at_exit "umount -l '$work/tmp'"
    cp -a packed tmp/
    mount_start "$work/tmp/packed"
    check "on tmpfs" "$reader" src/weights "$mnt/weights" 4 4
    also "... unmount" mount_stop
fi
finish
