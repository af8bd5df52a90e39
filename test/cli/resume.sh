#!/bin/bash
# resume.sh - kill -9 at many moments: no final name is ever wrong, the source is
# untouched, and the same command again gives the bytes of an undisturbed run.
. "$(dirname "$0")/../tap.sh"
cd "$work"
rounds=$TEST_KILLS
mkdir -p src/sub
for i in 1 2 3 4 5 6; do sample bf16 $((3000000 + i * 333333)) $i >src/weights.$i; done
sample text 500000 7 >src/sub/tokenizer.json
sample random 900000 8 >src/sub/random.bin
ln -s weights.1 src/link
ln src/weights.2 src/sub/hard
tree_listing src >source-before
began=$(date +%s%N)
"$TRUNKPACK" pack -q --codec zstd src reference
whole_ms=$((($(date +%s%N) - began) / 1000000 + 1))

# Whatever stands under a final name is complete.
finals_are_right() {
    local name
    while IFS= read -r -d '' name; do
        cmp "$1/$name" "reference/$name" || return 1
    done < <(cd "$1" && find . -type f ! -name '.trunk-tmp-*' -printf '%P\0')
}

tree_content() { (cd "$1" && find . -mindepth 1 -printf '%y %m %l %P\n' | LC_ALL=C sort); }

killed=0
finals=yes resumed=yes
RANDOM=20260101
for ((round = 0; round < rounds; round++)); do
    rm -rf packed
    "$TRUNKPACK" pack -q --codec zstd src packed >killed.out 2>&1 </dev/null &
    pid=$!
    sleep "$(printf '0.%03d' $((RANDOM * whole_ms / 32768 % 1000)))"
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null && continue
    killed=$((killed + 1))
    if [ -d packed ]; then finals_are_right packed || finals="round $round"; fi
    [ ! -d packed ] || cp -a packed interrupted
    "$TRUNKPACK" pack -q --codec zstd src packed || resumed="round $round: status $?"
    diff -r --no-dereference reference packed || resumed="round $round: differs"
    diff <(tree_content reference) <(tree_content packed) || resumed="round $round: listing"
    rm -rf interrupted
done >log 2>&1
cp log "$err"
enough() { echo "$killed of $rounds runs were killed"; [ "$killed" -ge 3 ]; }
check "runs were killed before they ended ($killed of $rounds)" enough
all_right() { cat log; [ "$1" = yes ] || { echo "$1"; return 1; }; }
check "no final name was ever incomplete" all_right "$finals"
check "the same command again gives the bytes of a clean run" all_right "$resumed"
tree_listing src >source-after
check "the source is untouched" cmp source-before source-after

# The same with --remove-source: between source and packed, every file exists whole.
lost=yes
killed=0
for ((round = 0; round < rounds / 3; round++)); do
    rm -rf src2 packed2 back2
    cp -a src src2
    "$TRUNKPACK" pack -q --codec zstd --remove-source src2 packed2 >/dev/null 2>&1 </dev/null &
    pid=$!
    sleep "$(printf '0.%03d' $((RANDOM * whole_ms / 32768 % 1000)))"
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || killed=$((killed + 1))
    mkdir -p src2
    "$TRUNKPACK" pack -q --codec zstd --remove-source src2 packed2 || lost="round $round: status $?"
    "$TRUNKPACK" unpack -q packed2 back2 || lost="round $round: unpack"
    diff -r --no-dereference src back2 || lost="round $round: differs"
done >log 2>&1
check "--remove-source loses nothing when killed ($killed times)" all_right "$lost"

# An interrupt is answered cleanly.
rm -rf packed
"$TRUNKPACK" pack -q --codec zstd src packed >/dev/null 2>&1 </dev/null &
pid=$!
kill -TERM $pid
status=0
wait $pid || status=$?
check "SIGTERM ends it with failure" test "$status" -ne 0
completes() {
    "$TRUNKPACK" pack -q --codec zstd src packed && diff -r --no-dereference reference packed
}
check "... and again completes" completes
finish
