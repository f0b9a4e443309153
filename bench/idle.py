# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""CPU of a whole `ansible-playbook` while its step waits for a cluster that does not answer; needs no cluster.

`python bench/idle.py` uses the project's ansible.cfg, `python bench/idle.py --poll 0.001` Ansible's own interval.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from processes import tree, usage

ROOT = Path(__file__).resolve().parents[1]
PLAYBOOK = [str(Path(sys.executable).parent / "ansible-playbook"), str(ROOT / "playbooks" / "train.yml")]
# Seconds for a play to reach its step at most, and from there to the first sample.
_START = 180
_SETTLE = 5


def main() -> None:
    """Print the CPU seconds of each play, and their median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--poll", type=float, help="internal_poll_interval, instead of that of ansible.cfg")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as directory, socket.create_server(("127.0.0.1", 0)) as server:
        # Connections are made by the kernel, and nobody reads from them.
        environment = _prepare(Path(directory), server.getsockname()[1], options.poll)
        for _ in range(options.repetitions):
            found.append(_measure(Path(directory), environment, options.seconds))
            print(f"{found[-1]:.2f} CPU seconds in {options.seconds:g} s", flush=True)
    print(f"median: {statistics.median(found):.2f}")


def _prepare(directory: Path, port: int, poll: float | None) -> dict[str, str]:
    """Write an inventory of one cluster that never answers, and the configuration; return the environment."""
    kubeconfig = {
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "users": [{"name": "u", "user": {}}],
    }
    (directory / "kubeconfig").write_text(yaml.safe_dump(kubeconfig), encoding="utf-8")
    host = {"ansible_connection": "local", "kubeconfig": str(directory / "kubeconfig")}
    inventory = {"clusters": {"hosts": {"silent": host}}}
    (directory / "inventory.yml").write_text(yaml.safe_dump(inventory), encoding="utf-8")
    settings = (ROOT / "ansible.cfg").read_text(encoding="utf-8")
    if poll is not None:
        settings = re.sub(r"(?m)^internal_poll_interval.*\n", "", settings)
        settings = settings.replace("[defaults]\n", f"[defaults]\ninternal_poll_interval = {poll}\n")
    settings = settings.replace(".venv/collections", str(ROOT / ".venv" / "collections"))
    (directory / "ansible.cfg").write_text(settings, encoding="utf-8")
    return {**os.environ, "ANSIBLE_CONFIG": str(directory / "ansible.cfg")}


def _measure(directory: Path, environment: dict[str, str], seconds: float) -> float:
    """Return the CPU seconds of the whole tree of one play while its step waits."""
    variables = [
        "-e",
        f"pipeline={ROOT}/recipes/demo/digits",
        "-e",
        "api_retry_timeout=600",
        "-e",
        f"runs_dir={directory}/runs",
    ]
    with (directory / "output").open("w+", encoding="utf-8") as output:
        play = subprocess.Popen(
            [*PLAYBOOK, "-i", str(directory / "inventory.yml"), *variables],
            cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _until_waiting(play, directory / "output")
            time.sleep(_SETTLE)
            begun, started = usage(tree(play.pid), children=True).cpu, time.monotonic()
            time.sleep(seconds)
            if play.poll() is not None:
                sys.exit((directory / "output").read_text(encoding="utf-8"))
            spent = usage(tree(play.pid), children=True).cpu - begun
            return spent * seconds / (time.monotonic() - started)
        finally:
            play.send_signal(signal.SIGINT)
            play.wait()


def _until_waiting(play: subprocess.Popen[bytes], output: Path) -> None:
    """Return when the step has printed that the cluster does not answer."""
    ends = time.monotonic() + _START
    while "does not answer" not in (text := output.read_text(encoding="utf-8")):
        if play.poll() is not None or time.monotonic() > ends:
            sys.exit(text)
        time.sleep(0.5)


if __name__ == "__main__":
    main()
