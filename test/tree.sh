# shellcheck shell=bash
# tree.sh - a directory with everything that a packed directory must keep. Sourced.

# A Hugging Face cache in small: links from snapshots/ into blobs/.
make_cache() { # DIR
    mkdir -p "$1/blobs" "$1/snapshots/abc123" "$1/refs"
    sample bf16 700001 3 >"$1/blobs/3f2a"
    sample text 900 4 >"$1/blobs/77c0"
    ln -s ../../blobs/3f2a "$1/snapshots/abc123/model.safetensors"
    ln -s ../../blobs/77c0 "$1/snapshots/abc123/config.json"
    printf abc123 >"$1/refs/main"
}

make_links() { # DIR
    ln -s weights.bin "$1/relative"
    ln -s /nonexistent/target "$1/dangling"
    ln -s .. "$1/nested/up"
    ln -s "$(printf 'target with\nnewline \377')" "$1/odd-target"
    ln "$1/weights.bin" "$1/hard-packed"
    ln "$1/weights.bin" "$1/nested/hard-packed-too"
    ln "$1/random.bin" "$1/nested/hard-copied"
}

make_names() { # DIR: names that a careless program trips over
    sample text 2000 5 >"$1/$(printf 'new\nline')"
    sample bf16 50000 6 >"$1/$(printf 'not utf-8 \377\001')"
    sample text 3000 7 >"$1/ leading and trailing "
    sample text 3000 8 >"$1/-q"
    sample text 3000 8 >"$1/*"
    sample bf16 60000 9 >"$1/$(printf 'n%.0s' {1..249})"
    sample bf16 60000 10 >"$1/$(printf 'm%.0s' {1..255})"
    sample bf16 60000 11 >"$1/already.trunk"
    sample random 5000 12 >"$1/random.trunk"
    : >"$1/empty.trunk"
    mkdir "$1/directory.trunk"
    sample bf16 60000 13 >"$1/directory"
    ln -s weights.bin "$1/link.trunk"
    sample bf16 60000 14 >"$1/link"
}

make_tree() { # DIR
    mkdir -p "$1/nested/deeper/still" "$1/empty directory" "$1/private"
    sample bf16 2097165 1 >"$1/weights.bin"
    sample random 150000 2 >"$1/random.bin"
    sample text 400000 3 >"$1/tokenizer.json"
    sample text 700 4 >"$1/config.json"
    sample zero 300000 >"$1/zeros"
    sample f32 100002 5 >"$1/nested/deeper/still/f32.bin"
    printf x >"$1/one byte"
    : >"$1/empty"
    truncate -s 3000000 "$1/sparse"
    sample bf16 100000 6 | dd of="$1/sparse" bs=4096 seek=300 conv=notrunc status=none
    make_cache "$1/cache"
    make_names "$1"
    make_links "$1"
    chmod 600 "$1/config.json"
    chmod 444 "$1/tokenizer.json"
    chmod 755 "$1/weights.bin"
    chmod 640 "$1/nested/deeper/still/f32.bin"
    chmod 700 "$1/private"
    chmod 1777 "$1/nested/deeper"
    touch -d '1969-07-20 20:17:40.123456789 UTC' "$1/config.json"
    touch -d '2038-01-19 03:14:08.999999999 UTC' "$1/weights.bin"
    touch -d '2001-09-09 01:46:40.000000001 UTC' "$1/empty" "$1/empty directory"
    touch -h -d '2020-02-02 02:02:02.020202020 UTC' "$1/relative" "$1/dangling"
    touch -d '2022-02-22 22:22:22.222222222 UTC' "$1/nested" "$1"
}
