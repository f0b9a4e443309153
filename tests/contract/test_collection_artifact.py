# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The collection as a user gets it: built, imported as Galaxy does, installed, and used from an empty directory."""

from __future__ import annotations

import fnmatch
import json
import os
import posixpath
import secrets
import subprocess
import sys
import tarfile
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import digest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
NAME = "mlops-eks-0.1.0.tar.gz"

# Every room that users need ...
SHIPPED = (
    "LICENSE", "LICENSES/*", "README.md", "changelogs/*", "charts/*", "containers/*", "docs/*", "inventory/*", "meta/*",
    "playbooks/*", "plugins/*", "recipes/*", "roles/*", "terraform/*", "tools/*/*",
)  # fmt: skip
# ... but for what in them only makes other files, or tests them.
DEVELOPMENT = (
    "charts/keys.yaml", "charts/generate.py", "charts/table.py", "charts/*/ci/*", "docs/*.sh", "terraform/mocks/*",
    "terraform/*/tests/*",
)  # fmt: skip
PLAYBOOKS = sorted(path.stem for path in (ROOT / "playbooks").glob("*.yml"))
CHARTS = sorted(path.parent.relative_to(ROOT / "charts").as_posix() for path in ROOT.glob("charts/*/*/Chart.yaml"))


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run a command that must succeed and return what it printed."""
    argv = [str(word) for word in command]
    done = subprocess.run(
        argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(argv)}: exit code {done.returncode}\n{done.stdout}"
    return done.stdout


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built artifact."""
    where = tmp_path_factory.mktemp("artifact")
    run(BIN / "ansible-galaxy", "collection", "build", "--output-path", where, cwd=ROOT)
    return where / NAME


@pytest.fixture(scope="module")
def entries(artifact: Path) -> dict[str, tarfile.TarInfo]:
    """What is in it, directories left out."""
    with tarfile.open(artifact) as archive:
        return {entry.name: entry for entry in archive.getmembers() if not entry.isdir()}


@pytest.fixture(scope="module")
def installed(artifact: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collections path that holds the artifact alone; the collections it needs come with Ansible."""
    where = tmp_path_factory.mktemp("collections")
    options = ["--collections-path", where, "--no-deps", "--offline"]
    run(BIN / "ansible-galaxy", "collection", "install", artifact, *options, cwd=where, env=user(where))
    return where


def user(where: Path, collections: Path | None = None) -> dict[str, str]:
    """The environment of somebody in directory `where` who has installed the collection and set up nothing else."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    path = {"ANSIBLE_COLLECTIONS_PATH": str(collections)} if collections else {}
    return {**env, **path, "PWD": str(where), "NO_COLOR": "1"}


def test_it_holds_what_users_need_and_nothing_else(entries: dict[str, tarfile.TarInfo]) -> None:
    # Files that are new and not committed yet count as well; ignored ones do not.
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    there = [name for name in listed if os.path.lexists(ROOT / name)]
    wanted = {name for name in there if matches(name, SHIPPED) and not matches(name, DEVELOPMENT)}
    assert set(entries) - {"MANIFEST.json", "FILES.json"} == wanted


def test_links_lead_to_files_inside(entries: dict[str, tarfile.TarInfo]) -> None:
    links = {name: entry.linkname for name, entry in entries.items() if entry.issym()}
    assert {f"charts/{chart}/charts/common" for chart in CHARTS} <= links.keys()
    for name, target in links.items():
        there = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
        assert (f"{there}/Chart.yaml" if name.endswith("/charts/common") else there) in entries


def test_galaxy_imports_it_without_a_warning(artifact: Path, tmp_path: Path) -> None:
    # `make lint` runs ansible-lint, by the same profile; once is enough.
    settings = {"GALAXY_IMPORTER_CONFIG": os.devnull, "GALAXY_IMPORTER_RUN_ANSIBLE_LINT": "false"}
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **settings}
    said = run(sys.executable, "-m", "galaxy_importer.main", artifact, cwd=tmp_path, env=env)
    assert "Importer processing completed successfully" in said
    assert [line for line in said.splitlines() if line.startswith(("WARNING", "ERROR"))] == []


