#!/usr/bin/env bash
# Create .venv: Python 3.12 or newer with exactly the locked packages, and the collection importable under its own name.
# Does nothing if it is up to date. Parallel calls wait for each other.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${MLOPS_EKS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mlops-eks}
venv=$root/.venv
lock=$root/requirements-dev.txt
mkdir -p "$cache" "$venv"
# Not .lock, which uv uses.
exec 9>"$venv/.making"
flock 9

# uv downloads into our cache, which `make clean` removes, unless the user has a cache of uv.
. "$root/tools/uv_cache.sh"

say() { printf '== %s\n' "$*" >&2; }

# uv finds or downloads Pythons and installs a lock in seconds. If it is missing, it comes from the package index.
find_uv() {
    if command -v uv; then return; fi
    if [ ! -x "$cache/uv/bin/uv" ]; then
        say "installing uv into $cache/uv"
        if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then install_python_venv; fi
        python3 -m venv "$cache/uv"
        "$cache/uv/bin/pip" install --quiet --no-cache-dir --disable-pip-version-check --require-hashes -r "$root/tools/uv.txt" >&2
    fi
    printf '%s\n' "$cache/uv/bin/uv"
}

install_python_venv() {
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        say "python3 has no venv module: install the package python3-venv (or uv) and run this again"
        exit 1
    fi
    say "installing python3-venv"
    apt-get update --quiet=2 >&2
    before=$(dpkg-query -W -f '${Package}\n' | sort)
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends python3-venv >&2
    # `make clean` removes what came with it.
    comm -13 <(printf '%s\n' "$before") <(dpkg-query -W -f '${Package}\n' | sort) >>"$cache/apt-installed"
}

# Pythons on PATH that really start (a pyenv shim may not), then pyenv's own, then one that uv downloads.
find_python() {
    local candidate
    for candidate in python3.13 python3.12 python3.14 python3 \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-4]*/bin/python; do
        "$candidate" -c 'import sys; assert (3, 12) <= sys.version_info < (3, 15); print(sys.executable)' 2>/dev/null && return
    done
    printf '3.13\n'
}

want=$(cat "$lock" "$root/tools/env.sh" | sha256sum | cut -d' ' -f1)
if [ "$(cat "$venv/.locked" 2>/dev/null || true)" != "$want" ]; then
    uv=$(find_uv)
    python=$(find_python)
    say "making .venv with Python $python"
    if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c '' 2>/dev/null; then
        "$uv" venv --quiet --allow-existing --python "$python" "$venv" 9>&-
    fi
    say "installing $(grep -c '==' "$lock") locked packages"
    UV_HTTP_TIMEOUT=${UV_HTTP_TIMEOUT:-180} "$uv" pip sync --quiet --python "$venv/bin/python" --require-hashes "$lock" 9>&-
    printf '%s\n' "$want" >"$venv/.locked"
fi

# ansible.cfg searches collections here, so that a checkout has the name mlops.eks.
mkdir -p "$venv/collections/ansible_collections/mlops"
ln -sfn "$root" "$venv/collections/ansible_collections/mlops/eks"
