# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The entry points of the engine, one for each module: they take its parameters and return its task result."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._charts.find import find
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._core import limits
from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import redacted
from ansible_collections.mlops.eks.plugins.module_utils._engine.compare import differences
from ansible_collections.mlops.eks.plugins.module_utils._engine.evidence import log_store, require_own_directory
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import Journal, Record, Writer, result
from ansible_collections.mlops.eks.plugins.module_utils._engine.run import StepRun
from ansible_collections.mlops.eks.plugins.module_utils._engine.session import Session
from ansible_collections.mlops.eks.plugins.module_utils._engine.status import (
    elsewhere,
    on_node_groups,
    run_params,
    runs,
    table,
)
from ansible_collections.mlops.eks.plugins.module_utils._engine.stop import Stop
from ansible_collections.mlops.eks.plugins.module_utils._follow.observe import Target
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import GOOD, Ending
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm, find_helm, require_helm_4
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube, print_nothing
from ansible_collections.mlops.eks.plugins.module_utils._kube.credentials import secrets_of
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS, Kind
from ansible_collections.mlops.eks.plugins.module_utils._kube.rights import require, rights_to_follow
from ansible_collections.mlops.eks.plugins.module_utils._ledger.lock import this_user
from ansible_collections.mlops.eks.plugins.module_utils._logs.secrets import SHORTEST, without_data
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import LogStore
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import SOURCE
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import make_draft
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task, following, new_run_id, rules, step_task
from ansible_collections.mlops.eks.plugins.module_utils._plan.workload import find_kind, refer
from ansible_collections.mlops.eks.plugins.module_utils._recipe.declared_secrets import (
    DeclaredSecrets,
    Origin,
    declared_secrets,
    refuse,
)
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source
from ansible_collections.mlops.eks.plugins.module_utils._teardown.cleanup import cleanup

Params = Mapping[str, t.Any]
Say = Callable[[str], None]


def connect(params: Params, mask: Mask, notice: Say = print_nothing) -> Kube:
    """Return the client of the cluster that `kubeconfig`, `context` and `namespace` name.

    `notice` is called with a line when the cluster does not answer for some seconds. `mask` learns the login's secrets.

    Raises:
        InvalidInputError: `kubeconfig` is not set, or it cannot be used.
    """
    if not params["kubeconfig"]:
        raise InvalidInputError("no cluster: 'kubeconfig' is not set. Set it on the task or as a variable of the host.")
    mask.add(secrets_of(params["kubeconfig"], params["context"]))
    return Kube(
        kubeconfig=params["kubeconfig"],
        context=params["context"],
        namespace=params["namespace"] or "default",
        api_retry_timeout=limits.unlimited(params["api_retry_timeout"]),
        notice=notice,
    )


def helm_for(params: Params, kube: Kube) -> Helm:
    """Return Helm for the same cluster and namespace."""
    return Helm(
        binary=require_helm_4(find_helm(params["helm_binary"])),
        kubeconfig=str(Path(params["kubeconfig"]).expanduser()),
        context=params["context"],
        namespace=kube.namespace,
    )


def _prefixed(say: Say, cluster: str, name: str) -> Say:
    """Return a printer that begins each line with the cluster and the run."""
    return lambda line: say(f"{cluster} | {name} | {line}")


@redacted
@checked("helm_step")
def helm_step(
    params: Params,
    *,
    cluster: str,
    check: bool,
    diff: bool,
    say: Say,
    mask: Mask,
    private: bool = False,
    resolve: Callable[[Origin], str] = refuse,
    user: str = "",
) -> Record:
    """Run one step, or in check mode return what would be done; the result of a `private` step has no log lines.

    `resolve` reads a declared secret from its origin.
    """
    say = _prefixed(say, cluster, params["release"])
    kube = connect(params, mask, say)
    helm = helm_for(params, kube)
    chart = find(Reference(**{key: params[key] for key in SOURCE}), helm=params["helm_binary"])
    if chart.origin and chart.origin.note:
        say(chart.origin.note)
    task = step_task({**params, "namespace": kube.namespace}, chart, cluster=cluster, mask=mask, private=private)
    declarations = DeclaredSecrets(
        entries=declared_secrets(Source(name="helm_step", data={"secrets": params.get("secrets")}), text=True),
        resolve=resolve,
        learn=lambda text: mask.add([text] if len(text) >= SHORTEST else []),
    )
    task = replace(task, declared=declarations, user=user or this_user())
    require_own_directory(task)
    run = StepRun(task=task, draft=make_draft(task, chart), kube=kube, helm=helm, say=say)
    changes = {"diff": differences(run.ledger, run.task, run.plan)} if diff else {}
    return {**(_predict(run) if check else run.run()), **changes}


