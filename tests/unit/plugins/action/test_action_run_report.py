from __future__ import annotations

from pathlib import Path

from ansible_collections.mlops.eks.plugins.action.run_report import ActionModule
from ansible_collections.mlops.eks.plugins.plugin_utils.live import TaskContext


def test_the_action_writes_on_the_controller_and_names_the_page(tmp_path: Path) -> None:
    step = tmp_path / "r" / "local" / "01-train"
    step.mkdir(parents=True)
    (step / "step.json").write_text('{"outcome": "succeeded"}')
    action = ActionModule.__new__(ActionModule)
    params, said = {"runs_dir": str(tmp_path), "run_id": "r"}, list[str]()
    predicted = action.engine(params, TaskContext(host="local", check=True, diff=False), said.append)
    assert (predicted["changed"], (tmp_path / "r" / "report.html").exists()) == (True, False)
    result = action.engine(params, TaskContext(host="local", check=False, diff=False), said.append)
    assert result["outcome"] == "succeeded"
    assert said[-1] == f"report | r | succeeded | {tmp_path / 'r' / 'report.html'}"
    again = action.engine(params, TaskContext(host="local", check=False, diff=False), said.append)
    assert (again["changed"], len(said)) == (False, 2)
