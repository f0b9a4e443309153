# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The import name of a resource: for most types, but not all, the identifier that Terraform recorded.

Source: the AWS provider's documentation of each type, section "Import". tests/provisioning/test_provisioning_imports.py
imports one of every type of `terraform/`.
"""

from __future__ import annotations

import string
import typing as t
from collections.abc import Mapping

# `{id}` is the identifier in the record of the apply. Other fields are attributes of the resource; each must be known
# before its creation, or follow from resources that are imported by their identifiers.
COMPOSED = {
    "aws_cloudwatch_event_target": "{rule}/{target_id}",
    "aws_eks_pod_identity_association": "{cluster_name},{id}",
    "aws_iam_role_policy_attachment": "{role}/{policy_arn}",
    "aws_route": "{route_table_id}_{destination_cidr_block}",
    "aws_route_table_association": "{subnet_id}/{route_table_id}",
}


class Name(t.NamedTuple):
    """The name of a resource in an import; `missing` attributes are in it in braces."""

    text: str
    missing: tuple[str, ...] = ()


def import_name(kind: str, identifier: str, attributes: Mapping[str, t.Any]) -> Name:
    """Return the import name of a resource of the type `kind`."""
    form = COMPOSED.get(kind, "{id}")
    known = {name: str(attributes.get(name) or "") for _, name, _, _ in string.Formatter().parse(form) if name}
    known["id"] = identifier
    missing = tuple(name for name, value in known.items() if not value)
    return Name(form.format_map(known | {name: f"{{{name}}}" for name in missing}), missing)
