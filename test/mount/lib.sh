# shellcheck shell=bash
# lib.sh - sourced by every mount test: mounting and unmounting, with the daemon's exit
# status asserted. Readiness is asked of the kernel's mount table or of trunkfs's own
# return, never guessed by a delay.
#
#   mount_start PACKED [OPTIONS]     foreground daemon; sets $mnt, $daemon_pid, $daemon_log
#   mount_stop                       unmounts, waits; fails unless the daemon exits with 0
# shellcheck source=test/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

[ -x "$TRUNKFS" ] || command -v "$TRUNKFS" >/dev/null || skip_all "trunkfs is not built"
[ -c /dev/fuse ] || skip_all "there is no /dev/fuse"
command -v fusermount3 >/dev/null || skip_all "fusermount3 is not installed"

mount_count=0
daemon_pid=
mnt=

# mountpoint(1) does not see a mount whose daemon is dead; the kernel's table does.
unmount_lazily() {
    local i
    for i in 1 2 3; do
        grep -q " $1 " /proc/mounts || return 0
        fusermount3 -u -z "$1" 2>/dev/null
    done
    return 0
}

# Wait until the kernel shows the mount or the daemon ended; fails in the second case.
mount_await() {
    local i
    for ((i = 0; i < 1500; i++)); do
        mountpoint -q "$mnt" && return 0
        kill -0 "$daemon_pid" 2>/dev/null || break
        sleep 0.02
    done
    echo "trunkfs did not mount; its log:" >&2
    cat "$daemon_log" >&2
    return 1
}

mount_start() {
    local packed=$1 options=${2:-}
    mount_count=$((mount_count + 1))
    mnt=$work/mnt.$mount_count
    daemon_log=$work/daemon.$mount_count.log
    mkdir -p "$mnt"
    at_exit "unmount_lazily '$mnt'"
    "$TRUNKFS" -f ${options:+-o "$options"} "$packed" "$mnt" >"$daemon_log" 2>&1 </dev/null &
    daemon_pid=$!
    at_exit "kill -KILL $daemon_pid 2>/dev/null"
    mount_await
}

# The daemon's own exit status, once it has left.
daemon_wait() {
    local status=0
    wait "$daemon_pid" || status=$?
    [ "$status" -eq 0 ] && return 0
    echo "trunkfs exited with status $status; its log:" >&2
    tail -n 40 "$daemon_log" >&2
    return 1
}

mount_stop() {
    fusermount3 -u "$mnt"
    daemon_wait
}

# A counter of the mount, e.g. metric trunkfs_frames_decoded_total.
metric() { awk -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' "$mnt/.trunkfs/metrics"; }
