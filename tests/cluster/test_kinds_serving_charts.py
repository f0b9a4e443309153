# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The charts of serving as steps, in front of small servers of the same protocols."""

from __future__ import annotations

import shlex
import typing as t

import pytest
from client import Client
from plays import until
from samples import IMAGE, Json
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.operators]

# Seconds that a step may take; two cores run every operator and other tests beside it.
LONG = 420

# Serves on a port: answers some paths, and ends when it is asked for /end.
_SERVER = r"""
use IO::Socket::INET; $SIG{TERM} = sub { exit }; $SIG{PIPE} = 'IGNORE';
my ($port, %answers) = (shift, map { split /=/, $_, 2 } @ARGV);
my $server = IO::Socket::INET->new(LocalPort => $port, Listen => 9, ReuseAddr => 1) or die $@;
while (my $client = $server->accept) {
  my ($path) = (<$client> // '') =~ m{^GET (\S+)}; while (<$client>) { last if /^\r?$/ }
  exit if $path eq '/end';
  my $answer = $answers{$path};
  print $client defined $answer ? "HTTP/1.0 200 OK\r\n\r\n$answer\n" : "HTTP/1.0 404 Not Found\r\n\r\n";
  close $client
}
"""
# Stands for vLLM on several nodes: workers connect to the leader, and have a part in every one of its answers.
_VLLM = r"""#!/usr/bin/perl
use IO::Socket::INET; $SIG{TERM} = sub { exit }; $SIG{PIPE} = 'IGNORE'; $| = 1;
my $words = "@ARGV"; my %given = $words =~ /--(\S+) (?!--)(\S+)/g;
my ($rank, $master) = ($given{'node-rank'}, 29501);
if ($words =~ /--headless/) {
  my $leader; sleep 1 until $leader = IO::Socket::INET->new(PeerAddr => $given{'master-addr'}, PeerPort => $master);
  print "rank $rank joins\n"; $leader->autoflush; print $leader "$rank\n";
  while (<$leader>) { print $leader "$rank\n" }
  exit 1
}
my $door = IO::Socket::INET->new(LocalPort => $master, Listen => 9, ReuseAddr => 1) or die $@;
my @workers = map { my $worker = $door->accept; $worker->autoflush; <$worker>; $worker } 2 .. $given{nnodes};
my $server = IO::Socket::INET->new(LocalPort => $given{port}, Listen => 9, ReuseAddr => 1) or die $@;
while (my $client = $server->accept) {
  exit if (<$client> // '') =~ m{^GET /end }; while (<$client>) { last if /^\r?$/ }
  my @parts = sort map { print $_ "?\n"; my $part = <$_>; exit 1 unless $part; chomp $part; $part } @workers;
  print $client "HTTP/1.0 200 OK\r\n\r\n$ENV{VERSION}: $ARGV[1] by @{[$rank // 0, @parts]}\n"; close $client
}
"""


def _file(path: str, text: str) -> str:
    """Return the shell text that writes a program."""
    return f"cat >{path} <<'END'\n{text.strip()}\nEND\nchmod +x {path}\n"


def _recipe(server: Json, program: str = _file("/tmp/server", _SERVER), **more: t.Any) -> Json:
    quick = {"period_secs": 1, "failure_threshold": 120}
    return {
        "image": {"name": IMAGE},
        "pvc": [],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        "inline_script": [program],
        **more,
        "server": {
            "startup_probe": quick,
            "readiness_probe": {"period_secs": 1},
            "liveness_probe": {"period_secs": 1, "failure_threshold": 2},
            "drain_secs": 0,
            **server,
        },
    }


def _install(space: Space, chart: str, recipe: Json, rc: int = 0, **more: t.Any) -> str:
    step = {"release": "run", "chart": f"serving/{chart}", "values": recipe, "keep": True, "timeout": LONG, **more}
    return space.start_task("helm_step", **step).end(rc, seconds=LONG + 60)


def _answer(space: Space, pod: str, path: str, port: int) -> str:
    """Ask the Service from a pod of the cluster; return the last line of what comes back."""
    ask = f'exec 3<>/dev/tcp/run/{port}; printf "GET {path} HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3'
    shown = space.kubectl("exec", pod, "--", "timeout", "10", "bash", "-c", ask, check=False)
    return (shown.splitlines() or [""])[-1]


