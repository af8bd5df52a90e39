#!/bin/bash
# usage.sh - exit status, help and version of trunkpack; errors that name file and remedy.
. "$(dirname "$0")/../tap.sh"
cd "$work"

on_stdout() { # PATTERN COMMAND...: succeeds, prints PATTERN on standard output, nothing on the other
    local pattern=$1
    shift
    "$@" >"$work/stdout" 2>"$work/stderr"
    grep -q -- "$pattern" "$work/stdout" && [ ! -s "$work/stderr" ]
}

check "--version names the program" on_stdout trunkpack "$TRUNKPACK" --version
check "--help shows the usage" on_stdout 'pack  *SRC DST' "$TRUNKPACK" --help
for command in pack unpack verify info bench; do
    check "$command --help" on_stdout "$command" "$TRUNKPACK" $command --help
    check "$command --version" on_stdout trunkpack "$TRUNKPACK" $command --version
    expect 2 "$command without operands is a usage error" "$TRUNKPACK" $command
    also "... and says how to get help" grep -q -- --help "$err"
    expect 2 "$command with an unknown option is a usage error" "$TRUNKPACK" $command --no-such x y
    destination=$work/dst
    case $command in verify | info | bench) destination= ;; esac
    expect 1 "$command of a missing file fails" "$TRUNKPACK" $command "$work/missing" ${destination:+"$destination"}
    also "... and names it" grep -q "$work/missing" "$err"
done
expect 2 "no command is a usage error" "$TRUNKPACK"
expect 2 "an unknown command is a usage error" "$TRUNKPACK" squeeze a b
sample bf16 300000 >weights
for option in --jobs=0 --jobs=x --level=0 --level=99 --block-size=5000 --frame-size=1 \
    --codec=magic --block-size=1G; do
    expect 2 "pack $option is a usage error" "$TRUNKPACK" pack "$option" weights dst
done
refuse "an impossible TRUNKFS_ISA is an error" env TRUNKFS_ISA=quantum "$TRUNKPACK" pack weights dst
also "... that names the variable" grep -q TRUNKFS_ISA "$err"
check "nothing was written meanwhile" test ! -e dst
expect 2 "three operands are a usage error" "$TRUNKPACK" pack weights dst more
check "a single file packs into the directory" "$TRUNKPACK" pack -q weights dst
also "... under its name with the suffix" test -f dst/weights.trunk
check "a single packed file unpacks" "$TRUNKPACK" unpack -q dst/weights.trunk back
also "... under its own name" cmp weights back/weights
check "a single packed file verifies" "$TRUNKPACK" verify -q dst/weights.trunk
also "-q is quiet" test ! -s "$out" -a ! -s "$err"
check "info" "$TRUNKPACK" info dst
also "... names the file" grep -q weights "$out"
check "info --json is JSON" bash -c '"$0" info --json dst | python3 -m json.tool' "$TRUNKPACK"
mkdir damaged && cp dst/*.trunk damaged/0.trunk && cp dst/*.trunk damaged/2.trunk
head -c 5000 damaged/0.trunk >damaged/1.trunk
check "info --json is JSON beside a damaged file" bash -c '{ "$0" info --json damaged || true; } |
    python3 -m json.tool' "$TRUNKPACK"
check "info --tensors" "$TRUNKPACK" info --tensors dst
check "pack --json is JSON" bash -c '"$0" pack --json weights dst2 | python3 -c "
import json, sys
for line in sys.stdin.read().strip().splitlines() or sys.exit(1): json.loads(line)
" || "$0" pack --json weights dst3 | python3 -m json.tool' "$TRUNKPACK"
check "bench --json has memcpy and codecs" bash -c '"$0" bench --json weights | python3 -c "
import json, sys
report = json.load(sys.stdin)
assert report[\"memcpy_gbps\"] > 0
for row in report[\"codecs\"]:
    assert {\"name\", \"ratio\", \"encode_gbps\", \"decode_gbps\", \"decode_checked_gbps\"} <= set(row)
assert len(report[\"codecs\"]) >= 3
"' "$TRUNKPACK"
cp weights foreign.trunk
expect 1 "a foreign file is refused" "$TRUNKPACK" unpack foreign.trunk elsewhere
also "... and named" grep -q foreign "$err"
full_device() { "$TRUNKPACK" info dst >/dev/full; }
refuse "standard output on a full device is an error" full_device
finish
