from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.mlops.eks.plugins.modules import run_report


def run(capsys: pytest.CaptureFixture[str], **arguments: t.Any) -> dict[str, t.Any]:
    """Run the module as Ansible does and return what it prints."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        run_report.main()
    return dict(json.loads(capsys.readouterr().out))


def test_the_module_reports_and_its_second_run_is_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = tmp_path / "r" / "local" / "01-train"
    step.mkdir(parents=True)
    (step / "step.json").write_text('{"outcome": "succeeded"}')
    arguments = {"runs_dir": str(tmp_path), "run_id": "r"}
    predicted = run(capsys, **arguments, _ansible_check_mode=True, _ansible_diff=True)
    assert (predicted["changed"], len(predicted["diff"])) == (True, 2)
    first = run(capsys, **arguments)
    assert (first["changed"], first["outcome"], Path(first["report"]).is_file()) == (True, "succeeded", True)
    assert "diff" not in first
    assert run(capsys, **arguments)["changed"] is False


def test_an_unknown_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "20261121T091502-digits-3f9a").mkdir()
    result = run(capsys, runs_dir=str(tmp_path), run_id="nope")
    assert result["failed"] is True
    assert result["runs"] == ["20261121T091502-digits-3f9a"]
    assert result["msg"].endswith("has no such run; it has 20261121T091502-digits-3f9a.")
