# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One controller per release: the Lease `mlops-eks-<release>`, and the identity of the process that holds it.

The holder renews the Lease every 15 s. Another controller takes it over when it has expired, when its holder is a dead
process of the same machine, or when a user stops the run.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, from_iso, human, iso, micro
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ClusterError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection, item
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import stop_command

_API = "coordination.k8s.io/v1"
# Seconds: a lease expires when it was not renewed for `DURATION`. Two renewals in a row may fail.
DURATION = 45.0
RENEWAL = 15.0
# States in /proc of a process that has ended, and that its parent has not reaped.
_ENDED = ("Z", "X")


class Lock:
    """The Lease `mlops-eks-<release>`. `on_loss(holder)` is called when another controller took it over."""

    def __init__(
        self, kube: Kube, release: str, *, clock: Clock, on_loss: Callable[[str], None] = lambda _: None
    ) -> None:
        self._kube, self._release, self._clock, self._on_loss = kube, release, clock, on_loss
        self._me = this_controller()
        self._collection = collection(_API, "leases", kube.namespace)
        self._path = item(_API, "leases", kube.namespace, f"mlops-eks-{release}")
        # The lease as we wrote it last.
        self._lease: Document | None = None
        # The display name of the controller that took the lease over.
        self._taker = ""
        # When the holder before us renewed last, in seconds since the epoch; 0 if the lease was free.
        self.previous_renewal = 0.0
        # The renewing thread and the working thread both write the lease.
        self._writing = threading.Lock()
        self._released = threading.Event()
        self._thread: threading.Thread | None = None

    def acquire(self, *, timeout: float, say: Callable[[str], None]) -> None:
        """Take the lease, or wait for it. A holder that renews it is alive, and is waited for `timeout` seconds.

        Raises:
            ConflictError: a living holder keeps it; the message names the holder and the time it was acquired.
        """
        begun, announced, last, changed = self._clock.now(), False, "", self._clock.now()
        while not self._take_if_free():
            lease = self._kube.get(self._path)
            if lease is None:
                # Released between the two requests.
                continue
            spec = lease.get("spec") or {}
            holder, renewed, now = str(spec.get("holderIdentity") or ""), str(spec.get("renewTime")), self._clock.now()
            alive = last not in ("", renewed)
            if renewed != last:
                last, changed = renewed, now
            duration = float(spec.get("leaseDurationSeconds") or DURATION)
            if alive and now - begun >= timeout:
                raise ConflictError(self._refusal(holder, str(spec.get("acquireTime"))), holder=display_name(holder))
            if now - changed > duration and self._write(lease):
                break
            if not announced:
                say(f"release {self._release} is locked by {display_name(holder)}; waiting to see whether it is alive")
                announced = True
            self._clock.sleep(1.0)
        self._start_renewing()

    def seize(self) -> str:
        """Take the lease from its holder, who notices at its next `ensure_held`; return that holder, empty if none."""
        while not self._take_if_free():
            lease = self._kube.get(self._path)
            if lease is not None and self._write(lease):
                self._start_renewing()
                return display_name(str(lease["spec"].get("holderIdentity")))
        self._start_renewing()
        return ""

    @property
    def lost(self) -> bool:
        """Whether another controller is known to have taken the lease."""
        return bool(self._taker)

    def check(self) -> None:
        """Update `lost` by a cheap read; for a controller that only waits."""
        # When the cluster does not answer, the next check or renewal finds out.
        with contextlib.suppress(ClusterError):
            # From the API server's cache, which may be out of date: the renewal confirms it.
            if _holder(self._kube.get(self._path, {"resourceVersion": "0"})) != self._me:
                self._renew()

    def ensure_held(self) -> None:
        """Ask the cluster whether the lease is still ours; to be called before each change that it protects.

        A controller that was suspended for longer than `DURATION` may have been replaced, and a stopped run loses the
        lease at once.

        Raises:
            ConflictError: another controller took it over. ClusterError: the cluster does not answer.
        """
        while not self._renew():
            pass
        if self._taker:
            raise ConflictError(
                f"release {self._release}: {self._taker} took over. 'status.yml' shows whether the run goes on there "
                "or was stopped.",
                holder=self._taker,
            )

    def release(self) -> None:
        """Delete the lease if it is still ours, and stop the renewals."""
        self._released.set()
        # When the cluster does not answer, the lease expires.
        with self._writing, contextlib.suppress(ClusterError):
            lease, self._lease = self._lease, None
            if lease is None or self._delete(lease):
                return
            # Written since: by a renewal whose answer was lost, or by another controller.
            current = self._kube.get(self._path)
            if current and current["spec"].get("holderIdentity") == self._me:
                self._delete(current)

    def _start_renewing(self) -> None:
        self._thread = threading.Thread(target=self._renew_until_released, daemon=True, name=f"lease {self._release}")
        self._thread.start()

    def _renew_until_released(self) -> None:
        while not self._released.wait(RENEWAL):
            try:
                self._renew()
            except ClusterError:
                continue
            if self._taker:
                self._on_loss(self._taker)
                return

    def _renew(self) -> bool:
        """Renew the lease, or find out who took it; return False when it must be tried again.

        Raises:
            ClusterError: the cluster does not answer.
        """
        with self._writing:
            lease = self._lease
            if lease is None or self._released.is_set() or self._write(lease):
                return True
            current = self._kube.get(self._path)
            holder = _holder(current)
            if current is not None and holder == self._me:
                # The answer to an earlier renewal was lost.
                return self._write(current)
            self._lease = None
            self._taker = display_name(holder) if holder else "somebody who deleted the lease"
            return True

    def _take_if_free(self) -> bool:
        """Create the lease, or take it from a holder that is known to be dead; return whether it is ours."""
        now = micro(self._clock.now())
        body: Document = {
            "apiVersion": _API,
            "kind": "Lease",
            "metadata": {"name": f"mlops-eks-{self._release}", "labels": {"app.kubernetes.io/managed-by": "mlops.eks"}},
            "spec": {**self._spec(now), "acquireTime": now},
        }
        try:
            self._lease = self._kube.request("POST", self._collection, body=body)
        except ConflictError:
            lease = self._kube.get(self._path)
            holder = _holder(lease)
            # It is our own when the answer to the creation was lost.
            free = holder in ("", self._me) or is_dead(holder)
            return lease is not None and free and self._write(lease)
        return True

    def _write(self, lease: Document) -> bool:
        """Make this controller the holder; return False when another was faster, by the lease's resourceVersion."""
        now = micro(self._clock.now())
        acquired = {} if lease["spec"].get("holderIdentity") == self._me else {"acquireTime": now}
        try:
            self._lease = self._kube.request(
                "PUT", self._path, body={**lease, "spec": {**lease["spec"], **self._spec(now), **acquired}}
            )
        except (ConflictError, AbsentError):
            return False
        if acquired and lease["spec"].get("renewTime"):
            self.previous_renewal = from_iso(lease["spec"]["renewTime"])
        return True

    def _spec(self, now: str) -> Document:
        return {"holderIdentity": self._me, "leaseDurationSeconds": int(DURATION), "renewTime": now}

    def _delete(self, lease: Document) -> bool:
        version = lease["metadata"]["resourceVersion"]
        try:
            self._kube.request("DELETE", self._path, body={"preconditions": {"resourceVersion": version}})
        except ConflictError:
            return False
        return True

    def _refusal(self, holder: str, since: str) -> str:
        age = ""
        if since:
            age = f" for {human(max(0.0, self._clock.now() - from_iso(since)))} (since {iso(from_iso(since))})"
        return (
            f"release {self._release}: {display_name(holder)} is following it{age}. Wait for it, or stop the run "
            f"there or with '{stop_command(self._release, self._kube.namespace)}'."
        )


