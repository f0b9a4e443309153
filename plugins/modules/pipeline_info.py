#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: pipeline_info
short_description: Read a pipeline and check all its recipes
description:
  - Reads C(pipeline.yaml), checks every step's chart, recipe and values, and returns the steps to run in order.
  - It makes no request to a cluster. A mistake in the last recipe is found before the first step runs.
  - Charts from elsewhere are fetched into the cache. The returned steps have their exact version and digest,
    or commit, so that all clusters of a run use the same chart.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes.info
options:
  pipeline:
    description: Directory that holds C(pipeline.yaml).
    type: path
    required: true
  from_step:
    description: Start at this step.
    type: str
  only_steps:
    description: Run only these steps.
    type: list
    elements: str
  recipe_values:
    description: Values merged over the recipes of the chosen steps, to be checked with them.
    type: dict
  redact:
    description:
      - Secrets that no error may show, beside vaulted values. What is returned is the input of other tasks, and holds
        the values as they are.
    type: list
    elements: str
  allow_lookup:
    description:
      - Whether templates in values may call C(lookup), which reads any object that the user of the play may read, or
        what could call it under a computed name (C(tpl), C(set), C(merge), C(include) with data of its own).
      - A chart's own templates may always do so.
    type: bool
    default: false
  release:
    description: Name of the run. When omitted, the pipeline's name.
    type: str
"""

EXAMPLES = r"""
- name: Read the demo
  mlops.eks.pipeline_info:
    pipeline: recipes/demo/digits
    from_step: train
"""

RETURN = r"""
pipeline:
  description: The pipeline with the chosen steps, the names of all its steps, and its secrets, without their content.
  returned: always
  type: dict
  sample: {name: digits, namespace: null, directory: recipes/demo/digits, steps: [], names: [data, train]}
release:
  description: Name of the run.
  returned: always
  type: str
  sample: digits
run_id:
  description: A new run id.
  returned: always
  type: str
  sample: 20261121T091502-digits-3f9a
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._plan.checks import pipeline_info

ARGUMENT_SPEC = {
    "pipeline": {"type": "path", "required": True},
    "from_step": {"type": "str"},
    "only_steps": {"type": "list", "elements": "str"},
    "recipe_values": {"type": "dict"},
    "release": {"type": "str"},
    "allow_lookup": {"type": "bool", "default": False},
    "redact": {"type": "list", "elements": "str", "no_log": True},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = pipeline_info(module.params)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
