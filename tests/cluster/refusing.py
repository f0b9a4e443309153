# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Admission that refuses pods by their label `refused-by`: a policy, a denying webhook, a silent webhook."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import ssl
import threading
import typing as t
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from plays import until
from samples import IMAGE, Json
from space import Space

from ansible_collections.mlops.eks.plugins.module_utils._local.certificates import Leaf, ensure_pki

BY = "refused-by"
POLICY, WEBHOOK, SILENCE = "policy", "webhook", "silence"
# What the API server says then; a new namespace refuses pods for other reasons, too.
_WORDS = {POLICY: "denied request", WEBHOOK: "denied the request", SILENCE: "failed calling webhook"}
_PODS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}


class _Denial(BaseHTTPRequestHandler):
    """Denies every request."""

    def do_POST(self) -> None:
        """Answer an AdmissionReview."""
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        response = {"uid": review["request"]["uid"], "allowed": False, "status": {"message": "no team label"}}
        body = json.dumps({**{key: review[key] for key in ("apiVersion", "kind")}, "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write no log."""


@contextlib.contextmanager
def _denying(space: Space) -> Iterator[Json]:
    """Serve denials where the API server can reach them; yield the client configuration of the webhook."""
    server = yaml.safe_load(Path(space.kubeconfig).read_text(encoding="utf-8"))["clusters"][0]["cluster"]["server"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Sends nothing; tells by which address of ours it would.
        probe.connect((urlsplit(server).hostname, 9))
        address = str(probe.getsockname()[0])
    pki = space.directory / "webhook"
    ensure_pki(pki, (Leaf(file="webhook", common_name="webhook", names=(address,)),))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pki / "webhook.crt", pki / "webhook.key")
    webhook = ThreadingHTTPServer((address, 0), _Denial)
    webhook.socket = tls.wrap_socket(webhook.socket, server_side=True)
    threading.Thread(target=webhook.serve_forever, daemon=True).start()
    try:
        authority = base64.b64encode((pki / "ca.crt").read_bytes()).decode()
        yield {"url": f"https://{address}:{webhook.server_port}/", "caBundle": authority}
    finally:
        webhook.shutdown()
        webhook.server_close()


def _webhook(space: Space, label: str, how: Json, seconds: int) -> Json:
    return {
        "name": f"{label}.example.com",
        "clientConfig": how,
        "rules": [_PODS],
        "namespaceSelector": _here(space),
        "objectSelector": {"matchLabels": {BY: label}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": seconds,
    }


def _here(space: Space) -> Json:
    return {"matchLabels": {"kubernetes.io/metadata.name": space.namespace}}


def _objects(space: Space, denial: Json) -> list[Json]:
    named = {"metadata": {"name": space.namespace}}
    nobody = {"service": {"namespace": space.namespace, "name": "asleep", "path": "/"}}
    policy = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [_PODS], "objectSelector": {"matchLabels": {BY: POLICY}}},
        "validations": [{"expression": "false", "message": "GPUs are for the night"}],
    }
    binding = {
        "policyName": space.namespace,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": _here(space)},
    }
    admission = {"apiVersion": "admissionregistration.k8s.io/v1", **named}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "asleep"}, "spec": {"ports": [{"port": 443}]}},
        {**admission, "kind": "ValidatingAdmissionPolicy", "spec": policy},
        {**admission, "kind": "ValidatingAdmissionPolicyBinding", "spec": binding},
        {
            **admission,
            "kind": "ValidatingWebhookConfiguration",
            "webhooks": [_webhook(space, WEBHOOK, denial, 30), _webhook(space, SILENCE, nobody, 1)],
        },
    ]


@contextlib.contextmanager
def refusing(space: Space) -> Iterator[None]:
    """Refuse pods of this namespace by their label, and nothing else in the cluster."""
    with _denying(space) as denial:
        objects = _objects(space, denial)
        try:
            for one in objects:
                space.apply(one)
            for by in _WORDS:
                until(partial(_is_refused, space, by), f"{by} refuses pods")
            yield
        finally:
            for one in objects:
                space.kubectl("delete", one["kind"], one["metadata"]["name"], "--ignore-not-found", "--wait=false")


def _is_refused(space: Space, by: str) -> bool:
    return _WORDS[by] in space.refusal(_probe(by))


def _probe(by: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "labels": {BY: by}},
        "spec": {"containers": [{"name": "main", "image": IMAGE}]},
    }


def refused(template: Json, by: str) -> Json:
    """Return a pod template that is refused."""
    return t.cast(Json, {**template, "metadata": {"labels": {BY: by}}})