def _holder(lease: Document | None) -> str:
    return str(((lease or {}).get("spec") or {}).get("holderIdentity") or "")


def this_controller() -> str:
    """Return the identity of this process, `host/boot/pid/start`, which no later process can have."""
    pid = os.getpid()
    return f"{socket.gethostname()}/{_boot()}/{pid}/{_started(pid)}"


def this_user() -> str:
    """Return the user of this process; under sudo, the user who called it."""
    try:
        own = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        # OpenShift runs containers as users without a name.
        own = str(os.getuid())
    return os.environ.get("SUDO_USER") or own


def display_name(holder: str) -> str:
    """Return a holder for messages, as `host (process pid)`."""
    host, _, rest = holder.partition("/")
    parts = rest.split("/")
    return f"{host} (process {parts[1]})" if len(parts) == 3 else holder


def _boot() -> str:
    """Return the boot and the process namespace: only within both are process numbers unique."""
    path, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    if not path.exists() or not namespace.is_symlink():
        return "0"
    return f"{path.read_text(encoding='ascii').strip()[:8]}-{namespace.readlink().name.strip('pid:[]')}"


def _started(pid: int) -> str:
    """Return when process `pid` started, in clock ticks since the boot, or `0` when it does not run."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return "0" if state in _ENDED else fields[18]
    except (OSError, IndexError, ValueError):
        return "0"


def is_dead(holder: str) -> bool:
    """Return whether the holder is a process of this machine that no longer runs."""
    parts = holder.split("/")
    if len(parts) != 4 or parts[:2] != [socket.gethostname(), _boot()] or not parts[2].isdigit():
        return False
    return Path("/proc").is_dir() and _started(int(parts[2])) != parts[3]
