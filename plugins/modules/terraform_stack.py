#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: terraform_stack
short_description: Apply or destroy a Terraform stack for one cluster
description:
  - Plans a stack with C(terraform) or C(tofu), refuses what would lose data, and applies the plan. With a local
    connection every resource is printed as one line when it is done.
  - Each cluster has a directory of its own, O(data_dir); many can be made from one O(source) at once, and the source is
    only read.
  - The same task completes a run that was interrupted. When this controller ends while Terraform applies, Terraform
    goes on to its end, and the next run follows it; a Terraform that is stopped would lose what it is making. A plan
    is stopped.
  - What a killed Terraform made and could not write into its state is imported by the next run.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes
options:
  source:
    description: Directory of the stack, a root module.
    type: path
    required: true
  data_dir:
    description:
      - Directory of this cluster's files, readable by its owner only. It holds the state when there is no other
        backend.
      - Its script C(run) is Terraform as this module calls it, for work by hand.
    type: path
    required: true
  state:
    description:
      - V(present) applies the stack, V(absent) destroys it.
      - V(planned) only returns what V(present) would do, in RV(plan), including what it would refuse.
    type: str
    choices: [present, planned, absent]
    default: present
  variables:
    description: Input variables. They are written to a file with mode 0600, never onto a command line.
    type: dict
  backend:
    description:
      - Backend of the state; C(type), V(s3) when omitted, and that backend's own settings. An S3 backend locks with
        C(use_lockfile) and encrypts unless these settings differ.
      - When omitted, the stack's own backend, else a file in O(data_dir).
    type: dict
  env:
    description: Environment variables for Terraform, such as E(AWS_PROFILE), over those of this process.
    type: dict
  protected:
    description:
      - Types of resources that hold data, or nodes, which are neither destroyed nor replaced without O(allow_replace).
    type: list
    elements: str
    default:
      - aws_ecr_repository
      - aws_efs_file_system
      - aws_eks_cluster
      - aws_eks_node_group
      - aws_fsx_lustre_file_system
      - aws_s3_bucket
  allow_replace:
    description:
      - Addresses and types of protected resources that may be destroyed or replaced.
      - A resource that was never completely created may be replaced without it.
    type: list
    elements: str
    default: []
  allow_disruption:
    description:
      - Addresses of node groups, or C(aws_eks_node_group) for all, that may lose nodes, because nothing runs on them or
        because what runs there may end. A group loses nodes when it is destroyed or replaced, when a change lets EKS
        replace its nodes (launch template, image, Kubernetes version), when its size becomes smaller, or by a taint
        that evicts.
      - A group of a Capacity Block that has nodes is not updated at all; EKS does that while it has none.
    type: list
    elements: str
    default: []
  binary:
    description:
      - Name or path of the program. When omitted, E(MLOPS_EKS_TERRAFORM), else the first of C(terraform) and C(tofu) on
        C(PATH). It must be version 1.10 or newer.
    type: path
  outputs_file:
    description: File for all outputs as JSON, sensitive ones included, with mode 0600.
    type: path
  lock_timeout:
    description:
      - Seconds to wait for another run on the same O(data_dir), and for the lock of the state. The wait for a Terraform
        that outlived its run is limited by O(timeout) only. V(0) for no limit.
    type: float
    default: 60
  timeout:
    description:
      - Seconds after which the task fails. A Terraform that applies goes on to its end; the same task follows it.
        V(0) for no limit.
    type: float
    default: 7200
  heartbeat:
    description: Seconds without output after which a line names what is still being done; V(0) for none.
    type: float
    default: 30
  redact:
    description: Secrets to mask in every line and in the result, beside what Terraform itself calls sensitive.
    type: list
    elements: str
"""

EXAMPLES = r"""
- name: Make the cluster
  mlops.eks.terraform_stack:
    source: terraform/stacks/cluster
    data_dir: clusters/train-usw2/terraform
    backend:
      type: s3
      bucket: acme-terraform-state
      key: train-usw2.tfstate
      region: us-west-2
    env:
      AWS_PROFILE: ml
    variables:
      cluster_name: train-usw2
  register: stack

