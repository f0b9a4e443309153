#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: eks_leftovers
short_description: Search an account for what is left of a cluster
description:
  - Searches AWS, not Terraform's state, for everything that carries the tags or the names of a cluster; what the stack
    made and what controllers inside the cluster made, such as load balancers, volumes and Karpenter's instances.
  - A kind that the identity in use may not list is reported as unknown, with the IAM action.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
requirements:
  - boto3
extends_documentation_fragment:
  - mlops.eks._attributes
  - mlops.eks._aws
options:
  name:
    description: Name of the cluster.
    type: str
    required: true
  blocking:
    description: Only what the cluster's controllers made and what keeps its network from being removed.
    type: bool
    default: false
  remove:
    description:
      - Remove what controllers inside the cluster made, data on its volumes included. For a cluster that can no longer
        do so itself.
      - M(mlops.eks.terraform_stack) removes what the stack made.
    type: bool
    default: false
  known:
    description: Identifiers of resources that are left out, such as those in Terraform's state.
    type: list
    elements: str
    default: []
  timeout:
    description: Seconds to wait until the leftovers are gone. V(0) for no limit; when omitted, they are only listed.
    type: float
  fail:
    description: Whether to fail when something is left at the end, or could not be listed.
    type: bool
    default: true
  show:
    description: Print what is left as a table, with a local connection.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Check that nothing is left
  mlops.eks.eks_leftovers:
    name: train-usw2
    region: us-west-2
    show: true

- name: Wait for the instances that Karpenter made
  mlops.eks.eks_leftovers:
    name: train-usw2
    region: us-west-2
    blocking: true
    timeout: 900
"""

RETURN = r"""
leftovers:
  description: What is left. C(made_by) is V(stack) or V(cluster); C(remedy) is a command.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: EBS volume
      identifier: vol-0123456789abcdef0
      name: pvc-0a1b2c3d
      state: available
      made_by: cluster
      remedy: aws ec2 delete-volume --volume-id vol-0123456789abcdef0 --region us-west-2
unknown:
  description: Kinds that could not be listed, and why.
  returned: always
  type: dict
  sample: {SQS queue: "sqs list_queues in us-west-2: not allowed. The identity needs the IAM action sqs:ListQueues."}
removed:
  description: What was removed.
  returned: always
  type: list
  elements: str
  sample: [EBS volume vol-0123456789abcdef0]
table:
  description: The leftovers as aligned lines of text.
  returned: always
  type: list
  elements: str
  sample: [nothing is left]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._aws.account import eks_leftovers
from ansible_collections.mlops.eks.plugins.module_utils._aws.argspec import AWS
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError

ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    **AWS,
    "blocking": {"type": "bool", "default": False},
    "remove": {"type": "bool", "default": False},
    "known": {"type": "list", "elements": "str", "default": []},
    "timeout": {"type": "float"},
    "fail": {"type": "bool", "default": True},
    "show": {"type": "bool", "default": False},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = eks_leftovers(module.params, check=module.check_mode, say=module.debug)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
