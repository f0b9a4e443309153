# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._local import pypi

FILE = "[global]\nindex-url = https://one.example/simple\nno-color = true\n[install]\nretries = 9\n"


def test_only_what_leads_to_an_index_is_lent() -> None:
    assert pypi.settings({}, [FILE]) == {"index-url": "https://one.example/simple", "retries": "9"}
    assert pypi.settings({"PIP_NO_COLOR": "1"}, []) == {}


def test_the_environment_wins_over_files_and_later_files_over_earlier_ones() -> None:
    later = "[global]\nretries = 3\nproxy = p:1\n"
    found = pypi.settings({"PIP_PROXY": "q:2", "PIP_INDEX_URL": ""}, [FILE, later])
    assert found == {"index-url": "https://one.example/simple", "retries": "3", "proxy": "q:2"}


def test_secrets_of_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authorities = tmp_path / "authorities.pem"
    authorities.write_text("certificates", encoding="utf-8")
    monkeypatch.setenv("PIP_CERT", str(authorities))
    monkeypatch.setenv("PIP_INDEX_URL", "https://two.example/simple")
    options = pypi.lend(tmp_path)
    assert options == [
        "--secret",
        f"id=pip.conf,src={tmp_path / 'pip.conf'}",
        "--secret",
        f"id=ca.pem,src={authorities}",
    ]
    text = (tmp_path / "pip.conf").read_text(encoding="utf-8")
    assert "cert = /run/secrets/ca.pem\n" in text
    assert "index-url = https://two.example/simple\n" in text


def test_without_certificates_pip_uses_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CERT", str(tmp_path / "absent.pem"))
    assert pypi.lend(tmp_path) == ["--secret", f"id=pip.conf,src={tmp_path / 'pip.conf'}"]
    assert "cert" not in (tmp_path / "pip.conf").read_text(encoding="utf-8")
