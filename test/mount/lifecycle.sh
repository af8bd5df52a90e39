#!/bin/bash
# lifecycle.sh - mounting, leaving, dying and coming back: exit status tells, nothing hangs,
# nothing is left behind.
. "$(dirname "$0")/lib.sh"
cd "$work"
mkdir src
sample bf16 20000001 1 >src/weights
sample text 900 2 >src/config.json
"$TRUNKPACK" pack -q --codec raw src packed-raw
"$TRUNKPACK" pack -q src packed

# --- in the background: trunkfs returns when the mount can be read
mnt=$work/background
mkdir "$mnt"
at_exit "unmount_lazily '$mnt'"
# The daemon must not hold the caller's standard output: the pipe would never close.
returned() { [ -z "$(timeout 20 "$TRUNKFS" "$work/packed" "$mnt" 2>&1)" ]; }
check "returns with status 0 and silently" returned
also "... and can be read at once" cmp src/config.json "$mnt/config.json"
daemon_of() { pgrep -f "^$TRUNKFS .*$1\$"; }
gone() { # PID: leaves within a bounded time
    local i
    for ((i = 0; i < 500; i++)); do kill -0 "$1" 2>/dev/null || return 0; sleep 0.02; done
    return 1
}
pid=$(daemon_of "$mnt" | head -n 1 || true)
check "the daemon is there" test -n "$pid"
session_of() { ps -o sid= -p "$1"; }
own_session() {
    [ "$(session_of "$pid")" != "$(session_of $$)" ] && [ "$(readlink "/proc/$pid/cwd")" = / ]
}
also "... in a session of its own, at /" own_session
check "fusermount3 -u" fusermount3 -u "$mnt"
also "... makes it leave" gone "$pid"

# Options first or last, as mount(8) and fstab write them.
for order in first last; do
    options="ro,nosuid,nodev,memory=32M,fsname=some:name,noatime"
    case $order in
    first) check "options first" "$TRUNKFS" -o $options packed "$mnt" ;;
    last) check "options last" "$TRUNKFS" packed "$mnt" -o $options ;;
    esac
    also "... with the given fsname" grep -q "^some:name $mnt " /proc/mounts
    also "... a relative PACKED is read" cmp src/weights "$mnt/weights"
    also "... unmount" fusermount3 -u "$mnt"
done
if command -v mount.fuse3 >/dev/null && [ "$(id -u)" = 0 ]; then
    # mount.fuse3 looks for programs on a path of its own; this form names it.
    check "mount -t fuse" mount -t fuse -o ro,memory=32M "$TRUNKFS#$work/packed" "$mnt"
    also "... reads" cmp src/weights "$mnt/weights"
    also "... umount" umount "$mnt"
    printf '%s#%s %s fuse ro,nosuid,nodev,noauto,memory=32M 0 0\n' "$TRUNKFS" "$work/packed" \
        "$mnt" >fstab
    check "mount by an fstab" mount --fstab "$work/fstab" "$mnt"
    also "... reads" cmp src/config.json "$mnt/config.json"
    also "... umount" umount "$mnt"
else
    skip_optional "mount by an fstab" "not root, or no mount.fuse3"
fi

# --- what cannot be mounted
refuse "a missing packed directory" "$TRUNKFS" missing "$mnt"
also "... is named" grep -q missing "$err"
refuse "a missing mountpoint" "$TRUNKFS" packed nowhere
also "... is named" grep -q nowhere "$err"
refuse "a packed file instead of a directory" "$TRUNKFS" packed/weights.trunk "$mnt"
mkdir packed/inside
refuse "a mountpoint inside the packed directory" "$TRUNKFS" packed packed/inside
refuse "a mountpoint that is the packed directory" "$TRUNKFS" packed packed
rmdir packed/inside
mkdir outer
cp -a packed outer/packed
refuse "a packed directory inside the mountpoint" "$TRUNKFS" outer/packed outer
for bad in memory=1K memory=x threads=0 no_such_option verify=maybe isa=quantum; do
    expect 2 "-o $bad is a usage error" "$TRUNKFS" -o $bad packed "$mnt"
done
refuse "more memory= than there is" "$TRUNKFS" -o memory=1T packed "$mnt"
expect 2 "no operands are a usage error" "$TRUNKFS"
expect 0 "--help" "$TRUNKFS" --help
expect 0 "--version" "$TRUNKFS" --version
refuse "--stats of something else" "$TRUNKFS" --stats "$work"
check "nothing is mounted after all that" bash -c '! mountpoint -q "$0"' "$mnt"

