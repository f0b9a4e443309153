"""The charts of notebooks: who reaches them, and where their passwords stand."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from chart_cases import MINIMAL, Document, HelmError, Render, having, of_kind, scripts

CHARTS = having("jupyter")
MASK = having("maskrcnn_jupyter")
TOKEN, HASH = "not-a-real-token", "$6$not$a-real-hash"
TEXT = {"token": TOKEN, "nginx": {"htpasswd": HASH}}


def values(chart: str, **more: Any) -> dict[str, Any]:
    return more if chart in MASK else {key: value for key, value in more.items() if key not in ("nginx", "global")}


def variables(container: Document) -> dict[str, Any]:
    return {one["name"]: one.get("valueFrom", one.get("value")) for one in container.get("env", [])}


def containers(documents: list[Document]) -> dict[str, Document]:
    spec = of_kind(documents, "Deployment")["spec"]["template"]["spec"]
    return {one["name"]: one for one in [*spec["containers"], *spec.get("initContainers", [])]}


@pytest.mark.parametrize("chart", CHARTS)
def test_a_password_that_is_text_stands_in_a_secret_only(chart: str, render: Render) -> None:
    documents = render(chart, MINIMAL[chart], values(chart, **TEXT))
    secret = of_kind(documents, "Secret")
    expected = {"token": TOKEN} | ({"htpasswd": HASH} if chart in MASK else {})
    assert {key: base64.b64decode(value).decode() for key, value in secret["data"].items()} == expected
    rest = json.dumps([one for one in documents if one is not secret])
    assert TOKEN not in rest
    assert HASH not in rest
    reference = {"secretKeyRef": {"name": secret["metadata"]["name"], "key": "token"}}
    assert variables(containers(documents)["jupyter"])["JUPYTER_TOKEN"] == reference


@pytest.mark.parametrize("chart", CHARTS)
def test_a_secret_of_the_user_is_taken_as_it_is(chart: str, render: Render) -> None:
    mine = {"secretKeyRef": {"name": "mine", "key": "password"}}
    documents = render(chart, MINIMAL[chart], values(chart, token=mine, nginx={"htpasswd": mine}))
    assert not [one for one in documents if one["kind"] == "Secret"]
    found = containers(documents)
    assert variables(found["jupyter"])["JUPYTER_TOKEN"] == mine
    if chart in MASK:
        assert variables(found["nginx"])["TENSORBOARD_HASH"] == mine


@pytest.mark.parametrize("chart", CHARTS)
def test_without_a_token_jupyter_makes_one(chart: str, render: Render) -> None:
    assert "JUPYTER_TOKEN" not in variables(containers(render(chart, MINIMAL[chart]))["jupyter"])


@pytest.mark.parametrize("chart", CHARTS)
def test_only_the_cluster_reaches_a_notebook(chart: str, render: Render) -> None:
    documents = render(chart, MINIMAL[chart])
    service = of_kind(documents, "Service")
    assert service["spec"]["type"] == "ClusterIP"
    assert "annotations" not in service["metadata"]
    assert of_kind(documents, "Deployment")["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize("chart", MASK)
def test_a_load_balancer_lets_one_network_in(chart: str, render: Render) -> None:
    service = of_kind(render(chart, MINIMAL[chart], {"global": {"source_cidr": "203.0.113.0/24"}}), "Service")
    assert service["spec"]["type"] == "LoadBalancer"
    assert service["spec"]["loadBalancerSourceRanges"] == ["203.0.113.0/24"]
    assert [(one["port"], one["targetPort"]) for one in service["spec"]["ports"]] == [
        (443, "jupyter"),
        (6443, "tensorboard"),
    ]


@pytest.mark.parametrize("chart", MASK)
@pytest.mark.parametrize("network", ["0.0.0.0/0", "::/0"])
def test_the_whole_internet_is_let_in_only_when_that_is_said(chart: str, network: str, render: Render) -> None:
    layer = {"global": {"source_cidr": network}}
    with pytest.raises(HelmError, match=f"global.source_cidr is {network}, the whole Internet"):
        render(chart, MINIMAL[chart], layer)
    layer["global"]["allow_public"] = True
    service = of_kind(render(chart, MINIMAL[chart], layer), "Service")
    assert service["spec"]["loadBalancerSourceRanges"] == [network]


@pytest.mark.parametrize("chart", MASK)
def test_tensorboard_needs_a_password(chart: str, render: Render) -> None:
    with pytest.raises(HelmError, match=r"nginx\.htpasswd is empty: give the hash"):
        render(chart, MINIMAL[chart], {"nginx": {"htpasswd": None}})


@pytest.mark.parametrize("chart", MASK)
def test_nothing_older_than_tls_1_2(chart: str, render: Render) -> None:
    texts = scripts(render(chart, MINIMAL[chart]))
    assert "ssl_protocols TLSv1.2 TLSv1.3;" in texts["nginx.conf"]
    assert r"'--ServerApp.ssl_options={'\''ssl_version'\'': 5}'" in texts["notebook.sh"]


@pytest.mark.parametrize("chart", MASK)
def test_the_shared_claim_is_mounted_once(chart: str, render: Render) -> None:
    layer = {"global": {"shared_fs": "efs", "shared_pvc": "mine"}}
    for claims in ([], [{"name": "other", "mount_path": "/efs"}]):
        spec = of_kind(render(chart, MINIMAL[chart], layer, {"pvc": claims}), "Deployment")["spec"]["template"]["spec"]
        names = [one["persistentVolumeClaim"]["claimName"] for one in spec["volumes"] if "persistentVolumeClaim" in one]
        assert names == ["other" if claims else "mine"]


def test_tensorboard_runs_beside_the_notebook_unless_there_is_nothing_to_read(render: Render) -> None:
    chart = "testing/notebook"
    found = containers(render(chart, MINIMAL[chart], {"log_dir": "/fsx/logs of mine"}))
    assert found["tensorboard"]["command"][:2] == ["tensorboard", "--logdir=/fsx/logs of mine"]
    assert found["tensorboard"]["restartPolicy"] == "Always"
    documents = render(chart, MINIMAL[chart], {"log_dir": None}, {"log_dir": ""})
    assert list(containers(documents)) == ["jupyter"]
    assert [one["name"] for one in of_kind(documents, "Service")["spec"]["ports"]] == ["jupyter"]
