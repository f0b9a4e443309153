"""What every pod takes from the recipe, whatever its kind."""

from __future__ import annotations

from typing import Any

import pytest
from chart_cases import KEYS, MINIMAL, NAMES, WORK, Document, Render, having, node_type, pod_templates

every_chart = pytest.mark.parametrize("chart", NAMES)
every_pod = pytest.mark.parametrize("chart", having("pod", "resources"))
every_storage = pytest.mark.parametrize("chart", having("pod", "storage"))
every_launcher = pytest.mark.parametrize("chart", having("mpi"))
every_starter = pytest.mark.parametrize("chart", [*having("mpi"), *having("ray")])
every_work = pytest.mark.parametrize("chart", having("work"))
JOB = "data-prep/data-process"
TYPE = "node.kubernetes.io/instance-type"
ROLE = "app.kubernetes.io/component"
# Pods that only start the work of others.
STARTERS = {"launcher", "head", "submitter"}


def pods(documents: list[Document], *, starters: bool = False) -> list[dict[str, Any]]:
    """The pods that do the work, or those that only start it."""
    found = [
        template["spec"]
        for template in pod_templates(documents)
        if (template["metadata"]["labels"][ROLE] in STARTERS) is starters
    ]
    assert found
    return found


def variables(pod: dict[str, Any]) -> dict[str, Any]:
    names = [one["name"] for one in pod["containers"][0].get("env", [])]
    assert len(names) == len(set(names)), "a variable stands once"
    return {one["name"]: one.get("value") for one in pod["containers"][0].get("env", [])}


@every_chart
def test_the_names_of_run_and_step_are_in_the_environment(chart: str, render: Render) -> None:
    given = [
        variables(pod) for pod in pods(render(chart, MINIMAL[chart], {"run": {"name": "nightly", "step": "train"}}))
    ]
    assert [(one["RUN_NAME"], one["RUN_STEP"]) for one in given] == [("nightly", "train")] * len(given)
    # By hand, the release is all there is.
    for one in [variables(pod) for pod in pods(render(chart, MINIMAL[chart]))]:
        assert (one["RUN_NAME"], "RUN_STEP" in one) == ("demo", False)


@every_work
def test_a_run_name_of_the_recipe_wins(chart: str, render: Render) -> None:
    own = {WORK[chart]: {"env": [{"name": "RUN_NAME", "value": "mine-{{ .Values.run.name }}"}]}}
    for pod in pods(render(chart, MINIMAL[chart], own, {"run": {"name": "nightly"}})):
        assert variables(pod)["RUN_NAME"] == "mine-nightly"


@every_work
def test_templates_read_vars(chart: str, render: Render) -> None:
    own = {
        "vars": {"my_key": {"deep": "found"}},
        WORK[chart]: {"env": [{"name": "X", "value": "{{ .Values.vars.my_key.deep }}"}]},
    }
    assert all(variables(pod)["X"] == "found" for pod in pods(render(chart, MINIMAL[chart], own)))


@every_pod
def test_where_pods_run(chart: str, render: Render) -> None:
    own = {"matchLabels": {"mine": "yes"}}
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    layer = {
        "node_selector": {"pool": "a"},
        "priority_class_name": "high",
        "image_pull_secrets": ["one", "two"],
        "scheduler_name": "volcano",
        "service_account_name": "reader",
        "termination_grace_period_seconds": 600,
        "topology_spread_constraints": [spread, {**spread, "labelSelector": own}],
    }
    documents = render(chart, MINIMAL[chart], layer, node_type(chart, "p5.48xlarge"))
    for template in pod_templates(documents):
        for one in template["spec"].get("topologySpreadConstraints", [])[:1]:
            selector = one["labelSelector"]["matchLabels"].items()
            assert {"app.kubernetes.io/instance": "demo"}.items() <= selector <= template["metadata"]["labels"].items()
    for pod in pods(documents):
        assert pod["nodeSelector"] == {"pool": "a", TYPE: "p5.48xlarge"}
        assert pod["priorityClassName"] == "high"
        assert pod["imagePullSecrets"] == [{"name": "one"}, {"name": "two"}]
        assert pod["schedulerName"] == "volcano"
        assert pod["serviceAccountName"] == "reader"
        assert "automountServiceAccountToken" not in pod
        assert pod["terminationGracePeriodSeconds"] == 600
        first, second = pod["topologySpreadConstraints"]
        assert {**first, "labelSelector": own} == second == {**spread, "labelSelector": own}