# --- SIGTERM with live readers: each read is right or an error, none is short
for signal in TERM INT; do
    mount_start "$work/packed" prefetch=off
    cat >live.py <<'PY'
import os, sys, threading
original = open(sys.argv[1], "rb").read()
path, stop = sys.argv[2], []
short = []
ready = threading.Barrier(9)
def read(number):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    buffer, at, first = bytearray(1 << 20), 4096 * number, True
    while True:
        try:
            got = os.preadv(fd, [buffer], at)
        except OSError:
            return
        if got != min(len(buffer), len(original) - at) or buffer[:got] != original[at:at + got]:
            short.append((at, got))
        at = (at + 5 * 4096) % (len(original) - (2 << 20)) // 4096 * 4096
        if first:
            first = False
            ready.wait()
        if stop:
            return
threads = [threading.Thread(target=read, args=(n,), daemon=True) for n in range(8)]
for thread in threads: thread.start()
ready.wait()
print("reading", flush=True)
sys.stdin.read()
stop.append(1)
for thread in threads: thread.join(60)
assert not any(thread.is_alive() for thread in threads), "a reader hangs"
assert not short, short[:5]
PY
    mkfifo "go.$signal" "say.$signal"
    python3 live.py src/weights "$mnt/weights" <"go.$signal" >"say.$signal" 2>live.err &
    live=$!
    exec 7>"go.$signal"
    read -r _ <"say.$signal"
    kill -$signal "$daemon_pid"
    # A busy mount cannot go away; the daemon detaches it and leaves all the same.
    check "SIG$signal under 8 readers: exit status 0" daemon_wait
    exec 7>&-
    live_status() { wait $live || { cat live.err; return 1; }; }
    also "... no read was short or wrong" live_status
    also "... nothing is mounted" bash -c '! mountpoint -q "$0"' "$mnt"
done

# --- kill -9, and coming back
mount_start "$work/packed"
exec 8<"$mnt/weights"
kill -KILL "$daemon_pid"
wait "$daemon_pid" 2>/dev/null || true
refuse "after kill -9 a read is an error" timeout 20 dd if=/dev/fd/8 of=/dev/null bs=4k count=1 status=none
exec 8<&-
refuse "... also a new open" timeout 20 cat "$mnt/weights"
refuse "mounting on a dead mount is refused" timeout 20 "$TRUNKFS" packed "$mnt"
also "... with the way to clear it" grep -q 'fusermount3 -u' "$err"
also "... which works" fusermount3 -u "$mnt"
check "mounts again" timeout 20 "$TRUNKFS" packed "$mnt"
also "... and reads" timeout 20 cmp src/weights "$mnt/weights"
also "... and unmounts" fusermount3 -u "$mnt"

# --- many mounts and many opens: nothing grows
cycles=$TEST_CYCLES
mounts_here() { grep -c " $mnt " /proc/mounts; }
cycle() {
    local i
    for ((i = 0; i < cycles; i++)); do
        "$TRUNKFS" packed "$mnt" || return 1
        cmp -n 4096 src/weights "$mnt/weights" || return 1
        fusermount3 -u "$mnt" || return 1
    done
}
check "$cycles mounts" cycle
no_daemon() {
    local i
    for ((i = 0; i < 500; i++)); do daemon_of "$mnt" >/dev/null || return 0; sleep 0.02; done
    return 1
}
also "... leave no daemon" no_daemon
also "... and no mount" test "$(mounts_here)" = 0

mount_start "$work/packed"
held() { echo "$(ls "/proc/$daemon_pid/fd" | wc -l) $(ls "/proc/$daemon_pid/task" | wc -l)"; }
opens() {
    python3 - "$mnt" "$1" <<'PY'
import os, sys
for _ in range(int(sys.argv[2])):
    for name in ("weights", "config.json"):
        fd = os.open(f"{sys.argv[1]}/{name}", os.O_RDONLY)
        os.pread(fd, 100, 5000)
        os.close(fd)
    os.listdir(sys.argv[1])
PY
}
opens 100
first=$(held)
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status"; }
first_resident=$(resident)
check "many opens" opens "$TEST_OPENS"
also "... without more descriptors or threads" test "$(held)" = "$first"
same_memory() { echo "$first_resident $(resident) kB"; [ "$(resident)" -le $((first_resident + 8192)) ]; }
[ "${TEST_SANITIZED:-0}" = 1 ] || also "... or more memory" same_memory
check "unmount" mount_stop
finish
