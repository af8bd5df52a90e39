#!/bin/bash
# changes.sh - packed files that are replaced, cut or removed under a mount: the old bytes
# or EIO for files that are open, never a mixture; the new file after that.
. "$(dirname "$0")/lib.sh"
cd "$work"
mkdir one two
sample bf16 4000001 1 >one/weights
sample bf16 4000001 2 >two/weights
sample random 400001 3 >one/verbatim
sample random 400001 4 >two/verbatim
"$TRUNKPACK" pack -q one packed
"$TRUNKPACK" pack -q two packed-two
cp -a packed packed-live

cat >pieces.py <<'PY'
# pieces.py OLD NEW MOUNTED ACTION: open, read a little, act, read on: all pieces are OLD's or
# EIO; then a new open gives NEW ("-": an error).
import errno, os, subprocess, sys, time
old = open(sys.argv[1], "rb").read()
fd = os.open(sys.argv[3], os.O_RDONLY)
assert os.pread(fd, 100000, 0) == old[:100000]
subprocess.check_call(sys.argv[4], shell=True)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
right = refused = 0
for at in range(0, len(old), 65536):
    try:
        got = os.pread(fd, 65536, at)
        assert got == old[at:at + 65536], f"mixture at {at}"
        right += 1
    except OSError as error:
        assert error.errno in (errno.EIO, errno.ESTALE), error
        refused += 1
os.close(fd)
print(right, "right", refused, "refused")
deadline = time.monotonic() + 20
while True:
    try:
        with open(sys.argv[3], "rb", buffering=0) as file:
            got = file.read(len(old) + 1)
        new = open(sys.argv[2], "rb").read() if sys.argv[2] != "-" else None
        if got == new:
            break
        assert got in (old, new), "neither old nor new"
    except OSError as error:
        if sys.argv[2] == "-":
            break
        assert error.errno in (errno.EIO, errno.ESTALE, errno.ENOENT), error
    assert time.monotonic() < deadline, "the change never shows"
    time.sleep(0.1)
PY
for name in weights.trunk verbatim; do
    shown=${name%.trunk}
    for action in replace remove; do
        rm -rf packed-live
        cp -a packed packed-live
        mount_start "$work/packed-live"
        case $action in
        replace)
            check "$shown replaced by rename" python3 pieces.py one/$shown two/$shown "$mnt/$shown" \
                "cp packed-two/$name packed-live/.trunk-tmp-x && mv packed-live/.trunk-tmp-x packed-live/$name" ;;
        remove)
            check "$shown removed" python3 pieces.py one/$shown - "$mnt/$shown" "rm packed-live/$name" ;;
        esac
        check "... unmount" mount_stop
    done
done
# Cut or overwritten in place, which nobody should do: EIO where the checksum tells.
for action in "truncate -s 1000000" "truncate -s 0" "dd if=/dev/zero bs=4096 count=200 seek=3 conv=notrunc status=none of="; do
    rm -rf packed-live
    cp -a packed packed-live
    mount_start "$work/packed-live"
    case $action in *=) command="${action}packed-live/weights.trunk" ;; *) command="$action packed-live/weights.trunk" ;; esac
    check "weights: ${action%% of=}" python3 - one/weights "$mnt/weights" "$command" <<'PY'
import errno, os, subprocess, sys
old = open(sys.argv[1], "rb").read()
fd = os.open(sys.argv[2], os.O_RDONLY)
assert os.pread(fd, 1000, 0) == old[:1000]
subprocess.check_call(sys.argv[3], shell=True)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
refused = 0
for at in range(0, len(old), 65536):
    try:
        assert os.pread(fd, 65536, at) == old[at:at + 65536], at
    except OSError as error:
        assert error.errno in (errno.EIO, errno.ESTALE), error
        refused += 1
assert refused > 0
PY
    check "... the rest of the mount works" cmp one/verbatim "$mnt/verbatim"
    check "... unmount" mount_stop
done
finish
