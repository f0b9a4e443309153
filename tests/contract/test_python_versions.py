# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Which Pythons plugins run on: the oldest of the oldest ansible-core that is supported, and what older ones say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("*.py"))
# The oldest Python of a controller by ansible-core's releases; source: "ansible-core support matrix".
CONTROLLERS = {"2.18": "3.11", "2.19": "3.11", "2.20": "3.12", "2.21": "3.12"}
OLDEST = "3.11"


def python(version: str) -> str:
    """Return a Python of this version, or skip the test."""
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    found = shutil.which(f"python{version}") or (str(pyenv[-1]) if pyenv else None)
    # A shim of pyenv may name a version that is not chosen.
    for candidate in (*map(str, pyenv), found):
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.skip(f"there is no Python {version}")


def test_what_is_documented_is_what_is_demanded() -> None:
    runtime = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text(encoding="utf-8"))
    core = re.fullmatch(r">=(\d+\.\d+)\.0", runtime["requires_ansible"])
    assert core is not None
    assert CONTROLLERS[core[1]] == OLDEST
    demanded = (ROOT / "plugins/module_utils/_core/__init__.py").read_text(encoding="utf-8")
    assert f"_require(({OLDEST.replace('.', ', ')}))" in demanded
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"ansible-core {core[1]} or newer" in readme
    assert f"Python {OLDEST} or newer" in readme


def test_the_oldest_python_reads_every_file() -> None:
    files = sorted(map(str, (ROOT / "plugins").rglob("*.py")))
    reads = "import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name, encoding='utf-8').read(), name)"
    done = subprocess.run([python(OLDEST), "-c", reads, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("version", ["3.9", "3.10"])
def test_an_older_python_is_named_in_one_line_by_every_module(version: str, tmp_path: Path) -> None:
    program = python(version)
    (tmp_path / "ansible" / "module_utils").mkdir(parents=True)
    (tmp_path / "ansible" / "module_utils" / "basic.py").write_text("AnsibleModule = None\n", encoding="utf-8")
    (tmp_path / "ansible_collections" / "mlops").mkdir(parents=True)
    (tmp_path / "ansible_collections" / "mlops" / "eks").symlink_to(ROOT)
    for module in MODULES:
        load = f"import ansible_collections.mlops.eks.plugins.modules.{module}"
        done = subprocess.run(
            [program, "-B", "-c", load], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(tmp_path)}
        )
        assert done.returncode == 1, (module, done.stderr)
        answer = json.loads(done.stdout)
        assert answer["failed"] is True
        assert answer["msg"].startswith(f"mlops.eks needs Python {OLDEST} or newer; ")
        assert version in answer["msg"]
        assert "\n" not in answer["msg"]
