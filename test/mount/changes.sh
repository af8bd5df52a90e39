#!/bin/bash
# changes.sh - packed files that are replaced, cut or removed under a mount: the old bytes
# or EIO for files that are open, never a mixture; the new file after that.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
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
# EIO; then a new open gives NEW ("-": an error; "": not looked at, and some piece must be EIO).
import errno, os, subprocess, sys, time
from reading import read_exactly, verdict
old_path, new_path, mounted, action = sys.argv[1:]
old = open(old_path, "rb").read()
fd = os.open(mounted, os.O_RDONLY)
assert read_exactly(fd, 100000, 0, len(old)) == old[:100000]
subprocess.check_call(action, shell=True)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
verdicts = [verdict(fd, old, at, 65536) for at in range(0, len(old), 65536)]
assert set(verdicts) <= {"right", "refused"}, set(verdicts)
os.close(fd)
print(verdicts.count("right"), "right", verdicts.count("refused"), "refused")
if not new_path:
    assert "refused" in verdicts
    sys.exit()
deadline = time.monotonic() + 20
while True:
    try:
        with open(mounted, "rb", buffering=0) as file:
            got = read_exactly(file.fileno(), len(old), 0, os.fstat(file.fileno()).st_size)
        assert got == old or new_path != "-" and got == open(new_path, "rb").read(), "neither"
        if got != old:
            break
    except OSError as error:
        if new_path == "-":
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
        also "... unmount" mount_stop
    done
done
# Cut or overwritten in place, which nobody should do: EIO where the checksum tells.
overwrite="dd if=/dev/zero bs=4096 count=200 seek=3 conv=notrunc status=none of="
for action in "truncate -s 1000000" "truncate -s 0" "$overwrite"; do
    rm -rf packed-live
    cp -a packed packed-live
    mount_start "$work/packed-live"
    command="$action packed-live/weights.trunk"
    [ "$action" != "$overwrite" ] || command=${action}packed-live/weights.trunk
    check "weights: ${action%% of=}" python3 pieces.py one/weights "" "$mnt/weights" "$command"
    also "... the rest of the mount works" cmp one/verbatim "$mnt/verbatim"
    also "... unmount" mount_stop
done
finish
