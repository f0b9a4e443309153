#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: state_bucket_info
short_description: Check whether the bucket of Terraform's states exists
description:
  - Requests the bucket itself from S3, so a bucket of another account is found, and no right to list others is needed.
  - A bucket that the identity may not access counts as existing.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
requirements:
  - boto3
extends_documentation_fragment:
  - mlops.eks._attributes.info
  - mlops.eks._aws
options:
  name:
    description: Name of the bucket. A bucket in another region than O(region) is an error.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Check for the bucket of the state
  mlops.eks.state_bucket_info:
    name: acme-terraform-state
    region: us-west-2
  register: bucket
"""

RETURN = r"""
exists:
  description: Whether a bucket of that name exists, in this account or another one.
  returned: success
  type: bool
  sample: true
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._aws.argspec import AWS
from ansible_collections.mlops.eks.plugins.module_utils._aws.state_bucket import state_bucket_info
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError

ARGUMENT_SPEC = {"name": {"type": "str", "required": True}, **AWS}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = state_bucket_info(module.params)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