@every_pod
def test_a_list_of_node_types_is_required_by_every_term_of_the_affinity(chart: str, render: Render) -> None:
    types = {"key": TYPE, "operator": "In", "values": ["p4d.24xlarge", "p5.48xlarge"]}
    zone = {"key": "zone", "operator": "In", "values": ["a"]}
    name = {"key": "metadata.name", "operator": "In", "values": ["node-1"]}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    preferred = [{"weight": 1, "preference": {"matchExpressions": [zone]}}]
    anti = {"podAntiAffinity": {required: [{"topologyKey": "host"}]}}
    terms = [{"matchExpressions": [zone]}, {"matchFields": [name]}]
    layer = node_type(chart, types["values"])
    alone = {"nodeAffinity": {required: {"nodeSelectorTerms": [{"matchExpressions": [types]}]}}}
    for pod in pods(render(chart, MINIMAL[chart], layer)):
        assert "nodeSelector" not in pod
        assert pod["affinity"] == alone
    for pod in pods(render(chart, MINIMAL[chart], layer, {"affinity": anti})):
        assert pod["affinity"] == alone | anti
    own = {
        "nodeAffinity": {
            required: {"nodeSelectorTerms": terms},
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        }
    }
    both = [{"matchExpressions": [zone, types]}, {"matchFields": [name], "matchExpressions": [types]}]
    for pod in pods(render(chart, MINIMAL[chart], layer, {"affinity": own})):
        assert pod["affinity"]["nodeAffinity"] == own["nodeAffinity"] | {required: {"nodeSelectorTerms": both}}
    # Without a list, the affinity is the recipe's as it is.
    for pod in pods(render(chart, MINIMAL[chart], {"affinity": own}, node_type(chart, []))):
        assert pod["affinity"] == own


@every_storage
def test_further_containers_take_what_they_do_not_name(chart: str, render: Render) -> None:
    layer = {
        "volumes": [{"name": "more", "emptyDir": {}}],
        "volume_mounts": [{"name": "more", "mountPath": "/more"}],
        "init_containers": [
            {"name": "first", "command": ["true"]},
            {"name": "second", "image": "other:2", "volumeMounts": []},
        ],
        "sidecars": [{"name": "beside", "image": "agent:3"}],
    }
    for pod in pods(render(chart, MINIMAL[chart], layer)):
        (program, *_others) = pod["containers"]
        mounts = {one["name"]: one["mountPath"] for one in program["volumeMounts"]}
        assert mounts["more"] == "/more"
        assert {"name": "more", "emptyDir": {}} in pod["volumes"]
        further = {one["name"]: one for one in pod["initContainers"]}
        assert list(further)[-3:] == ["first", "second", "beside"]
        assert further["first"]["image"] == program["image"]
        assert further["first"]["volumeMounts"] == program["volumeMounts"]
        assert (further["second"]["image"], further["second"]["volumeMounts"]) == ("other:2", [])
        # Kubernetes starts it before the program and ends it afterwards.
        assert (further["beside"]["image"], further["beside"]["restartPolicy"]) == ("agent:3", "Always")
        assert "restartPolicy" not in further["first"]