def _answers(space: Space, pod: str, path: str, port: int, words: str) -> None:
    """Wait for an answer: that pods are ready comes to where Services are made of them a moment later than to us."""
    until(lambda: _answer(space, pod, path, port) == words, f"{path} is answered with {words!r}")


def _restarts(space: Space) -> int:
    """Return how often the containers of the release were started again, when all of them are ready."""
    statuses = [one for pod in space.get("pods") for one in pod["status"].get("containerStatuses", [])]
    return sum(one["restartCount"] for one in statuses) if all(one["ready"] for one in statuses) else 0


def _serve(port: int, **answers: str) -> str:
    words = [f"/{path.replace('_', '/')}={answer}" for path, answer in answers.items()]
    return shlex.join(["perl", "/tmp/server", str(port), *words])


_READY = {"v2_health_ready": "ready", "v2_health_live": "live"}
# Chart: the server of the recipe; path and port to ask, and the answer.
DEPLOYMENTS: dict[str, tuple[Json, str, int, str]] = {
    # Its command returns and leaves the server in the background: only the liveness probe finds that it died.
    "triton-inference-server": (
        {"command": [_serve(8000, **_READY, v2_models_digits='{"name":"digits"}')], "args": [">/tmp/log 2>&1 &"]},
        "/v2/models/digits",
        8000,
        '{"name":"digits"}',
    ),
    "djl-lmi-server": (
        {
            "command": [_serve(8080, ping='{"status":"Healthy"}', predictions_digits="7")],
            "args": ["2>&1 | tee /tmp/log"],
            "ports": {"http": 8080},
        },
        "/predictions/digits",
        8080,
        "7",
    ),
    "generic-server": (
        {
            "command": [_serve(7000, status="up", call="called")],
            "ports": [{"name": "http", "value": "7000"}],
            **{
                name: {"path": "/status", "period_secs": 1, "failure_threshold": 60}
                for name in ("startup_probe", "readiness_probe", "liveness_probe")
            },
        },
        "/call",
        7000,
        "called",
    ),
    "vllm": ({"ports": [{"name": "http", "value": 8000}]}, "/v1/models", 8000, "first: /models/digits by 0"),
}
# The parts of a recipe that only vLLM's chart has.
_MODEL: Json = {
    "model": "/models/digits",
    "program": _file("/tmp/vllm", _VLLM),
    "pre_script": ["export PATH=/tmp:$PATH"],
}


@pytest.mark.parametrize("chart", DEPLOYMENTS)
def test_a_server_answers_and_is_started_again_when_it_dies(chart: str, space: Space) -> None:
    server, path, port, words = DEPLOYMENTS[chart]
    more: Json = _MODEL if chart == "vllm" else {}
    recipe = _recipe({"env": [{"name": "VERSION", "value": "first"}], **server}, **more)
    assert "changed=1" in _install(space, chart, recipe)
    assert space.record("run")["outcome"] == "ready"
    (before,) = space.get("pods")
    _answers(space, "deployment/run", path, port, words)
    assert "changed=0" in _install(space, chart, recipe)
    assert [pod["metadata"]["uid"] for pod in space.get("pods")] == [before["metadata"]["uid"]]

    _answer(space, "deployment/run", "/end", port)
    until(lambda: _restarts(space) > 0, "the container is started again", LONG)
    _answers(space, "deployment/run", path, port, words)
    space.play("stop", release="run")
    assert space.releases() == []


def test_a_triton_launcher_that_fails_is_not_kept_alive(space: Space) -> None:
    server = {"command": ["sh -c 'echo no model repository; exit 3'"]}
    shown = _install(space, "triton-inference-server", _recipe(server, shell_options=""), rc=2, max_restarts=1)
    cause = space.record("run")["cause"]
    assert (space.record("run")["outcome"], cause["reason"]) == ("failed", "CrashLoop")
    assert "exit code 3" in cause["message"]
    assert "no model repository" in shown


