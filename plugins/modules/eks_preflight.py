#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: eks_preflight
short_description: Check an account and a region before a cluster is made there
description:
  - Checks whether the stack C(terraform/stacks/cluster) can be made, what prevents it and what to do about it, and
    what it costs a month. All checks are made, even when some fail.
  - A check that the identity in use may not make is a warning that names the IAM action.
  - E(AWS_ENDPOINT_URL) and the rest of the AWS environment count as they do for the AWS command line.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
requirements:
  - boto3
extends_documentation_fragment:
  - mlops.eks._attributes.info
  - mlops.eks._aws
options:
  variables:
    description:
      - The variables of the stack. A variable that the stack does not have is refused here; Terraform would drop it
        silently.
    type: dict
    required: true
  pipelines:
    description: Directories of pipelines that will run on the cluster; the nodes their recipes name count for quotas.
    type: list
    elements: str
    default: []
  others:
    description:
      - Clusters that will be made with this one. The needs of those in the same account and region count for its
        quotas, and the lines of quotas name them; all others are ignored.
    type: list
    elements: dict
    default: []
    suboptions:
      region:
        description: Region of that cluster.
        type: str
        required: true
      profile:
        description: Profile of the AWS configuration for it; AWS is asked whether its account is the same.
        type: str
      variables:
        description: Its variables of the stack, as in O(variables).
        type: dict
        required: true
      pipelines:
        description: Its pipelines, as in O(pipelines).
        type: list
        elements: str
        default: []
  fail:
    description:
      - Whether to fail when a check does, after all were made. RV(findings) are then the failed checks, and RV(cost)
        and RV(table) are not returned, because Ansible prints everything that a failure returns.
    type: bool
    default: true
  show:
    description: Print the table as well, with a local connection.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Check an account before a cluster is made
  mlops.eks.eks_preflight:
    region: us-west-2
    profile: training
    variables:
      name: train-usw2
      network:
        availability_zones: [us-west-2a, us-west-2b, us-west-2c]
      accelerator_node_groups:
        p5:
          instance_type: p5.48xlarge
          availability_zone: us-west-2b
          efa: {enabled: true}
          size: {min: 0, max: 4}
    pipelines: [recipes/demo/digits]
"""

RETURN = r"""
findings:
  description: What each check found. C(level) is V(ok), V(warn) or V(fail).
  returned: always
  type: list
  elements: dict
  sample:
    - name: bucket training-data
      level: fail
      found: "for fsx fsx (data): it is in eu-west-1, the file system will be in us-west-2"
      remedy: Use a bucket in us-west-2, or replicate this one there.
ok:
  description: Whether no check failed.
  returned: always
  type: bool
  sample: false
cost:
  description:
    - The estimate, in USD a month of 730 hours, with the fewest and the most nodes. Each of its lines has the price of
      a unit, and its source. Null when no price could be requested.
  returned: when the task does not fail
  type: dict
  sample:
    currency: USD
    monthly_min: 500.17
    monthly_max: 161842.97
    lines:
      - {item: control plane, unit: hour, unit_price: 0.1, monthly_min: 73.0, source: "Pricing API, 2026-11-20"}
table:
  description: Both as aligned lines of text.
  returned: when the task does not fail
  type: list
  elements: str
  sample: ["      CHECK   FOUND", "FAIL  region  us-wset-2: there is no such region. Did you mean 'us-west-2'?"]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._aws.argspec import AWS
from ansible_collections.mlops.eks.plugins.module_utils._aws.preflight import preflight
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError

_CLUSTER = {
    **AWS,
    "variables": {"type": "dict", "required": True},
    "pipelines": {"type": "list", "elements": "str", "default": []},
}
ARGUMENT_SPEC = {
    **_CLUSTER,
    "others": {"type": "list", "elements": "dict", "default": [], "options": _CLUSTER},
    "fail": {"type": "bool", "default": True},
    "show": {"type": "bool", "default": False},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = preflight(module.params)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
