#!/usr/bin/env bash
# Remove local clusters, the environment, the cache, and the packages that were installed for them.
# Caches of Go and uv that the user had before (`go env GOCACHE GOMODCACHE`, `uv cache dir`) were used instead of ours. Other
# projects use them too, so they stay; `go clean -cache -modcache` and `uv cache clean` empty them.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${MLOPS_EKS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mlops-eks}
cd "$root"

if [ -d /var/lib/mlops-eks ] && [ -n "$(ls -A /var/lib/mlops-eks)" ]; then
    tools/env.sh
    for state in /var/lib/mlops-eks/*/; do
        name=$(basename "$state")
        echo "== removing cluster $name"
        .venv/bin/ansible-playbook playbooks/local_cluster.yml -e local_cluster_state=absent -e local_cluster_name="$name"
    done
fi
rmdir /var/lib/mlops-eks 2>/dev/null || true

if [ -s "$cache/apt-installed" ] && [ "$(id -u)" = 0 ]; then
    mapfile -t ours < <(sort -u "$cache/apt-installed")
    # Remove only packages that we installed and that no other program needs now.
    extra=$(apt-get remove --simulate "${ours[@]}" 2>/dev/null | awk '/^Remv/ {print $2}' | sort | comm -13 <(printf '%s\n' "${ours[@]}") -)
    if [ -z "$extra" ]; then
        echo "== removing ${#ours[@]} packages that were installed for the local clusters"
        DEBIAN_FRONTEND=noninteractive apt-get purge --yes --quiet=2 "${ours[@]}"
    else
        echo "== keeping the installed packages: others need them by now ($(echo $extra))"
    fi
fi

echo "== removing $cache, .venv and build"
# Go makes fetched modules read-only.
if [ -d "$cache/gopath" ]; then chmod -R u+w "$cache/gopath"; fi
rm -rf "$cache" /run/mlops-eks-buildah-* .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis .ansible
echo "runs/ (your evidence and reports) is kept; delete it yourself when you need it no more"
for theirs in "${XDG_CACHE_HOME:-$HOME/.cache}/go-build" "${GOPATH:-$HOME/go}" "${XDG_CACHE_HOME:-$HOME/.cache}/uv"; do
    if [ -d "$theirs" ]; then echo "$theirs is kept: it is not ours alone"; fi
done
