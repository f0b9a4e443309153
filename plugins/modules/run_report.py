#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: run_report
short_description: Write the report of a pipeline's run
description:
  - Reads the record that every step of a run left on the controller, of all clusters, and writes beside them
    C(run.json) for programs and C(report.html) for people.
  - The page is one file that needs no network and no script; it shows outcomes, causes of failures, a timeline, what
    the steps requested, their pods, the last lines of their logs, and links to the evidence.
  - A record that is missing or broken, and a step without a recorded end, become a line in the report, not an error.
  - Hosts of one play may run this at the same time; the last one writes the records of all.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
options:
  runs_dir:
    description: Directory that holds the runs, one directory for each run id.
    type: path
    default: runs
  run_id:
    description: Id of the run, which is the name of its directory.
    type: str
    required: true
requirements:
  - jinja2 (a dependency of ansible-core) where the task runs
extends_documentation_fragment:
  - mlops.eks._attributes
"""

EXAMPLES = r"""
- name: Write the report of a run
  mlops.eks.run_report:
    run_id: 20261121T091502-digits-3f9a

- name: Write it where the runs are elsewhere
  mlops.eks.run_report:
    runs_dir: /srv/mlops/runs
    run_id: 20261121T091502-digits-3f9a
"""

RETURN = r"""
run_id:
  description: Id of the run.
  returned: success
  type: str
  sample: 20261121T091502-digits-3f9a
outcome:
  description:
    - The worst outcome of all steps, or that of the last step when all ended well.
    - V(running) means that the end of a step has not been recorded.
  returned: success
  type: str
  sample: succeeded
report:
  description: Path of the page.
  returned: success
  type: str
  sample: runs/20261121T091502-digits-3f9a/report.html
record:
  description: Path of C(run.json).
  returned: success
  type: str
  sample: runs/20261121T091502-digits-3f9a/run.json
runs:
  description: The runs there are, newest first.
  returned: when O(run_id) is none of them
  type: list
  elements: str
  sample: [20261121T091502-digits-3f9a]
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._report.write import report

ARGUMENT_SPEC = {
    "runs_dir": {"type": "path", "default": "runs"},
    "run_id": {"type": "str", "required": True},
}


def _quiet(_line: str) -> None:
    """Print nothing: a module's output is its result."""


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    directory, run_id = Path(module.params["runs_dir"]), module.params["run_id"]
    try:
        result = report(directory, run_id, check=module.check_mode, diff=module._diff, say=_quiet)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
