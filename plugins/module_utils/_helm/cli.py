# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Runs the `helm` program and translates its errors."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import typing as t
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import OUTPUT, capture, size
from ansible_collections.mlops.eks.plugins.module_utils._core.cache import cache_dir
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    CommandError,
    ConflictError,
    EksError,
    ForbiddenError,
    InvalidInputError,
    MissingToolError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.files import write_atomically


class Completed(t.NamedTuple):
    """The result of a program."""

    rc: int
    stdout: str
    stderr: str


class Run(t.Protocol):
    """Run one program to its end."""

    def __call__(self, argv: Sequence[str], *, stdin: str | None = None) -> Completed: ...


# Variables of the places where Helm keeps logins, repositories, plugins and caches.
_HELM_HOMES = (
    "HELM_CACHE_HOME",
    "HELM_CONFIG_HOME",
    "HELM_CONTENT_CACHE",
    "HELM_DATA_HOME",
    "HELM_NO_PLUGINS",
    "HELM_PLUGINS",
    "HELM_REGISTRY_CONFIG",
    "HELM_REPOSITORY_CACHE",
    "HELM_REPOSITORY_CONFIG",
)


def environment() -> dict[str, str]:
    """Return the environment for Helm: ours, without variables that select another cluster, namespace or storage.

    These are `HELM_DRIVER`, `HELM_KUBE…`, `HELM_NAMESPACE` and similar. Variables of proxies, certificates and exec
    plugins stay.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name != "KUBECONFIG" and (not name.startswith("HELM_") or name in _HELM_HOMES)
    }


def run_program(argv: Sequence[str], *, stdin: str | None = None) -> Completed:
    """Run `argv` without a shell and capture its output."""
    # In its own session, so that Ctrl-C at the terminal does not interrupt an install.
    done = capture(argv, stdin=stdin, env=environment())
    if done.over and argv[1] == "template":
        raise InvalidInputError(
            f"helm template {argv[2]}: the chart renders more than {size(OUTPUT)}. Check its loops and its values."
        )
    return Completed(done.rc, done.stdout, done.stderr)


def find_helm(given: str | None = None) -> str:
    """Return the path of `helm`: as given, from MLOPS_EKS_HELM, built by this project, or from PATH.

    Raises:
        MissingToolError: there is none.
    """
    built = cache_dir() / "bin" / "helm"
    for candidate in (given, os.environ.get("MLOPS_EKS_HELM"), str(built), "helm"):
        found = shutil.which(candidate) if candidate else None
        if found:
            return found
    raise MissingToolError("helm: not found on PATH. Install Helm 4, or run 'make tools' to build it.")


def require_helm_4(binary: str) -> str:
    """Return `binary` if it is Helm 4; the check is cached until the file changes.

    Raises:
        MissingToolError: it is another version, or not Helm.
    """
    path = Path(binary).resolve()
    about = path.stat()
    key = hashlib.sha256(f"{path}:{about.st_size}:{about.st_mtime_ns}".encode()).hexdigest()[:32]
    known = cache_dir() / "helm-versions" / key
    if known.exists():
        return binary
    found = _version(binary)
    if not re.match(r"v4\.", found):
        raise MissingToolError(
            f"{binary}: Helm 4 is needed, found {found or 'a program without a version'}. Install Helm 4, or name "
            "one by helm_binary or MLOPS_EKS_HELM."
        )
    # Without a writable cache, the check is repeated next time.
    with contextlib.suppress(OSError):
        write_atomically(known, found)
    return binary


def _version(binary: str) -> str:
    try:
        return run_program([binary, "version", "--template", "{{.Version}}"]).stdout.strip()[:40]
    except OSError as error:
        raise MissingToolError(f"{binary}: cannot be run: {error.strerror}. Install Helm 4.") from error


# API versions in one argument: arguments are limited to 128 KiB, and operators serve thousands of kinds.
_PER_ARGUMENT = 500


class Capabilities(t.NamedTuple):
    """The capabilities that templates can read: version, API versions and kinds of the cluster."""

    kube_version: str = ""
    api_versions: tuple[str, ...] = ()

    def flags(self) -> list[str]:
        """Return them as options of Helm."""
        version = ["--kube-version", self.kube_version] if self.kube_version else []
        parts = range(0, len(self.api_versions), _PER_ARGUMENT)
        served = [",".join(self.api_versions[start : start + _PER_ARGUMENT]) for start in parts]
        return [*version, *(flag for some in served for flag in ("--api-versions", some))]


@dataclass(frozen=True, kw_only=True)
class Helm:
    """Helm 4 for one cluster and namespace."""

    binary: str
    kubeconfig: str
    context: str | None
    namespace: str
    run: Run = run_program

    def template(
        self, release: str, chart: Path, files: Sequence[Path], capabilities: Capabilities | None = None
    ) -> str:
        """Return the manifests as YAML text, rendered for these capabilities without access to the cluster."""
        more = capabilities.flags() if capabilities else ()
        return self._helm("template", release, str(chart), *_values(files), more=more, cluster=False)

    def install(
        self, release: str, chart: Path, files: Sequence[Path], *, labels: Mapping[str, str], upgrade: bool = False
    ) -> None:
        """Install or upgrade without waiting: for Helm, an MPIJob is ready as soon as it exists."""
        marks = ",".join(f"{key}={value}" for key, value in labels.items())
        # Without this option, an upgrade without values keeps the old ones.
        values = [*(["--reset-values"] if upgrade else []), *_values(files)]
        verb = "upgrade" if upgrade else "install"
        self._helm(verb, release, str(chart), *values, "--labels", marks, "--description", "mlops.eks step")

    def uninstall(self, release: str) -> None:
        """Uninstall the release; its objects are deleted in the background.

        It is no error if the release does not exist or is deleted concurrently.
        """
        try:
            # Only the debug output has the reason of a failed deletion.
            self._helm("uninstall", release, "--ignore-not-found", "--debug")
        except EksError as error:
            if not _PURGED.search(error.details["stderr"]):
                raise

    def rollback(self, release: str, revision: int) -> None:
        """Go back to `revision`."""
        self._helm("rollback", release, str(revision))

    def manifest(self, release: str, revision: int) -> str:
        """Return the manifest of `revision` as YAML text."""
        return self._helm("get", "manifest", release, "--revision", str(revision))

    def _helm(self, *arguments: str, more: Sequence[str] = (), cluster: bool = True) -> str:
        """Run Helm; messages do not show the arguments in `more`."""
        argv = [self.binary, *arguments, "--namespace", self.namespace]
        if cluster:
            argv += ["--kubeconfig", self.kubeconfig]
            argv += ["--kube-context", self.context] if self.context else []
        done = self.run([*argv, *more])
        if done.rc != 0:
            raise translate(done.stderr, argv=argv, rc=done.rc)
        return done.stdout


def _values(files: Sequence[Path]) -> list[str]:
    return [part for file in files for part in ("--values", str(file))]


# Helm's messages and their errors; the first match counts. Recorded: tests/fixtures/status/helm-errors.json.
_MEANINGS: tuple[tuple[str, type[EksError], str], ...] = (
    (r"execution error at \([^)]*\): (?P<said>.*)", InvalidInputError, "{said}"),
    (r"values don't meet the specifications of the schema[^:]*:\s*(?P<said>.*)", InvalidInputError, "{said}"),
    (r"(?P<said>namespaces \"[^\"]*\" not found)", AbsentError, "{said}. Create the namespace first."),
    (r"(?P<said>no matches for kind .*)", AbsentError, "{said}. Install its operator first."),
    (r"(?P<said>another operation .* is in progress)", ConflictError, "{said}. Run the same command again."),
    (r"(?P<said>cannot re-?use a name.*)", ConflictError, "{said}."),
    (r"(?P<said>\S+ \"[^\"]*\" in namespace .* exists and cannot be imported)", ConflictError, "{said}."),
    (r"(?P<said>.*already exists.*)", ConflictError, "{said}."),
    (r"(?P<said>\S+ \"[^\"]*\" is invalid: .*)", InvalidInputError, "{said}"),
    (r"(?P<said>\S+(?: \"[^\"]*\")? is forbidden: .*)", ForbiddenError, "{said}. Ask the cluster's owner for it."),
    (r"(?P<said>context \"[^\"]*\" does not exist)", InvalidInputError, "{said}."),
    (r"(?P<said>.*(?:connection refused|i/o timeout|no route to host|unreachable).*)", UnreachableError, "{said}"),
    (
        r"(?P<said>.*(?:connection reset|broken pipe|connection broken|connection lost|\bEOF\b).*)",
        UnreachableError,
        "{said}",
    ),
    (
        r"(?P<said>.*(?:handshake timeout|deadline exceeded|Client\.Timeout|time allotted).*)",
        UnreachableError,
        "{said}",
    ),
    (
        r"(?P<said>.*(?:currently unable to handle|too many requests|Internal error|etcdserver).*)",
        UnreachableError,
        "{said}",
    ),
    (
        r"(?P<said>.*(?:an error on the server|the client to provide credentials|\bUnauthorized\b).*)",
        UnreachableError,
        "{said}",
    ),
    (r"(?P<said>.*(?:object has been modified|unexpected end of JSON).*)", UnreachableError, "{said}"),
)
# The only error of an uninstall that another one overtook.
_PURGED = re.compile(
    r'with 1 error\(s\): uninstall: Failed to purge the release: \S+ "sh\.helm\.release\.\S+" not found'
)
# The reason of a failed deletion, which Helm's last line lacks.
_NOT_DELETED = re.compile(r'msg="uninstall: Failed to delete release" error="\[?(.*?)\]?"$', re.MULTILINE)
# Lines of Helm and its libraries that do not help users.
_NOISE = re.compile(r"^(level=|time=|WARNING|coalesce|Use --debug flag|[EWI]\d{4} )")


def translate(stderr: str, *, argv: Sequence[str], rc: int) -> EksError:
    """Return the error for Helm's message, on one line."""
    reasons = [found.replace('\\"', '"') for found in _NOT_DELETED.findall(stderr)]
    text = "\n".join([*reasons, *(line for line in stderr.splitlines() if not _NOISE.match(line))])
    details = {"command": list(argv), "rc": rc, "stderr": stderr.strip()}
    subject = f"helm {argv[1]} {argv[2]}"
    for pattern, kind, form in _MEANINGS:
        match = re.search(pattern, text, re.DOTALL if "schema" in pattern else 0)
        if match:
            return kind(f"{subject}: {form.format(said=_one_line(match['said']))}", **details)
    return CommandError(f"{subject}: {_one_line(text) or f'exit code {rc}'}", **details)


def _one_line(text: str) -> str:
    line = "; ".join(line.strip() for line in text.strip().splitlines() if line.strip())
    return re.sub(r"^Error: ([A-Z]+ FAILED: )?", "", line)
