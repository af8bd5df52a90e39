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

real=$TRUNKFS
denied() { # WHAT: trunkfs runs without it from now on
    printf '#!/bin/sh\nexec "%s" %s "%s" "$@"\n' "$TEST_PROGRAMS/deny" "$1" "$real" >trunkfs
    chmod +x trunkfs
    TRUNKFS=$work/trunkfs
}
said_once() { [ "$(grep -c "$1" "$daemon_log")" -eq 1 ]; }

# As a container's filter, or an old kernel, answers.
for what in uring-EPERM uring-ENOSYS; do
    denied $what
    mount_start "$work/packed"
    check "$what: the same bytes" "$reader" src/weights "$mnt/weights" 8 5
    check "$what: a copied file" "$reader" src/verbatim "$mnt/verbatim" 4 3
    check "$what: unmount" mount_stop
    check "$what: said once" said_once 'io_uring refused'
done

# As a file system without O_DIRECT answers.
denied direct
for io in uring plain; do
    mount_start "$work/packed" io=$io
    check "O_DIRECT refused, io=$io: the same bytes" "$reader" src/weights "$mnt/weights" 8 4
    check "O_DIRECT refused, io=$io: a copied file" "$reader" src/verbatim "$mnt/verbatim" 4 3
    check "O_DIRECT refused, io=$io: unmount" mount_stop
    check "O_DIRECT refused, io=$io: said once" said_once 'O_DIRECT refused'
done
TRUNKFS=$real

# Where containers and tests keep things: memory, and what lies on memory.
for type in tmpfs ramfs; do
    mkdir $type
    if mount -t $type none $type 2>/dev/null; then
        at_exit "umount -l '$work/$type'"
        cp -a packed $type/
        mount_start "$work/$type/packed"
        check "on $type" "$reader" src/weights "$mnt/weights" 4 4
        check "on $type: a copied file" "$reader" src/verbatim "$mnt/verbatim" 4 3
        check "on $type: unmount" mount_stop
    else
        skip_optional "on $type" "cannot be mounted here"
    fi
done
finish
