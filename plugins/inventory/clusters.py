# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: clusters
short_description: EKS clusters of several accounts and regions as hosts
description:
  - Every cluster that the profiles can list in the regions is a host of the group C(eks), a child of C(clusters). The
    connection is C(local); there is no login to a host.
  - The variables of a host are C(cluster_name), C(region), C(aws_profile) (except with the default credentials),
    C(aws_account_id), C(cluster_arn), C(cluster_endpoint), C(cluster_version), C(cluster_platform_version),
    C(cluster_status), C(cluster_tags), C(cluster_vpc_id), C(cluster_auto_mode), C(cluster_certificate_authority) and
    C(kubeconfig).
  - The file must end in C(aws_eks.yml) or C(aws_eks.yaml). O(compose), O(groups) and O(keyed_groups) may use the
    variables above.
  - The identities need C(eks:ListClusters) and C(eks:DescribeCluster).
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - ansible.builtin.constructed
  - ansible.builtin.inventory_cache
requirements:
  - boto3
options:
  plugin:
    description: Name of this plugin.
    type: str
    required: true
    choices: [mlops.eks.clusters]
  profiles:
    description: Profiles of the AWS configuration. When empty, the default credentials.
    type: list
    elements: str
    default: []
  regions:
    description: Regions to search with each profile. When empty, the region of each profile.
    type: list
    elements: str
    default: []
  tags:
    description: Tags that a cluster must have, all of them. A list has the allowed values.
    type: dict
    default: {}
  statuses:
    description: Statuses of the clusters to include.
    type: list
    elements: str
    choices: [ACTIVE, UPDATING, CREATING, DELETING, FAILED, PENDING]
    default: [ACTIVE, UPDATING]
  hostname:
    description: Jinja expression of the variables for the name of the host. Two hosts with one name are an error.
    type: str
    default: cluster_name
  clusters_dir:
    description:
      - Directory with one directory per host. The variable C(kubeconfig) is the path of its file C(kubeconfig), which
        the role that creates a cluster writes.
    type: str
    default: clusters
  skip_unavailable:
    description: Warn of a profile or region that cannot be queried, and continue without it.
    type: bool
    default: false
"""

EXAMPLES = r"""
# inventory/aws_eks.yml: every training cluster of two accounts in two regions, grouped by region and by tag
plugin: mlops.eks.clusters
profiles: [ml-prod, ml-dev]
regions: [us-west-2, us-east-1]
tags: {purpose: [training, serving]}
hostname: cluster_name ~ '-' ~ region
keyed_groups:
  - {key: region, prefix: region}
  - {key: cluster_tags.purpose, prefix: purpose}
compose:
  kube_namespace: cluster_tags.namespace | default('kubeflow-user-example-com')
groups:
  old: cluster_version is version('1.34', '<')
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: .cache/inventory
cache_timeout: 900
"""

import typing as t

from ansible.errors import AnsibleError, AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

from ansible_collections.mlops.eks.plugins.module_utils._aws.clusters import Cluster, Place, find_clusters, has_tags
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """Inventory of EKS clusters."""

    NAME = "mlops.eks.clusters"
    inventory: t.Any

    def verify_file(self, path: str) -> bool:
        """Return whether a file is meant for this plugin."""
        return bool(super().verify_file(path)) and path.endswith(("aws_eks.yml", "aws_eks.yaml"))

    def parse(self, inventory: t.Any, loader: t.Any, path: str, cache: bool = True) -> None:
        """Add the clusters to the inventory."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        try:
            found = self._clusters(self.get_cache_key(path), cache)
        except EksError as error:
            raise AnsibleParserError(f"{path}: {error}") from error
        self.inventory.add_group("clusters")
        self.inventory.add_group("eks")
        self.inventory.add_child("clusters", "eks")
        tags, statuses = self.get_option("tags"), self.get_option("statuses")
        chosen = [found for found in found if has_tags(found, tags) and found["cluster_status"] in statuses]
        names: dict[str, Cluster] = {}
        for cluster in chosen:
            name = self._name(path, cluster)
            if name in names:
                raise AnsibleParserError(_taken(path, name, names[name], cluster))
            names[name] = cluster
            self._add(name, cluster)

    def _clusters(self, key: str, cache: bool) -> list[Cluster]:
        """Return all clusters, from the cache if it is enabled and has them."""
        wanted = bool(self.get_option("cache"))
        if wanted and cache and key in self._cache:
            return t.cast(list[Cluster], self._cache[key])
        profiles = self.get_option("profiles") or [None]
        regions = self.get_option("regions") or [""]
        found = find_clusters([Place(profile, region) for profile in profiles for region in regions])
        refused = [problem.sentence() for problem in found.refused]
        if refused and not self.get_option("skip_unavailable"):
            raise EksError("; ".join(refused))
        for sentence in refused:
            self.display.warning(f"{sentence}; going on without it")
        # Do not cache an incomplete result.
        if wanted and not refused:
            self._cache[key] = found.clusters
        return found.clusters

    def _name(self, path: str, cluster: Cluster) -> str:
        expression = self.get_option("hostname")
        try:
            return str(self._compose(expression, cluster))
        except AnsibleError as error:
            raise AnsibleParserError(f"{path}: hostname {expression!r}: {error}") from error

    def _add(self, name: str, cluster: Cluster) -> None:
        self.inventory.add_host(name, group="eks")
        given = {key: value for key, value in cluster.items() if value is not None}
        given["kubeconfig"] = f"{self.get_option('clusters_dir')}/{name}/kubeconfig"
        given["ansible_connection"] = "local"
        for key, value in given.items():
            self.inventory.set_variable(name, key, value)
        strict = self.get_option("strict")
        self._set_composite_vars(self.get_option("compose"), given, name, strict=strict)
        variables = {**given, **self.inventory.get_host(name).get_vars()}
        self._add_host_to_composed_groups(self.get_option("groups"), variables, name, strict=strict)
        self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, name, strict=strict)


def _taken(path: str, name: str, first: Cluster, second: Cluster) -> str:
    where = " and ".join(
        f"{cluster['cluster_name']} ({', '.join(filter(None, (cluster['aws_profile'], cluster['region'])))})"
        for cluster in (first, second)
    )
    return (
        f"{path}: {where} would both be the host {name}: tell them apart, as by hostname: cluster_name ~ '-' ~ region"
    )
