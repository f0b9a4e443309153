#!/usr/bin/env bash
# Every static check, all of them even when one fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=$PWD/.venv/bin
export PATH=$bin:$PATH MYPYPATH=.venv/collections
cache=${MLOPS_EKS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mlops-eks}
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT

check() {
    local name=$1 begun=$SECONDS output
    shift
    if output=$("$@" 2>&1); then
        printf '%-14s ok (%s s)\n' "$name" $((SECONDS - begun))
    else
        printf '%s\n%-14s FAILED\n' "$output" "$name"
        printf '%s ' "$name" >>"$failures"
    fi
}

# The longest, beside all others.
check ansible-lint ansible-lint --offline --strict &
check ruff ruff check .
check format ruff format --check .
check mypy mypy --explicit-package-bases --namespace-packages -p ansible_collections.mlops.eks.plugins
check mypy-demo env MYPYPATH=containers/digits:tests/demo mypy --strict containers/digits/digits tests/demo
check yamllint yamllint --strict .
check changelog antsibull-changelog lint
check sanity tools/sanity.sh
for chart in charts/*/*/Chart.yaml; do
    check "helm $(basename "$(dirname "$chart")")" "$cache/bin/helm" lint --strict --quiet \
        --values "$(dirname "$chart")/ci/minimal-values.yaml" "$(dirname "$chart")"
done
check terraform terraform fmt -check -recursive -diff terraform
check schemas python charts/generate.py --check

wait
if [ -s "$failures" ]; then
    echo "lint failed: $(<"$failures")"
    exit 1
fi
