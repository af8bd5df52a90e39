# lib.sh - what scripts/demo, scripts/test and the benchmarks share: messages, the
# set-up of a fresh Debian 12 or Ubuntu 24.04, and the build. Sourced by bash.
#
# Nothing here is done twice: a step whose result is present costs milliseconds.
# After setup_python, `python3` on the PATH is the one that has the modules.
#
# Variables that a caller of the scripts may set:
#   TRUNKFS_CACHE   where models and Python modules are kept (~/.cache/trunkfs)
#   TRUNKFS_BUILD   the build directory (build/ in the checkout)

set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${TRUNKFS_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/trunkfs}
build=${TRUNKFS_BUILD:-$top/build}

packages_build=(gcc meson ninja-build pkg-config libfuse3-dev fuse3 liburing-dev libzstd-dev
    libxxhash-dev libssl-dev check python3 python3-venv)
python_modules=(numpy zstandard safetensors)

say() { printf '%s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# as_root COMMAND...: run it as root, directly or by sudo. A password prompt of sudo is
# seen and answered by the user; without a terminal there is nobody to answer.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        die "need root for: $* (neither root nor sudo here; run that as root, then try again)"
    elif [ -t 0 ]; then
        say "running with sudo: $*"
        sudo "$@"
    else
        sudo -n "$@" || die "need root for: $* (sudo wants a password and there is no terminal)"
    fi
}

package_present() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# setup_packages NAME...: install those Debian packages that are missing.
setup_packages() {
    local missing=() name
    command -v dpkg-query >/dev/null ||
        die "not a Debian or Ubuntu system: install the equivalents of: $*"
    for name in "$@"; do
        package_present "$name" || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing: ${missing[*]}"
    # A fresh image has no package lists; an old one has lists of versions that are gone.
    as_root apt-get -qq update </dev/null >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends \
        "${missing[@]}" </dev/null >&2
}

# setup_python: modules from PyPI in a virtual environment of the cache, since Debian
# forbids pip to touch the system's Python.
setup_python() {
    local venv=$cache/venv
    if ! "$venv/bin/python3" -c "import ${python_modules[*]/%/,} sys" 2>/dev/null; then
        say "making a Python environment in $venv: ${python_modules[*]}"
        mkdir -p "$cache"
        python3 -m venv --clear --system-site-packages "$venv"
        "$venv/bin/python3" -m pip install -q --disable-pip-version-check "${python_modules[@]}" \
            </dev/null >&2 ||
            die "pip could not install ${python_modules[*]}: network needed, once"
    fi
    export PATH=$venv/bin:$PATH
}

# setup_build DIR [MESON_OPTION...]: configure DIR if it is new, then build.
setup_build() {
    local dir=$1
    shift
    if ! [ -f "$dir/build.ninja" ]; then
        meson setup "$dir" "$top" "$@" </dev/null >"$dir.setup.log" 2>&1 || {
            cat "$dir.setup.log" >&2
            die "meson setup $dir failed"
        }
        mv "$dir.setup.log" "$dir/meson-logs/"
    fi
    ninja -C "$dir" </dev/null >"$dir/meson-logs/ninja.log" 2>&1 || {
        tail -n 60 "$dir/meson-logs/ninja.log" >&2
        die "building in $dir failed; the whole output: $dir/meson-logs/ninja.log"
    }
}

# setup: everything that demo and the benchmarks need.
setup() {
    setup_packages "${packages_build[@]}"
    setup_python
    setup_build "$build"
}