- name: Remove the cluster, file systems included
  mlops.eks.terraform_stack:
    source: terraform/stacks/cluster
    data_dir: clusters/train-usw2/terraform
    state: absent
    allow_replace: [aws_eks_cluster, aws_eks_node_group, aws_efs_file_system, aws_fsx_lustre_file_system]
    variables:
      cluster_name: train-usw2
"""

RETURN = r"""
outputs:
  description: Outputs of the stack by name; a sensitive one is V((sensitive)). In check mode, the present ones.
  returned: success
  type: dict
  sample: {cluster_name: train-usw2, admin_token: (sensitive)}
plan:
  description:
    - What was done, or would be done in check mode. C(refused) has addresses, C(disruptions) the node groups that would
      lose nodes.
  returned: success
  type: dict
  sample:
    summary: 1 to change, 1 to replace
    changes:
      - {action: replace, address: aws_subnet.this, type: aws_subnet, why: forced by cidr_block}
    refused: []
    disruptions: []
diff:
  description: Attributes that differ, before and after, by address; sensitive ones masked.
  returned: in diff mode
  type: dict
  sample: {before: {aws_subnet.this: {cidr_block: 10.0.0.0/24}}, after: {aws_subnet.this: {cidr_block: 10.0.8.0/24}}}
elapsed:
  description: Seconds that the task took.
  returned: success
  type: float
  sample: 641.2
diagnostics:
  description: Every problem that Terraform reported.
  returned: when Terraform failed
  type: list
  elements: dict
  sample: [{severity: error, summary: "...", detail: "...", address: aws_vpc.this, where: "main.tf:3"}]
refused:
  description: Changes that would lose a protected resource.
  returned: when there were some
  type: list
  elements: dict
  sample: [{action: destroy, address: aws_efs_file_system.this, type: aws_efs_file_system, why: ""}]
disruptions:
  description: Node groups that would lose nodes and may not, with the present RV(outputs).
  returned: when there were some
  type: list
  elements: dict
  sample:
    - address: module.accelerator_node_groups["p5"].aws_eks_node_group.this
      group: p5-20260120091502000000000001
      nodes: 2
      text: replace all 2 nodes, for launch_template, of node group p5-20260120091502000000000001 (module...)
lock:
  description: Who holds the state.
  returned: when it is locked
  type: dict
  sample: {identifier: 2683f447-6150-904f, who: me@laptop, operation: OperationTypeApply, created: 1795280702.5}
known:
  description: Identifiers of the resources in the state.
  returned: when a resource that is not in the state blocks the apply
  type: list
  elements: str
  sample: [vpc-0a1b2c3d]
orphans:
  description: Identifiers, by address, of what a killed run made and this run could not import.
  returned: when there are some
  type: dict
  sample: {aws_vpc.this: vpc-0a1b2c3d}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.entrypoints import terraform_stack

ARGUMENT_SPEC = {
    "source": {"type": "path", "required": True},
    "data_dir": {"type": "path", "required": True},
    "state": {"type": "str", "choices": ["present", "planned", "absent"], "default": "present"},
    "variables": {"type": "dict"},
    "backend": {"type": "dict"},
    "env": {"type": "dict"},
    "protected": {
        "type": "list",
        "elements": "str",
        "default": [
            "aws_ecr_repository",
            "aws_efs_file_system",
            "aws_eks_cluster",
            "aws_eks_node_group",
            "aws_fsx_lustre_file_system",
            "aws_s3_bucket",
        ],
    },
    "allow_replace": {"type": "list", "elements": "str", "default": []},
    "allow_disruption": {"type": "list", "elements": "str", "default": []},
    "binary": {"type": "path"},
    "outputs_file": {"type": "path"},
    "lock_timeout": {"type": "float", "default": 60},
    "timeout": {"type": "float", "default": 7200},
    "heartbeat": {"type": "float", "default": 30},
    "redact": {"type": "list", "elements": "str", "no_log": True},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        how = {"check": module.check_mode, "diff": module._diff}
        result = terraform_stack(module.params, cluster="stack", say=module.debug, **how)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
