#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: run_stop
short_description: Cancel a run, evidence first
description:
  - Takes the run's lock from the controller that follows it, if one does, and marks the running and kept steps as
    cancelled in the ledger; then uninstalls everything installed for the run, and keeps its pods and their logs to the
    end, for which it waits as long as the pods' grace period.
  - With the task keyword C(no_log) the evidence is readable by its owner only.
  - That controller ends its step as C(cancelled) when the workload goes away, or within 2 seconds when it waits for the
    next attempt.
  - A run that is between two steps does not begin the next one, which then fails as C(cancelled). A run that begins
    later, with another run id, is not affected.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes
  - mlops.eks._cluster
  - mlops.eks._cluster.helm
options:
  release:
    description: Name of the run. Required when O(pipeline) is omitted.
    type: str
  namespace:
    description: Namespace to work in. When omitted, that of O(pipeline), else V(default).
    type: str
  pipeline:
    description:
      - Directory of the pipeline that was run. Its name is the run's when O(release) is omitted, and where it names a
        namespace, the run is looked for there.
    type: path
  adopt:
    description:
      - Also uninstall a Helm release of the run's name that this collection did not install, or whose ledger is gone.
      - Without it such a release is refused by name and not changed; a release of another run always is.
    type: bool
    default: false
  runs_dir:
    description:
      - Directory for the evidence, relative to the working directory.
      - Where it cannot be written, as on a full disk, nothing is stopped. Where it fills up meanwhile, nothing is
        uninstalled until there is room for what the pods have written so far; a line says so each minute.
    type: path
    default: runs
  evidence:
    description:
      - Whether pods and logs are kept.
      - With V(false) they are lost with the releases, and no directory is written.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Stop a run
  mlops.eks.run_stop:
    kubeconfig: ~/.kube/train-usw2.yaml
    namespace: kubeflow-user-example-com
    release: accel-bert

- name: Stop the run of a pipeline
  mlops.eks.run_stop:
    kubeconfig: ~/.kube/train-usw2.yaml
    pipeline: pipelines/accel-bert
"""

RETURN = r"""
stopped:
  description: Steps that were running or kept, and were cancelled.
  returned: always
  type: list
  elements: str
  sample: [train]
uninstalled:
  description: Helm releases that were uninstalled.
  returned: always
  type: list
  elements: str
  sample: [accel-bert]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import run_stop
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import ADOPT, HELM, RUN

ARGUMENT_SPEC = {
    **ADOPT,
    **RUN,
    **HELM,
    "runs_dir": {"type": "path", "default": "runs"},
    "evidence": {"type": "bool", "default": True},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        how = {"check": module.check_mode, "private": module.no_log}
        result = run_stop(module.params, cluster="cluster", say=module.debug, **how)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
