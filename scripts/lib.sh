# shellcheck shell=bash
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
    libxxhash-dev libssl-dev check python3 python3-venv ca-certificates)
python_modules=(numpy zstandard safetensors)

say() { printf '%s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# as_root COMMAND...: run it as root, directly or by sudo, which may ask for a password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        die "need root for: $* (neither root nor sudo here; run that as root, then try again)"
    else
        # sudo asks on the terminal itself, whatever its output is redirected to.
        sudo "$@" || die "sudo failed for: $*"
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
    say "installing (as root): ${missing[*]}"
    as_root true # the password, or the reason why not, before output is put aside
    # A fresh image has no package lists; an old one has lists of versions that are gone.
    # What apt and dpkg say is of interest only if they fail.
    local log
    log=$(mktemp)
    if ! { as_root apt-get -qq update &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes \
            --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die "could not install: ${missing[*]}"
    fi
    rm -f "$log"
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

# setup_build DIR [MESON_OPTION...]: configure DIR if it is new, then build $targets, by
# default everything. The tools' output is shown if they fail.
targets=()
setup_build() {
    local dir=$1 log
    shift
    log=$(mktemp)
    if ! [ -f "$dir/build.ninja" ] && ! meson setup "$dir" "$top" "$@" </dev/null >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die "meson setup $dir failed"
    fi
    if ! ninja -C "$dir" ${targets[@]+"${targets[@]}"} </dev/null >"$log" 2>&1; then
        grep -A 20 -E '^FAILED|error' "$log" >&2 || tail -n 40 "$log" >&2
        rm -f "$log"
        die "building in $dir failed"
    fi
    rm -f "$log"
}

# setup: everything that demo and the benchmarks need.
setup() {
    setup_packages "${packages_build[@]}"
    setup_python
    setup_build "$build"
}

# debian_archive SUITE: the address from which this machine installs that suite.
debian_archive() {
    apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SITE)' |
        awk -v suite="$1" '$1 == suite && $2 == "main" { print $3; exit }'
}

# setup_aarch64: a cross compiler, qemu-user, and in $cache/aarch64 the static libraries
# that the codec and its tests link, taken from the distribution's own arm64 packages. They
# are unpacked, not installed: the host's list of architectures stays as it is.
setup_aarch64() {
    local root=$cache/aarch64 work keyring source
    setup_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    [ -d "$root" ] && return
    # shellcheck source=/dev/null
    . /etc/os-release
    case $ID in
        debian) source="$(debian_archive "$VERSION_CODENAME") $VERSION_CODENAME main" ;;
        ubuntu) source="http://ports.ubuntu.com/ubuntu-ports $VERSION_CODENAME main universe" ;;
        *) die "no arm64 packages known for $ID: use Debian or Ubuntu" ;;
    esac
    keyring=/usr/share/keyrings/$ID-archive-keyring.gpg
    say "fetching arm64 libraries into $root"
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/.aarch64-XXXXXX")
    mkdir -p "$work"/{lists/partial,archives/partial,packages,root}
    : >"$work/status"
    printf 'deb [signed-by=%s] %s\n' "$keyring" "$source" >"$work/sources.list"
    cat >"$work/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work";
APT::Sandbox::User "";
CONF
    if ! (cd "$work/packages" && export APT_CONFIG=$work/apt.conf && apt-get -qq update &&
        apt-get -qq download libzstd-dev libxxhash-dev libssl-dev check libsubunit-dev) >&2; then
        rm -rf "$work"
        die "can't download arm64 libraries: network needed, once"
    fi
    local package
    for package in "$work"/packages/*.deb; do
        dpkg-deb -x "$package" "$work/root"
    done
    # Only the static libraries: the shared ones' links lead to packages not fetched.
    find "$work/root" -name '*.so' -delete
    printf "[constants]\nroot = '%s'\n" "$root" >"$work/root/root.ini"
    mv "$work/root" "$root"
    rm -rf "$work"
}