@every_pod
def test_pod_and_container_are_laid_over_everything(chart: str, render: Render) -> None:
    layer = {
        "priority_class_name": "low",
        "service_account_name": "reader",
        "podSecurityContext": {"runAsUser": 1},
        "pod": {"priorityClassName": "high", "hostNetwork": True, "securityContext": {"fsGroup": 2}},
        "container": {"workingDir": "/w", "securityContext": {"runAsUser": 3}, "resources": {"requests": {"cpu": "7"}}},
    }
    for pod in pods(render(chart, MINIMAL[chart], layer)):
        assert (pod["priorityClassName"], pod["serviceAccountName"], pod["hostNetwork"]) == ("high", "reader", True)
        security = {"fsGroup": 2, "runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}}
        assert pod["securityContext"] == security
        (program, *_others) = pod["containers"]
        assert program["workingDir"] == "/w"
        assert program["securityContext"]["runAsUser"] == 3
        assert program["resources"]["requests"]["cpu"] == "7"
        assert "memory" in program["resources"]["requests"] | program["resources"].get("limits", {})
        assert all("workingDir" not in one for one in pod.get("initContainers", []))


def test_a_list_of_an_override_replaces_the_chart_s(render: Render) -> None:
    layer = {
        "container": {"command": ["sleep"], "env": [{"name": "A", "value": "1"}]},
        "pod": {"volumes": [{"name": "v", "emptyDir": {}}]},
    }
    (pod,) = pods(render(JOB, MINIMAL[JOB], layer))
    assert pod["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert pod["containers"][0]["command"] == ["sleep"]
    assert variables(pod) == {"A": "1"}


@every_starter
def test_what_starts_the_work_takes_nothing_of_where_the_workers_run(chart: str, render: Render) -> None:
    """With a GPU, its taint and its affinity it could not be scheduled."""
    amounts = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 4, "memory": "900Gi"}
    layer = {
        "resources": {"requests": amounts, "limits": amounts},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        "node_selector": {"pool": "gpu"},
        "topology_spread_constraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
        "scheduler_name": "volcano",
        "ebs": {"storage": "1Ti"},
        "init_containers": [{"name": "prepare", "command": ["true"]}],
        "sidecars": [{"name": "agent", "command": ["true"]}],
        "priority_class_name": "high",
        "service_account_name": "reader",
    }
    documents = render(chart, MINIMAL[chart], layer, node_type(chart, ["p5.48xlarge"]))
    (worker,) = pods(documents)
    placing = {
        "nodeSelector",
        "tolerations",
        "affinity",
        "topologySpreadConstraints",
        "schedulerName",
        "initContainers",
    }
    assert placing <= worker.keys()
    assert "FI_PROVIDER" in variables(worker)
    if chart in having("ray"):
        # The head runs the recipe's script, for which they may prepare something.
        placing -= {"initContainers"}
    for starter in pods(documents, starters=True):
        assert not placing & starter.keys()
        own = starter["containers"][0]["resources"]
        assert own["requests"].keys() | own.get("limits", {}).keys() == {"cpu", "memory"}
        assert "FI_PROVIDER" not in variables(starter)
        if chart in having("mpi"):
            missing = {one["name"] for one in worker["volumes"]} - {one["name"] for one in starter["volumes"]}
            assert missing == {"ebs"}
        # Who they are is the same.
        assert starter["priorityClassName"] == worker["priorityClassName"] == "high"
        assert starter["serviceAccountName"] == worker["serviceAccountName"] == "reader"


@every_launcher
def test_workers_keep_their_environment_from_others(chart: str, render: Render) -> None:
    """What they write for their ranks may hold secrets."""
    (worker,) = pods(render(chart, MINIMAL[chart]))
    (line,) = [word for word in worker["containers"][0]["command"] if "container-environment" in word]
    assert "(umask 077; export -p >/dev/shm/container-environment)" in line


@every_chart
def test_a_network_policy_only_when_asked(chart: str, render: Render) -> None:
    assert not [one for one in render(chart, MINIMAL[chart]) if one["kind"] == "NetworkPolicy"]
    egress = {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 443, "protocol": "TCP"}]}
    documents = render(chart, MINIMAL[chart], {"network_policy": True, "network_egress": [egress]})
    (policy,) = [one for one in documents if one["kind"] == "NetworkPolicy"]
    spec = policy["spec"]
    own = [{"podSelector": spec["podSelector"]}]
    selected = spec["podSelector"]["matchLabels"].items()
    assert "demo" in dict(selected).values()
    assert all(selected <= template["metadata"]["labels"].items() for template in pod_templates(documents))
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    dns = {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]}
    assert spec["egress"] == [{"to": own}, dns, egress]
    # What a Service leads to, a port of a container by its name or number, everybody may reach. Operators make Services
    # that are not seen here.
    containers = [one for template in pod_templates(documents) for one in template["spec"]["containers"]]
    named = {port["name"]: port["containerPort"] for one in containers for port in one.get("ports", [])}
    services = [port for one in documents if one["kind"] == "Service" for port in one["spec"]["ports"]]
    targets = {port.get("targetPort", port["port"]) for port in services}
    reached = {port["port"] for rule in spec["ingress"] if "from" not in rule for port in rule["ports"]}
    assert spec["ingress"][0] == {"from": own}
    if services:
        assert reached == {named.get(target, target) for target in targets}
    else:
        assert reached <= {*named.values()}
        assert bool(reached) == (KEYS[chart]["until"] == "ready")
