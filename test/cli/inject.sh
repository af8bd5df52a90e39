#!/bin/bash
# inject.sh - system calls that fail while packing (EIO, ENOSPC, EDQUOT, EINTR) at every
# kind of write, sync and rename: failure with nothing wrong under a final name, or success
# with the right bytes; never a crash; the source untouched.
. "$(dirname "$0")/../tap.sh"
command -v strace >/dev/null || skip_all "strace is not installed"
cd "$work"
mkdir src
sample bf16 1500001 1 >src/weights
sample random 300000 2 >src/random
strace -o /dev/null true 2>/dev/null || skip_all "strace is not permitted here"
tree_listing src >before
"$TRUNKPACK" pack -q src reference

finals_are_right() {
    local name
    [ -d packed ] || return 0
    while IFS= read -r -d '' name; do
        cmp "packed/$name" "reference/$name" || return 1
    done < <(cd packed && find . -type f ! -name '.trunk-tmp-*' -printf '%P\0')
}

injected() { # CALL ERROR WHEN
    local status=0
    rm -rf packed
    ASAN_OPTIONS=detect_leaks=0 strace -f -qq "${only[@]}" -e trace="$1" \
        -e "inject=$1:error=$2:when=$3" -o trace "$TRUNKPACK" pack -q src packed >stdout 2>stderr || status=$?
    grep -q INJECTED trace || { not_reached=yes; return 0; }
    reached=$((reached + 1))
    finals_are_right || return 1
    [ "$status" -lt 124 ] || return 1
    [ "$status" -ne 0 ] || diff -r reference packed || return 1
    if [ "$2" != EINTR ]; then
        [ "$status" -eq 1 ] && [ -s stderr ] || { echo "status $status"; return 1; }
    fi
}

reached=0
for call in write,writev,pwrite64,pwritev,pwritev2 fsync,fdatasync,sync_file_range \
    rename,renameat,renameat2,link,linkat read,pread64,preadv; do
    case $call in
    write*) errors="ENOSPC EIO EDQUOT" ;;
    read*) errors="EIO" ;;
    *) errors="EIO" ;;
    esac
    # Programs read much else before they begin.
    only=()
    case $call in read*) only=(-P "$work/src/weights") ;; esac
    for error in $errors; do
        wrong=
        for when in 1 2 3 4 5 7 10; do
            not_reached=no
            injected "$call" $error $when >log 2>&1 || { wrong="$wrong $when"; cat log stderr; }
            [ $not_reached = no ] || break
        done >all 2>&1
        check "$error from ${call%%,*} and its kin${wrong:+; wrong at$wrong}" \
            bash -c 'cat all; [ -z "$0" ]' "$wrong"
    done
done
check "the faults were reached ($reached times)" test "$reached" -ge 10
tree_listing src >after
check "the source is untouched" cmp before after

# What was there before need not have reached the disk: it is synced, with the directories above it,
# before its source goes.
mkdir -p deep/a/b
cp src/weights deep/a/b/
"$TRUNKPACK" pack -q deep deep.packed
refuse "--remove-source, and nothing can be synced" env ASAN_OPTIONS=detect_leaks=0 \
    strace -f -qq -e trace=fsync -e inject=fsync:error=EIO:when=1+ -o trace \
    "$TRUNKPACK" pack -q --remove-source deep deep.packed
also "... keeps the source" cmp src/weights deep/a/b/weights
check "--remove-source" env ASAN_OPTIONS=detect_leaks=0 strace -f -y -e trace=fsync,unlinkat \
    -o trace "$TRUNKPACK" pack -q --remove-source deep deep.packed
synced_before_removal() {
    local path
    for path in "" /a /a/b /a/b/weights.trunk; do
        sed '/unlinkat/q' trace | grep -q "fsync([0-9]*<$PWD/deep.packed$path>" || return 1
    done
}
also "... syncs file and directories before that" synced_before_removal
finish