def test_playbooks_answer_to_their_full_names(installed: Path, tmp_path: Path) -> None:
    names = [f"mlops.eks.{playbook}" for playbook in PLAYBOOKS]
    options = ["--syntax-check", "-e", "pipeline=recipes/demo/digits"]
    said = run(BIN / "ansible-playbook", *names, *options, cwd=tmp_path, env=user(tmp_path, installed))
    where = installed / "ansible_collections/mlops/eks/playbooks"
    assert [name for name in PLAYBOOKS if f"playbook: {where}/{name}.yml" not in said] == []


def test_the_demo_pipeline_is_found_from_anywhere(installed: Path, tmp_path: Path) -> None:
    task = {"mlops.eks.pipeline_info": {"pipeline": "recipes/demo/digits"}, "register": "read"}
    steps = {"ansible.builtin.debug": {"msg": "{{ read.pipeline.steps | map(attribute='name') | join(' ') }}"}}
    play = tmp_path / "play.yml"
    play.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [task, steps]}]))
    said = run(BIN / "ansible-playbook", play, cwd=tmp_path, env=user(tmp_path, installed))
    assert "data train evaluate serve call" in said


@pytest.mark.parametrize("chart", CHARTS)
def test_installed_charts_render(chart: str, helm: str, installed: Path, tmp_path: Path) -> None:
    values = ROOT / "charts" / chart / "ci" / "minimal-values.yaml"
    where = installed / "ansible_collections/mlops/eks/charts" / chart
    rendered = run(helm, "template", "demo", where, "--values", values, cwd=tmp_path)
    assert "app.kubernetes.io/instance: demo" in rendered


@pytest.mark.parametrize("chart", CHARTS)
def test_a_step_is_the_same_from_an_installed_chart(chart: str, installed: Path) -> None:
    # Else a controller with the artifact would train again what one with a checkout has done.
    where = installed / "ansible_collections/mlops/eks/charts" / chart
    assert digest(where) == digest(ROOT / "charts" / chart)


@pytest.fixture
def namespace(native_cluster: t.Any, tmp_path: Path) -> Iterator[str]:
    """A namespace of the test's own."""
    name = f"artifact-{secrets.token_hex(4)}"

    def ensure(state: str) -> None:
        arguments = f"kubeconfig={native_cluster.kubeconfig} kind=Namespace name={name} state={state}"
        module = [BIN / "ansible", "localhost", "-m", "kubernetes.core.k8s", "-a", arguments]
        run(*module, "-e", "ansible_python_interpreter={{ ansible_playbook_python }}", cwd=tmp_path, env=user(tmp_path))

    ensure("present")
    yield name
    ensure("absent")


@pytest.mark.cluster
def test_installed_playbook_trains_on_a_cluster(
    native_cluster: t.Any, namespace: str, installed: Path, tmp_path: Path
) -> None:
    recipe = {
        "image": "localhost/mlops-eks/base:0.1.0",
        "pvc": [],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        "process": {"command": ["echo"], "args": ["hello"]},
    }
    step = {"name": "hello", "chart": "data-prep/data-process", "recipe": "hello.yaml", "timeout": 120}
    host = {"kubeconfig": native_cluster.kubeconfig, "kube_namespace": namespace, "ansible_connection": "local"}
    files = {
        "mine/hello.yaml": recipe,
        "mine/pipeline.yaml": {"name": "mine", "steps": [step]},
        "clusters.yml": {"clusters": {"hosts": {"here": host}}},
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    command = [BIN / "ansible-playbook", "-i", "clusters.yml", "mlops.eks.train", "-e", "pipeline=mine"]
    said = run(*command, cwd=tmp_path, env=user(tmp_path, installed))
    assert "| hello\n" in said
    (record,) = tmp_path.glob("runs/*/here/01-hello/step.json")
    assert json.loads(record.read_text(encoding="utf-8"))["outcome"] == "succeeded"
    assert len(list(tmp_path.glob("runs/*/report.html"))) == 1
