# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import MissingToolError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import Library, require

PLUGINS = Path(__file__).resolve().parents[5] / "plugins"
MODULES = [
    ".".join(("ansible_collections.mlops.eks.plugins", *path.relative_to(PLUGINS).with_suffix("").parts))
    for kind in ("module_utils", "modules")
    for path in sorted((PLUGINS / kind).rglob("*.py"))
    if path.name != "__init__.py"
]
LIBRARIES = ("boto3", "botocore", "cryptography", "jinja2", "jsonschema", "referencing", "urllib3", "yaml")


def test_a_library_is_imported_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library("xml.dom", "minidom")
    monkeypatch.delitem(sys.modules, "xml.dom.minidom", raising=False)
    assert not hasattr(library, "__wrapped__")
    assert "xml.dom.minidom" not in sys.modules
    assert library.minidom.__name__ == "xml.dom.minidom"


def test_a_missing_library_is_named_with_its_package_and_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingToolError) as caught:
        Library("yaml").safe_load("a: 1")
    message = str(caught.value)
    assert message.startswith(f"The Python library yaml is not installed for {sys.executable} (")
    assert message.endswith(f"). Run: {sys.executable} -m pip install 'pyyaml>=6'")


def test_a_library_can_be_required_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.x509", None)
    with pytest.raises(MissingToolError, match=r"cryptography is not installed .* pip install 'cryptography'"):
        require(Library("cryptography.x509"))


def test_modules_can_be_imported_without_any_library(tmp_path: Path) -> None:
    (tmp_path / "ansible_collections" / "mlops").mkdir(parents=True)
    (tmp_path / "ansible_collections" / "mlops" / "eks").symlink_to(PLUGINS.parent)
    program = f"""
import importlib, sys
sys.modules.update(dict.fromkeys({LIBRARIES!r}))
for name in {MODULES!r}:
    importlib.import_module(name)
"""
    env = {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
