#!/usr/bin/env bash
# Run ansible-test sanity on the built collection. Arguments go to ansible-test, such as `--test import`. Without arguments
# all tests run except pylint, which applies rules of Ansible's own repository.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${MLOPS_EKS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mlops-eks}
bin=$root/.venv/bin
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- --skip-test pylint

# ansible-test keeps the environments of its tests in the home directory; pip is configured there.
export PIP_CONFIG_FILE=${PIP_CONFIG_FILE:-$HOME/.config/pip/pip.conf} HOME=$cache/ansible-test
unset ANSIBLE_CONFIG

# ansible-test downloads get-pip.py unless its cache has one. This one needs no network.
internals=$("$bin/python" -c 'import ansible_test._internal as internals; print(internals.__path__[0])')
pip=$(sed -n "s/^ *pip='\([0-9.]*\)',$/\1/p" "$internals/python_requirements.py")
mkdir -p "$HOME/.ansible/test/cache"
echo 'import ensurepip; ensurepip.bootstrap(upgrade=True)' >"$HOME/.ansible/test/cache/get_pip_${pip//./_}.py"

collection=$scratch/ansible_collections/mlops/eks
mkdir -p "$collection"
"$bin/ansible-galaxy" collection build --output-path "$scratch" "$root" >/dev/null
tar -xzf "$scratch"/mlops-eks-*.tar.gz -C "$collection"
# Galaxy's importer warns of files that ignore findings, so they are not in the artifact.
mkdir "$collection/tests"
cp -r "$root/tests/sanity" "$collection/tests"
cd "$collection"
# ansible-test tests the files that git lists.
git init --quiet
git add --all
"$bin/ansible-test" sanity --local --python "$("$bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" "$@"
