#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fsx_export
short_description: Export a cluster's Lustre file systems to S3 and check that every file arrived
description:
  - Runs an export task on every FSx for Lustre file system that is tagged C(mlops.eks/cluster) with the name of the
    cluster, waits for it, and fails unless every file arrived. Then it waits for changes that are exported
    automatically.
  - Nothing may write to the file systems meanwhile.
  - Refuses, before anything is done, an association that does not work, and files that no association exports.
  - When it is interrupted, the export goes on; the next run follows it.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
requirements:
  - boto3
extends_documentation_fragment:
  - mlops.eks._attributes
  - mlops.eks._aws
attributes:
  idempotent:
    description: Every run exports what changed since the last one, and reports a change when there is a file system.
    support: none
options:
  name:
    description: Name of the cluster.
    type: str
    required: true
  discard_unexported:
    description: Whether files outside of exported directories may be lost.
    type: bool
    default: false
  timeout:
    description: Seconds to wait for each file system. V(0) for no limit. After them the task fails, and the export goes
      on.
    type: float
    default: 0
"""

EXAMPLES = r"""
- name: Export everything to S3
  mlops.eks.fsx_export:
    name: train-usw2
    region: us-west-2
"""

RETURN = r"""
exports:
  description: One entry per file system; in check mode without task and files.
  returned: success
  type: list
  elements: dict
  sample: [{file_system: fs-0123456789abcdef0, paths: [/], task: task-0123456789abcdef0, files: 52311}]
problems:
  description: Why files would be lost.
  returned: when there are some
  type: list
  elements: str
  sample: ["file system fs-0123456789abcdef0 (train-usw2-fast): nothing of it is exported to S3 and would be lost. ..."]
failed_files:
  description: How many files could not be exported.
  returned: when an export failed
  type: int
  sample: 3
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._aws.argspec import AWS
from ansible_collections.mlops.eks.plugins.module_utils._aws.fsx_export import fsx_export
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError

ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    **AWS,
    "discard_unexported": {"type": "bool", "default": False},
    "timeout": {"type": "float", "default": 0},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = fsx_export(module.params, check=module.check_mode, say=module.debug)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
