# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Rules for names, and the rule of each option of each module. Names are validated here and nowhere else.

A valid name is safe in a path, a label, an API path, an argument and a selector. The rules come first; `OPTIONS` maps
the options of each module to them. `checked` decorates an entry point of an engine, so that the module and its action
plugin validate the same options first.
"""

from __future__ import annotations

import functools
import re
import typing as t
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ansible_collections.mlops.eks.plugins.module_utils._core import limits
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown

# Elements of a list. The longest lists are the resources of a Terraform state: a few thousand.
MOST_ELEMENTS = 10_000


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A name matches `pattern` and has at most `longest` characters; messages show `description`."""

    pattern: str
    description: str
    longest: int
    # Whether the empty string is accepted; it means "not given".
    optional: bool = False
    # Whether the value may be a secret, which no message shows.
    secret: bool = False

    def __str__(self) -> str:
        return f"{self.description}, at most {self.longest} characters"

    def check(self, what: str, value: t.Any) -> None:
        """Check `value`, which the message calls `what`.

        Raises:
            InvalidInputError: one line with the name, the value and the rule.
        """
        if value is None or (self.optional and value == ""):
            return
        subject = what if self.secret else f"{what} {shown(value)}"
        # Check the length first: a pattern may be slow on long text.
        if isinstance(value, str) and len(value) > self.longest:
            raise InvalidInputError(f"{subject} has {len(value)} characters; expected {self}.")
        if not isinstance(value, str) or not re.fullmatch(self.pattern, value):
            raise InvalidInputError(f"{subject}: expected {self}.")


