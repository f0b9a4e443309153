# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Small recipes, and the expected content of their logs."""

from __future__ import annotations

import re
import shlex
import typing as t

Json = dict[str, t.Any]
IMAGE = "localhost/mlops-eks/base:0.1.0"
JOB = "data-prep/data-process"
SERVER = "serving/generic-server"
# What a container writes when it has come to its gate, and what `Space.open_gate` writes to let it go on.
CLOSED, OPEN = "/tmp/gate", "/tmp/go"
GATE = f"touch {CLOSED}; while [ ! -e {OPEN} ]; do sleep 0.1; done"


def _ticking(words: int = 10**9) -> str:
    """Return the command that prints `tick 1`, `tick 2` ... for each of `words`, and waits at the gate."""
    count = f"i=$((i+1)); [ $i -gt {words} ] || echo tick $i"
    return f"touch {CLOSED}; i=0; while [ ! -e {OPEN} ]; do {count}; sleep 0.2; done"


def job(*commands: str, **more: t.Any) -> Json:
    """Return the recipe of a small Job that runs `commands` one after the other."""
    resources = {"requests": {"cpu": "10m", "memory": "16Mi"}}
    return {
        "image": IMAGE,
        "pvc": [],
        "resources": resources,
        "process": {"command": ["; ".join(commands)]},
        **more,
    }


def gated(*commands: str) -> Json:
    """Return a Job that prints `tick 1`, `tick 2` ... five times a second until `Space.open_gate` is called."""
    return job(_ticking(), "echo went", *commands)


def saving(*, seconds: float = 0, words: int = 10**9) -> Json:
    """Return a `gated` Job whose trainer saves on SIGTERM, which takes some seconds, and prints a line when done."""
    trainer = f"trap 'sleep {seconds:g}; echo caught SIGTERM, checkpoint saved; exit 0' TERM; {_ticking(words)}"
    return job(f"bash -c {shlex.quote(trainer)}", "echo went")


def ticks(lines: list[str]) -> list[int]:
    """Return the numbers of the `tick` lines."""
    return [int(line.removeprefix("tick ")) for line in lines if line.startswith("tick ")]


def shown_ticks(text: str) -> list[int]:
    """Return the numbers of the `tick` lines that a play has printed."""
    return [int(found) for found in re.findall(r"\| tick (\d+)$", text, re.MULTILINE)]


def consecutive(numbers: list[int]) -> bool:
    """Return whether the numbers are 1, 2, 3 ... without a gap or a repetition."""
    return numbers == list(range(1, len(numbers) + 1)) and bool(numbers)


def server(answer: str, *, replicas: int = 1, drain: int = 0, **more: t.Any) -> Json:
    """Return the recipe of a small HTTP server that answers everything with `answer`."""
    loop = "while ($c = $s->accept) { while (<$c>) { last if /^\\r?$/ } print $c $a; close $c }"
    listen = "$s = IO::Socket::INET->new(LocalPort => 8080, Listen => 9, ReuseAddr => 1)"
    # The first process of a container has no default answer to SIGTERM: it would be waited for until it is killed.
    ends = "$SIG{TERM} = sub { exit }"
    program = f'{ends}; $a = "HTTP/1.0 200 OK\\r\\n\\r\\n{answer}\\n"; {listen}; {loop}'
    probe = {"period_secs": 1}
    return {
        "image": {"name": IMAGE},
        "pvc": [],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        "server": {
            "ports": [{"name": "http", "value": 8080}],
            "command": [f"exec perl -MIO::Socket::INET -e '{program}'"],
            "startup_probe": probe,
            "readiness_probe": probe,
            "autoscaling": {"minReplicas": replicas, "maxReplicas": replicas},
            "drain_secs": drain,
        },
        **more,
    }