def _several(version: str) -> Json:
    """Return a server of vLLM on three nodes; port and path are those of `Client`."""
    server = {
        "env": [{"name": "VERSION", "value": version}],
        "ports": [{"name": "http", "value": 8080}],
        "drain_secs": 8,
    }
    recipe = _recipe(server, **_MODEL, served_model_name="digits", tensor_parallel_size=3)
    return {**recipe, "resources": {**recipe["resources"], "nnodes": 3}}


def _group(space: Space) -> dict[str, str]:
    """Return the pods of the first group and their identities."""
    pods = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in space.get("pods")}
    return {name: uid for name, uid in pods.items() if name.startswith("run-0")}


def test_a_leader_answers_with_its_workers_and_an_upgrade_loses_no_request(space: Space) -> None:
    assert "changed=1" in _install(space, "vllm", _several("first"))
    record = space.record("run")
    assert record["outcome"] == "ready"
    assert {pod["role"] for pod in record["pods"]} == {"leader-0", "worker-0-1", "worker-0-2"}
    _answers(space, "run-0-1", "/", 8080, "first: /models/digits by 0 1 2")
    before = _group(space)
    client = Client(space, "run")

    assert "changed=1" in _install(space, "vllm", _several("second"))
    assert space.record("run")["outcome"] == "ready"
    until(lambda: len(space.get("pods")) == 4, "the old groups are gone", LONG)
    _answers(space, "run-0-1", "/", 8080, "second: /models/digits by 0 1 2")
    sent, lost = client.stop()
    assert (lost, sent > 200) == ([], True)
    after = _group(space)
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())

    space.play("stop", release="run")
    assert space.releases() == []


def test_a_worker_that_goes_takes_its_group_along(space: Space) -> None:
    _install(space, "vllm", _several("first"))
    before = _group(space)
    space.evict("run-0-2")

    def all_anew() -> bool:
        return _group(space).keys() == before.keys() and not set(_group(space).values()) & set(before.values())

    until(all_anew, "every pod of the group is another one", LONG)
    space.kubectl("wait", "--for=condition=Ready", *(f"pod/{name}" for name in before), f"--timeout={LONG}s")
    _answers(space, "run-0-1", "/", 8080, "first: /models/digits by 0 1 2")


def test_a_leader_enters_its_workers_and_no_other_pod(space: Space) -> None:
    """With the account that the release gives to its leaders, as server.py does."""
    recipe = _recipe({"command": [_serve(8000, **_READY)], "keep_alive": False}, lws={"size": 3})
    _install(space, "triton-inference-server-lws", recipe)
    assert {pod["role"] for pod in space.record("run")["pods"]} == {"leader-0", "worker-0-1", "worker-0-2"}
    _answers(space, "run-0-1", "/v2/health/ready", 8000, "ready")

    (leader,) = space.get("pods", "-l", "app.kubernetes.io/component=leader")
    assert leader["spec"]["serviceAccountName"] == "run"
    namespace, key = space.kubectl("exec", "run-0", "--", "bash", "-c", "echo $NAMESPACE $GROUP_KEY").split()
    assert namespace == space.namespace
    account = f"--as=system:serviceaccount:{namespace}:run"
    found = space.kubectl(account, "get", "pods", "-l", f"leaderworkerset.sigs.k8s.io/group-key={key}", "-o", "name")
    assert sorted(found.split()) == ["pod/run-0", "pod/run-0-1", "pod/run-0-2"]
    for rank in ("1", "2"):
        entered = space.kubectl(account, "exec", f"run-0-{rank}", "--", "bash", "-c", "echo $LWS_WORKER_INDEX")
        assert entered.split() == [rank]

    stranger = {"image": IMAGE, "name": "stranger", "command": ["sleep", "600"]}
    spec = {"containers": [stranger], "terminationGracePeriodSeconds": 0}
    space.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stranger"}, "spec": spec})
    space.kubectl("wait", "--for=condition=Ready", "pod/stranger", "--timeout=180s")
    may = (account, "auth", "can-i", "create", "pods", "--subresource=exec")
    assert space.kubectl(*may, check=False).split() == ["no"]
    assert space.kubectl(account, "exec", "stranger", "--", "echo", "entered", check=False) == ""

    space.play("stop", release="run")
    assert space.releases() == []
    assert space.names("roles") == []
