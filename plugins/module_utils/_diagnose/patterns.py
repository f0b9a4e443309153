# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Patterns: the reasons behind messages of kubelet, scheduler and API server.

Kubernetes has one reason for different problems (`ErrImagePull`, `FailedCreate`); only the message distinguishes them.
Sources: containerd core/remotes/docker, kubernetes pkg/kubelet/images, pkg/volume/util/operationexecutor,
pkg/controller/volume/attachdetach; apiserver pkg/admission/plugin/{resourcequota,webhook}; pod-security-admission.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Rows = Sequence[tuple[re.Pattern[str], str]]


def _rows(**patterns: str) -> Rows:
    return [(re.compile(pattern, re.IGNORECASE), reason) for reason, pattern in patterns.items()]


IMAGE = _rows(
    RegistryRateLimited=r"toomanyrequests|429 too many|rate limit|rate exceeded",
    RegistryNotFound=r"no such host|server misbehaving|name resolution",
    RegistryTimeout=r"i/o timeout|deadline exceeded|handshake timeout|client\.timeout|timed out",
    ImagePlatform=r"no match for platform|exec format error",
    DiskFull=r"no space left on device",
    ImageUnauthorized=r"unauthorized|access denied|authorization failed|basic auth|authentication required|forbidden",
    ImageNotFound=r"not found|manifest unknown|name unknown|repository does not exist",
    RegistryUnavailable=r"connection (?:refused|reset)|no route to host|x509|registry is unavailable|\b50[0-4]\b",
)
REFUSED = _rows(
    ExceededQuota=r"exceeded quota|insufficient quota|failed quota",
    WebhookUnreachable=r"failed calling webhook",
    AdmissionDenied=r"denied the request|violates PodSecurity|denied request|unable to validate against any",
)
VOLUME = _rows(
    MultiAttach=r"multi-attach error",
    VolumeSourceMissing=r"not found|references non-existent",
)
SCHEDULING = _rows(
    VolumeClaim=r'persistentvolumeclaim "[^"]+" (?:not found|is being deleted)',
    ClaimUnbound=r"unbound immediate PersistentVolumeClaims",
)


def reason_of(text: str, rows: Rows, otherwise: str) -> str:
    """Return the reason of the first row whose pattern is found in `text`."""
    return next((reason for pattern, reason in rows if pattern.search(text)), otherwise)
