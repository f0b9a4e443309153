# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The artifact in an environment of its own, run as AWX runs it on OpenShift: a random user, one writable directory."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from plays import ROOT
from samples import job
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

# A user without a name, in the group of root, as OpenShift gives it to a container.
USER, GROUP = "1000660000", "0"

# Python is bound to a place that any user may enter; the mount goes with its namespace.
_MAKE = """
unset ANSIBLE_CONFIG
mount --bind {base} {root}/python
{root}/python/bin/python3 -m venv --without-pip {root}/env
cache=${{MLOPS_EKS_CACHE:-${{XDG_CACHE_HOME:-$HOME/.cache}}/mlops-eks}}
uv=$(command -v uv || echo "$cache/uv/bin/uv")
. {tools}/uv_cache.sh
"$uv" pip install --quiet --python {root}/env/bin/python --require-hashes -r {tools}/../requirements.txt
cd {root} # Away from our ansible.cfg, whose collections path holds a collection of this name.
{root}/env/bin/ansible-galaxy collection install {artifact} --collections-path {root}/collections --no-deps --offline
"""
_RUN = """
mount --bind {base} {root}/python
cd {home}/work
variables=(HOME={home} PATH={root}/env/bin:{root}/bin:/usr/bin:/bin LC_ALL=C.UTF-8 MLOPS_EKS_CACHE={home}/work/cache)
variables+=(LD_LIBRARY_PATH={root}/python/lib ANSIBLE_HOME={home}/work/.ansible)
variables+=(ANSIBLE_COLLECTIONS_PATH={root}/collections)
play=(ansible-playbook mlops.eks.train -i clusters.yml -e pipeline={home}/work/run -e runs_dir={home}/work/runs)
exec setpriv --reuid {user} --regid {group} --clear-groups env -i "${{variables[@]}}" "${{play[@]}}"
"""


@pytest.fixture
def environment(space: Space, helm: str) -> Iterator[dict[str, t.Any]]:
    """An environment that holds the artifact and what it requires, and a home with one writable directory."""
    root = Path(tempfile.mkdtemp(prefix="mlops-eks-artifact-"))
    root.chmod(0o755)
    try:
        for name in ("python", "bin", "home/work"):
            (root / name).mkdir(parents=True)
        shutil.copy2(helm, root / "bin" / "helm")
        build = [str(Path(sys.executable).parent / "ansible-galaxy"), "collection", "build", "--output-path", str(root)]
        subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
        (artifact,) = root.glob("*.tar.gz")
        words = {"root": root, "home": root / "home", "base": sys.base_prefix, "tools": ROOT / "tools"}
        words |= {"artifact": artifact, "user": USER, "group": GROUP}
        _in_mounts(_MAKE.format(**words))
        yield words
    finally:
        shutil.rmtree(root)


def _in_mounts(script: str, *, rc: int = 0) -> str:
    """Run a script in a mount namespace of its own and return what it printed."""
    command = ["unshare", "--mount", "bash", "-euo", "pipefail", "-c", script]
    out = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, **out, timeout=900, check=False)
    assert done.returncode == rc, done.stdout[-4000:]
    return done.stdout


def test_a_random_user_with_one_writable_directory_runs_a_pipeline(space: Space, environment: dict[str, t.Any]) -> None:
    work: Path = environment["home"] / "work"
    pipeline = space.pipeline(one=job("echo here I am $((6 * 7))"))
    shutil.copytree(pipeline, work / "run")
    shutil.copy2(space.kubeconfig, work / "kubeconfig")
    host = {"kubeconfig": str(work / "kubeconfig"), "kube_namespace": space.namespace, "ansible_connection": "local"}
    host["ansible_python_interpreter"] = "{{ ansible_playbook_python }}"
    (work / "clusters.yml").write_text(yaml.safe_dump({"clusters": {"hosts": {"east": host}}}), encoding="utf-8")
    subprocess.run(["chown", "-R", f"{USER}:{GROUP}", str(work)], check=True)
    (work.parent).chmod(0o555)
    before = {path for path in work.parent.iterdir() if path != work}

    shown = _in_mounts(_RUN.format(**environment))

    assert "here I am 42" in shown
    assert {path for path in work.parent.iterdir() if path != work} == before
    (log,) = (work / "runs").rglob("*.log")
    assert log.stat().st_uid == int(USER)
    assert "here I am 42" in log.read_text(encoding="utf-8")
    # The second run knows it, too.
    assert "skipped" in _in_mounts(_RUN.format(**environment))