@redacted
@checked("workload_wait")
def workload_wait(params: Params, *, cluster: str, say: Say, mask: Mask, private: bool = False) -> Record:
    """Follow a workload that somebody else created; the result of a `private` step has no log lines."""
    say = _prefixed(say, cluster, params["name"])
    kube, clock = connect(params, mask, say), Clock()
    kind = _kind(params, kube)
    name, namespace = params["name"], kube.namespace
    ref = refer(kind, name, namespace)
    entry = kube.get(ref.path)
    if entry is None:
        raise AbsentError(f"{kind.kind} {name}: not found in namespace {namespace}. Check name, namespace and kind.")
    require(kube, rights_to_follow(ref))
    names = {"cluster": cluster, "namespace": namespace, "release": name, "step": name, "pipeline": name}
    task = Task(**names, chart="", **following(params, mask, private=private))
    require_own_directory(task)
    started = clock.now()
    journal = Journal(task=task, started=started)
    journal.write()
    target = Target(
        kind=kind,
        ref=ref,
        selectors=kind.selectors(entry),
        log_store=log_store(task, resume=True),
        shown=task.logs,
        streams=task.log_streams,
    )
    writer = Writer(task=task, clock=clock, say=say)
    session = Session(kube, target, rules(task, kind, name, started=started), journal, writer=writer)
    state = session.follow()
    ending, finished = t.cast(Ending, state.ending), clock.now()
    record = writer.record(journal, **session.summary(state, finished), finished=iso(finished))
    message = f"{ref}: {ending.describe(human(finished - started))}"
    say(message)
    return result(record, task, changed=False, msg=message, failed=ending.outcome not in GOOD)


def _kind(params: Params, kube: Kube) -> Kind:
    wanted, api_version = params["kind"], params["api_version"]
    rows = [row for row in KINDS.values() if row.kind == wanted and api_version in (None, row.api_version)]
    if rows:
        return rows[0]
    if api_version and params["until"]:
        return find_kind(kube, api_version, wanted)
    known = ", ".join(sorted(f"{kind} ({version})" for version, kind in KINDS))
    raise InvalidInputError(
        f"kind {wanted!r}: the condition for its end is not known. Set api_version, until (condition=TYPE or "
        f"jsonpath={{.status.phase}}=VALUE) and perhaps fail_on. Kinds that need none of them: {known}."
    )


def _predict(run: StepRun) -> Record:
    decision, plan = run.decide(), run.plan
    run.check_secrets(decision)
    changes = decision.action in ("install", "upgrade") or decision.uninstall
    message = f"would {decision.action}: {decision.why}"
    run.say(f"{plan.ref}: {message}")
    return {
        "changed": changes,
        "msg": f"{plan.ref}: {message}",
        "outcome": "skipped" if decision.action == "skip" else "planned",
        "identity": plan.identity,
        "plan": {
            "action": decision.action,
            "why": decision.why,
            "helm_release": run.task.helm_release,
            "chart": plan.chart.ref,
            "chart_version": plan.chart.version,
            "chart_source": plan.chart.source,
            "workload": str(plan.ref),
            "objects": plan.objects,
            "secrets": run.installer.secrets.needed(plan),
            "manifest": list(map(without_data, plan.manifest)),
        },
    }


@redacted
@checked("run_stop")
def run_stop(params: Params, *, cluster: str, check: bool, say: Say, mask: Mask, private: bool = False) -> Record:
    """Stop a run."""
    params = run_params(params)
    release = params["release"]
    if not release:
        raise InvalidInputError("no run to stop: set 'release' to its name, or 'pipeline' to its directory.")
    kube = connect(params, mask)
    directory = Path(params["runs_dir"]).expanduser().absolute() / new_run_id(f"{release}-stop") / cluster
    stop = Stop(
        kube=kube,
        helm=helm_for(params, kube),
        release=release,
        archive=LogStore(directory=directory, mask=mask, private=private) if params["evidence"] else None,
        say=_prefixed(say, cluster, release),
        adopt=params["adopt"],
    )
    try:
        return stop.run(check=check)
    except AbsentError as error:
        raise AbsentError(f"{error}{elsewhere(kube, release)}") from error


@redacted
@checked("run_info")
def run_info(params: Params, *, mask: Mask) -> Record:
    """Return every step of every run in the ledgers of the cluster."""
    params = run_params(params)
    kube, release, everywhere = connect(params, mask), params["release"], params["all_namespaces"]
    rows = runs(kube, release=release, all_namespaces=everywhere, now=Clock().now())
    if params["node_groups"]:
        rows = on_node_groups(kube, rows, params["node_groups"])
    where = "in any namespace" if everywhere else f"in namespace {kube.namespace}"
    none = f"no run {release} {where}." if release else f"no runs {where}."
    hint = "" if rows or everywhere else elsewhere(kube, release)
    return {"changed": False, "runs": rows, "table": table(rows, none + hint)}


@redacted
@checked("cluster_cleanup")
def cluster_cleanup(params: Params, *, cluster: str, check: bool, say: Say, mask: Mask) -> Record:
    """Remove what the cluster made outside of itself: load balancers, volumes and nodes."""

    def prefixed(line: str) -> None:
        say(f"{cluster} | {line}")

    return cleanup(connect(params, mask, prefixed), timeout=params["timeout"], check=check, say=prefixed)