def or_none(rule: Rule) -> Rule:
    """Return the rule with the empty string accepted."""
    return replace(rule, optional=True)


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Rules for the keys and the values of a mapping with arbitrary keys."""

    keys: Rule
    values: Rule


_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_WORDS = "lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
_SUBDOMAIN_WORDS = "lower-case letters, digits, hyphens and dots, beginning and ending with a letter or digit"

# Kubernetes. Source: apimachinery `pkg/util/validation/validation.go`.
DNS_LABEL = Rule(pattern=_LABEL, description=_LABEL_WORDS, longest=63)
DNS_SUBDOMAIN = Rule(pattern=_SUBDOMAIN, description=_SUBDOMAIN_WORDS, longest=253)
NAMESPACE = DNS_LABEL
OBJECT = DNS_SUBDOMAIN
SECRET = DNS_SUBDOMAIN
SECRET_KEY = Rule(pattern=r"(?!\.\.)[-._A-Za-z0-9]+", description="letters, digits, '-', '_' and '.'", longest=253)
LABEL_VALUE = Rule(
    pattern=r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?",
    description="letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
    longest=63,
)
KIND = Rule(pattern=r"[A-Za-z][A-Za-z0-9]*", description="a kind such as Job: letters and digits", longest=63)
API_VERSION = Rule(
    pattern=rf"({_SUBDOMAIN}/)?[a-z]([-a-z0-9]*[a-z0-9])?", description="GROUP/VERSION such as batch/v1", longest=317
)
WORKLOAD = Rule(
    pattern=rf"{KIND.pattern}(/{_SUBDOMAIN})?", description="Kind or Kind/name, such as Deployment/server", longest=317
)
# A context can have any name; `aws eks update-kubeconfig` uses the ARN of the cluster.
CONTEXT = Rule(pattern=r"(?!-)[^\x00-\x1f\x7f]+", description="the name of a context in the kubeconfig", longest=256)

# Names of the collection. 53 is the limit of Helm, which leaves 10 characters for what charts append; derived names are
# DNS labels too. Source: helm `pkg/chart/common/util/values.go` and `pkg/release/v1/util`.
RELEASE = Rule(pattern=_LABEL, description=_LABEL_WORDS, longest=53)
STEP = RELEASE
PIPELINE = RELEASE
# Names of directories: not `.` or `..`, and without characters that are special to a shell or a terminal.
_FILE = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_FILE_WORDS = "letters, digits, '.', '_' and '-' that name a directory, beginning with a letter, digit or '_'"
RUN_ID = Rule(pattern=_FILE, description=_FILE_WORDS, longest=128)
CLUSTER = Rule(pattern=_FILE, description=_FILE_WORDS, longest=128)
# The name of network namespaces, nodes, and of a directory that `state: absent` removes.
LOCAL_CLUSTER = Rule(pattern=_LABEL, description=_LABEL_WORDS, longest=32)
TOOL = Rule(pattern=_LABEL, description=_LABEL_WORDS, longest=63)
# The name of an operator in messages, optionally with its version.
ADDON = Rule(
    pattern=r"[A-Za-z0-9][A-Za-z0-9 ._-]*", description="letters, digits, blanks, '.', '_' and '-'", longest=128
)
GO_MODULE = Rule(pattern=r"[A-Za-z0-9][A-Za-z0-9._~/@!+-]*", description="the path of a Go module", longest=512)

# Container images. Source: distribution/reference `regexp.go`.
IMAGE = Rule(
    pattern=r"(?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
    r"(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?",
    description="REGISTRY/REPOSITORY:TAG such as localhost/mlops-eks/base:0.1.0",
    longest=512,
)
IMAGE_USER = Rule(pattern=r"[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+)?", description="UID or UID:GID", longest=128)
IMAGE_PATH = Rule(
    pattern=r"(?!.*(^|/)\.\.(/|$))[^\x00-\x1f\x7f]+", description="a path in the image without '..'", longest=1024
)

# AWS. Sources: EKS API `CreateCluster` (name), S3 user guide "General purpose bucket naming rules", EC2 user guide
# "Regions and zones" (us-gov-west-1, us-isob-east-1, eusc-de-east-1).
EKS_CLUSTER = Rule(
    pattern=r"[0-9A-Za-z][A-Za-z0-9_-]*",
    description="letters, digits, '-' and '_', beginning with a letter or digit",
    longest=100,
)
# Also the value of a label of its nodes.
NODE_GROUP = replace(EKS_CLUSTER, longest=63)
BUCKET = Rule(
    pattern=r"(?!xn--|sthree-|amzn-s3-demo-)(?!(\d+\.){3}\d+$)(?!.*\.\.)(?!.*(-s3alias|--ol-s3|--x-s3|\.mrap)$)"
    r"[a-z0-9][a-z0-9.-]+[a-z0-9]",
    description="the name of an S3 bucket: 3 or more lower-case letters, digits, dots and hyphens",
    longest=63,
)
REGION = Rule(pattern=r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}", description="a region such as us-west-2", longest=32)
PROFILE = Rule(pattern=r"[^\x00-\x1f\x7f\[\]]+", description="the name of an AWS profile", longest=128)

# Paths, URLs, commands and expressions, which their users parse.
PATH = Rule(pattern=r"[^\x00-\x1f\x7f]*", description="a path without control characters", longest=4096)
TEXT = Rule(pattern=r"[^\x00-\x08\x0b-\x1f\x7f]*", description="text without control characters", longest=4096)
ENV_NAME = Rule(pattern=r"[A-Za-z_][A-Za-z0-9_]*", description="the name of an environment variable", longest=256)
# The value of an environment variable may have any character but NUL.
ENV_VALUE = Rule(pattern=r"(?s:[^\x00]*)", description="text without NUL", longest=131072, secret=True)

Wanted = Rule | Pairs | Mapping[str, t.Any]

_CLUSTER = {"kubeconfig": PATH, "context": or_none(CONTEXT), "namespace": or_none(NAMESPACE)}
_FOLLOW = {
    "progress": TEXT,
    "until": TEXT,
    "fail_on": TEXT,
    "run_id": or_none(RUN_ID),
    "runs_dir": PATH,
}
_HELM = {"helm_binary": PATH}
_SOURCE = {"chart": TEXT, "repo": TEXT, "version": TEXT, "digest": TEXT}
_AWS = {"region": REGION, "profile": or_none(PROFILE)}
_WORKLOAD = {**_CLUSTER, **_FOLLOW, "name": OBJECT}
_PREFLIGHT = {**_AWS, "pipelines": PATH}
_CACHE = {"cache_dir": PATH}

# The rule of each text option of each module; tests/contract/test_modules.py finds missing ones.
OPTIONS: Mapping[str, Mapping[str, Wanted]] = {
    "cluster_cleanup": _CLUSTER,
    "container_image": {
        **_CACHE,
        "name": IMAGE,
        "context": PATH,
        "files": Pairs(keys=IMAGE_PATH, values=PATH),
        "entrypoint": ENV_VALUE,
        "user": or_none(IMAGE_USER),
    },
    "eks_leftovers": {**_AWS, "name": EKS_CLUSTER, "known": TEXT},
    "eks_preflight": {**_PREFLIGHT, "others": _PREFLIGHT},
    "fsx_export": {**_AWS, "name": EKS_CLUSTER},
    "go_tool": {**_CACHE, "name": TOOL, "sources": Pairs(keys=TOOL, values=GO_MODULE), "tools_dir": PATH},
    "helm_step": {
        **_CLUSTER,
        **_FOLLOW,
        **_HELM,
        **_SOURCE,
        "release": RELEASE,
        "step": or_none(STEP),
        "recipe": PATH,
        "workload": or_none(WORKLOAD),
        "after": STEP,
        "later_releases": RELEASE,
        "pipeline": or_none(PIPELINE),
        "secrets": {"name": SECRET, "type": TEXT, "keys": SECRET_KEY},
    },
    "kube_apply": {
        **_CACHE,
        "name": ADDON,
        "resources": PATH,
        "deployments": {"namespace": NAMESPACE, "name": OBJECT},
        "kubeconfig": PATH,
        "context": or_none(CONTEXT),
        "kubectl_binary": PATH,
    },
    "mpi_job_wait": _WORKLOAD,
    "native_cluster": {
        **_CACHE,
        "name": LOCAL_CLUSTER,
        "namespace": or_none(NAMESPACE),
        "images": PATH,
        "state_dir": PATH,
        "tools_dir": PATH,
    },
    "pipeline_info": {"pipeline": PATH, "from_step": TEXT, "only_steps": TEXT, "release": or_none(RELEASE)},
    "run_info": {**_CLUSTER, "pipeline": PATH, "release": or_none(RELEASE), "node_groups": NODE_GROUP},
    "run_report": {"runs_dir": PATH, "run_id": RUN_ID},
    "run_stop": {**_CLUSTER, **_HELM, "pipeline": PATH, "release": RELEASE, "runs_dir": PATH},
    "state_bucket_info": {**_AWS, "name": BUCKET},
    "terraform_stack": {
        "source": PATH,
        "data_dir": PATH,
        "env": Pairs(keys=ENV_NAME, values=ENV_VALUE),
        "protected": TEXT,
        "allow_replace": TEXT,
        "allow_disruption": TEXT,
        "binary": PATH,
        "outputs_file": PATH,
    },
    "workload_wait": {**_WORKLOAD, "kind": KIND, "api_version": or_none(API_VERSION)},
}


def check_options(module: str, params: Mapping[str, t.Any]) -> None:
    """Check all options of a module.

    Raises:
        InvalidInputError: one line with the first invalid option, its value and the rule.
    """
    for option, wanted in OPTIONS[module].items():
        _check(option, params.get(option), wanted)


def _check(option: str, value: t.Any, wanted: Wanted) -> None:
    if value is None:
        return
    if isinstance(wanted, Pairs) and isinstance(value, Mapping):
        for key, inner in value.items():
            _check(f"{option}: key", key, wanted.keys)
            _check(f"{option}.{key}", inner, wanted.values)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) > MOST_ELEMENTS:
            raise InvalidInputError(f"{option}: it has {len(value)} elements; at most {MOST_ELEMENTS} are allowed.")
        for inner in value:
            _check(option, inner, wanted)
    elif isinstance(wanted, Mapping):
        for key, rule in wanted.items():
            _check(f"{option}.{key}", value.get(key), rule)
    elif isinstance(wanted, Rule):
        wanted.check(option, str(value) if isinstance(value, (int, float)) else value)


P = t.ParamSpec("P")
R = t.TypeVar("R")


def checked(module: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate an entry point: check the options of its module and `cluster`, the inventory name of the host, first."""

    def decorate(entry: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(entry)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            CLUSTER.check("host", kwargs.get("cluster"))
            params = t.cast(Mapping[str, t.Any], args[0])
            check_options(module, params)
            limits.check(params)
            return entry(*args, **kwargs)

        return run

    return decorate
