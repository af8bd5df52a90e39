# shellcheck shell=bash
# tap.sh - sourced by every shell test: TAP on standard output, a working directory of its
# own, one place that cleans up. A check that fails is reported and the script goes on; a
# step outside a check that fails ends the script ("Bail out!").
#
#   check NAME COMMAND...            passes when COMMAND succeeds
#   also NAME COMMAND...             the same, about what the check before it left in $out, $err
#   refuse NAME COMMAND...           passes when COMMAND fails (but is not killed by a signal)
#   expect STATUS NAME COMMAND...    passes when COMMAND exits with STATUS
#   skip NAME REASON                 one check that cannot be made here
#   skip_all REASON                  the whole script: exit 77, or failure if skips are forbidden
#   finish                           the last line of every script
#
# The standard output and error of the last command checked, but by also, are in $out and $err.
# shellcheck disable=SC2034
set -euo pipefail
exec </dev/null

: "${TRUNKPACK:=trunkpack}" "${TRUNKFS:=trunkfs}" "${TEST_PROGRAMS:=.}"
work=$(mktemp -d "${TMPDIR:-/tmp}/trunkfs-test.XXXXXX")
out=$work/.stdout
err=$work/.stderr
checks_done=0
checks_failed=0
finished=no
cleanups=()
# Sanitised builds are ten times as slow: they repeat less. Each can be set from outside.
if [ "${TEST_SANITIZED:-0}" = 1 ]; then
    : "${TEST_ROUNDS:=2}" "${TEST_CYCLES:=20}" "${TEST_OPENS:=500}" "${TEST_KILLS:=8}"
    : "${TEST_DAMAGES:=220}" "${TEST_SIZE_DIVISOR:=8}"
fi
: "${TEST_ROUNDS:=12}" "${TEST_CYCLES:=200}" "${TEST_OPENS:=5000}" "${TEST_KILLS:=25}"
: "${TEST_DAMAGES:=440}" "${TEST_SIZE_DIVISOR:=1}"

# Run at exit, last registered first, whatever happened.
at_exit() { cleanups+=("$*"); }

tap_exit() {
    local status=$? i
    trap - EXIT INT TERM
    set +e
    for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do eval "${cleanups[i]}"; done
    chmod -R u+rwX "$work" 2>/dev/null
    rm -rf --one-file-system "$work"
    if [ "$finished" = no ]; then
        echo "Bail out! the script ended early (status $status)"
        [ "$status" -ne 0 ] || status=1
    fi
    exit "$status"
}
trap tap_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'echo "# line $LINENO: status $?: $BASH_COMMAND"' ERR

report() { # ok|"not ok" NAME [OUTPUT ERRORS]
    checks_done=$((checks_done + 1))
    echo "$1 $checks_done - $2"
    [ "$1" = ok ] && return
    checks_failed=$((checks_failed + 1))
    sed 's/^/# out: /' "${3:-$out}" | tail -n 15
    sed 's/^/# err: /' "${4:-$err}" | tail -n 25
}

# The status of COMMAND, in $status, without ending the script.
attempt() {
    status=0
    "$@" >"$out" 2>"$err" || status=$?
}

check() {
    local name=$1
    shift
    attempt "$@"
    if [ "$status" -eq 0 ]; then report ok "$name"; else
        echo "status $status: $*" >>"$err"
        report "not ok" "$name"
    fi
}

also() {
    local name=$1 status=0
    shift
    "$@" >"$out.also" 2>"$err.also" || status=$?
    if [ "$status" -eq 0 ]; then report ok "$name"; else
        echo "status $status: $*" >>"$err.also"
        report "not ok" "$name" "$out.also" "$err.also"
        sed 's/^/# err before: /' "$err" | tail -n 10
    fi
}

refuse() {
    local name=$1
    shift
    attempt "$@"
    if [ "$status" -ne 0 ] && [ "$status" -lt 124 ]; then report ok "$name"; else
        echo "status $status, a failure was expected: $*" >>"$err"
        report "not ok" "$name"
    fi
}

expect() {
    local wanted=$1 name=$2
    shift 2
    attempt "$@"
    if [ "$status" -eq "$wanted" ]; then report ok "$name"; else
        echo "status $status, expected $wanted: $*" >>"$err"
        report "not ok" "$name"
    fi
}

skip() {
    if [ "${TRUNKFS_REQUIRE_MOUNT:-0}" = 1 ]; then
        echo "skips are forbidden (TRUNKFS_REQUIRE_MOUNT=1): $2" >"$err"
        : >"$out"
        report "not ok" "$1"
        return
    fi
    checks_done=$((checks_done + 1))
    echo "ok $checks_done - $1 # SKIP $2"
}

# Something that the project does not promise and this machine may simply lack.
skip_optional() {
    checks_done=$((checks_done + 1))
    echo "ok $checks_done - $1 # SKIP $2"
}

skip_all() {
    finished=yes
    if [ "${TRUNKFS_REQUIRE_MOUNT:-0}" = 1 ]; then
        echo "Bail out! skips are forbidden (TRUNKFS_REQUIRE_MOUNT=1): $1"
        exit 1
    fi
    echo "1..0 # SKIP $1"
    exit "${TEST_SKIP_STATUS:-77}"
}

finish() {
    echo "1..$checks_done"
    echo "# $((checks_done - checks_failed)) passed, $checks_failed failed"
    finished=yes
    [ "$checks_failed" -eq 0 ] || exit "${TEST_FAIL_STATUS:-1}"
    exit 0
}

# --- shared tools of the tests -----------------------------------------------------

# A listing that tells two trees apart: type, mode, size, mtime to the nanosecond, link
# target, name. Directories' sizes are left out: they belong to the file system.
tree_listing() {
    (cd "$1" && find . -mindepth 1 \( -type d -printf '%y %m - %T@ %l %P\0' \) -o \
        -printf '%y %m %s %T@ %l %P\0' | LC_ALL=C sort -z)
}

same_tree() { # A B: content and metadata
    tree_listing "$1" >"$work/.tree-a"
    tree_listing "$2" >"$work/.tree-b"
    cmp "$work/.tree-a" "$work/.tree-b" || {
        diff <(tr '\0' '\n' <"$work/.tree-a") <(tr '\0' '\n' <"$work/.tree-b")
        return 1
    }
    diff -r --no-dereference "$1" "$2"
}

# Deterministic bytes: KIND is bf16, text, random or zero; see make_sample.c.
sample() { "$TEST_PROGRAMS/make_sample" "$@"; }
