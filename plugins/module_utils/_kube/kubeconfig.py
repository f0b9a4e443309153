# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""A kubeconfig read by the `kubernetes` package, its mistakes named in our words."""

from __future__ import annotations

import typing as t
from pathlib import Path

import yaml
from kubernetes import config as kube_config
from kubernetes.client import Configuration

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean


def configuration(kubeconfig: str, context: str | None) -> Configuration:
    """Return the settings of `context`, or of the current one.

    Raises:
        InvalidInputError: the file is missing, unreadable or malformed, or has no such context.
    """
    path = Path(kubeconfig).expanduser()
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInputError(
            f"kubeconfig {kubeconfig}: no such file. Create the cluster, or correct the host's variable 'kubeconfig'."
        ) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        first = str(error).splitlines()[0]
        raise InvalidInputError(f"kubeconfig {kubeconfig}: cannot be read: {first}. Write it anew.") from error
    if not isinstance(document, dict) or not document.get("clusters"):
        raise InvalidInputError(f"kubeconfig {kubeconfig}: it names no cluster. Write it anew.")
    known = _contexts(document)
    if context and context not in known:
        raise InvalidInputError(f"kubeconfig {kubeconfig}: no context {context!r}.{did_you_mean(context, known)}")
    settings = Configuration()
    try:
        kube_config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=str(path), context=context, client_configuration=settings
        )
    except kube_config.ConfigException as error:
        raise InvalidInputError(f"kubeconfig {kubeconfig}: {str(error).splitlines()[0]}") from error
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        # What the library says of a malformed entry names its own code, not the entry.
        said = f"an entry of clusters, contexts or users is malformed ({error})"
        raise InvalidInputError(f"kubeconfig {kubeconfig}: {said.splitlines()[0]}. Write it anew.") from error
    return settings


def _contexts(document: dict[str, t.Any]) -> list[str]:
    entries = document.get("contexts")
    return [str(one.get("name")) for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
