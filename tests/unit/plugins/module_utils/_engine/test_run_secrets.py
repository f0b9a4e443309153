"""The Secrets of a step: made before its release, shared, and deleted with the last release that uses them."""

from __future__ import annotations

import base64
import itertools
import json
import typing as t
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from fakes.clock import FakeClock
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    ConflictError,
    ForbiddenError,
    InvalidInputError,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._engine.run import StepRun
from ansible_collections.mlops.eks.plugins.module_utils._engine.run_secrets import RunSecrets, Wanted
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Completed, Helm, find_helm, run_program
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import make_draft
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import find
from ansible_collections.mlops.eks.plugins.module_utils._recipe.declared_secrets import DeclaredSecret, DeclaredSecrets

SECRETS = "/api/v1/namespaces/team/secrets"
TOKEN = "hf_0123456789"
VALUES = {
    "image": "x:1",
    "process": {"command": ["true"], "env": [{"name": "HF_TOKEN", "value": "{{ .Values.hf_token }}"}]},
    "hf_token": TOKEN,
}


def of(kube: FakeKube, helm_release: str, release: str = "digits") -> RunSecrets:
    return RunSecrets(kube=kube, release=release, helm_release=helm_release, say=lambda _: None)


def make(kube: FakeKube, helm_release: str, release: str = "digits", **secrets: Mapping[str, str]) -> list[str]:
    wanted = [Wanted(name=name, content=content) for name, content in secrets.items()]
    return of(kube, helm_release, release).make(wanted)


def content(kube: FakeKube, name: str) -> dict[str, str] | None:
    found = kube.objects.get(f"{SECRETS}/{name}")
    return found and {key: base64.b64decode(text).decode() for key, text in found["data"].items()}


def test_a_secret_is_created_and_removed() -> None:
    kube = FakeKube()
    assert make(kube, "digits", a={"k": "v"}) == []
    assert content(kube, "a") == {"k": "v"}
    labels = kube.objects[f"{SECRETS}/a"]["metadata"]["labels"]
    assert labels == {"app.kubernetes.io/managed-by": "mlops.eks", "used-by.mlops.eks/digits": "digits"}
    of(kube, "digits-serve").remove()
    assert content(kube, "a")
    of(kube, "digits").remove()
    assert kube.objects == {}


def test_an_existing_secret_is_kept_or_updated() -> None:
    kube = FakeKube()
    make(kube, "digits", a={"k": "v"})
    kube.calls.clear()
    assert make(kube, "digits", a={"k": "v"}) == []
    assert kube.calls == [f"GET {SECRETS}/a"]
    assert make(kube, "digits", a={"k": "w"}) == ["a"]
    assert content(kube, "a") == {"k": "w"}


def test_the_last_release_that_uses_it_removes_it() -> None:
    kube = FakeKube()
    make(kube, "digits", a={"k": "v"})
    make(kube, "digits-serve", a={"k": "v"})
    make(kube, "other", "other", a={"k": "v"})
    of(kube, "digits").remove()
    of(kube, "other", "other").remove()
    assert content(kube, "a") == {"k": "v"}
    of(kube, "digits-serve").remove()
    assert kube.objects == {}


def test_another_run_cannot_change_the_content() -> None:
    kube = FakeKube()
    make(kube, "other", "other", a={"k": "v"})
    with pytest.raises(ConflictError, match="run other uses it with other content"):
        make(kube, "digits", b={"k": "v"}, a={"k": "w"})
    # What had been made for it is gone again.
    assert (content(kube, "a"), content(kube, "b")) == ({"k": "v"}, None)
    # A step of the same run may: its token was renewed.
    assert make(kube, "other-serve", "other", a={"k": "w"}) == ["a"]


def upgrade(kube: FakeKube, **content: str) -> None:
    of(kube, "digits-serve").make([Wanted(name="a", content=content)], upgrade=True)


class Rendered(t.NamedTuple):
    manifest: t.Any


def test_an_upgrade_keeps_what_the_server_needs_until_it_is_ready() -> None:
    kube = FakeKube()
    make(kube, "digits-serve", a={"old": "1", "same": "2"}, b={"k": "v"})
    upgrade(kube, same="3", new="4")
    # What serves finds its keys, whenever its pods start.
    assert (content(kube, "a") or {}).items() >= {"old": "1", "same": "3", "new": "4"}.items()
    of(kube, "digits-serve").settle(t.cast(t.Any, Rendered([{"spec": {"secretName": "a"}}])))
    assert content(kube, "a") == {"old": "1", "same": "3", "new": "4"}
    # What nothing names any more is not kept.
    assert content(kube, "b") is None


def test_an_upgrade_that_is_taken_back_restores_the_content() -> None:
    kube = FakeKube()
    make(kube, "digits-serve", a={"old": "1", "same": "2"})
    for token in ("3", "4"):
        upgrade(kube, same=token)
    of(kube, "digits-serve").restore()
    assert content(kube, "a") == {"old": "1", "same": "2"}
    # Nothing is restored twice.
    make(kube, "digits-serve", a={"same": "5"})
    of(kube, "digits-serve").restore()
    assert content(kube, "a") == {"same": "5"}


def test_a_re_attached_upgrade_keeps_the_former_content() -> None:
    kube = FakeKube()
    make(kube, "digits-serve", a={"old": "1"})
    upgrade(kube, new="2")
    assert make(kube, "digits-serve", a={"new": "3"}) == ["a"]
    of(kube, "digits-serve").restore()
    assert content(kube, "a") == {"old": "1"}


def test_a_server_is_ready_although_its_old_secrets_cannot_be_removed() -> None:
    kube, said = FakeKube(), list[str]()
    kube.fail[f"GET {SECRETS}"] = [(ForbiddenError("no list", status=403), False)]
    secrets = RunSecrets(kube=kube, release="digits", helm_release="digits-serve", say=said.append)
    secrets.settle(t.cast(t.Any, Rendered([])))
    assert said == ["release digits-serve: its earlier Secrets are still there: no list"]


FOREIGN = {"metadata": {"name": "a", "labels": {"app": "theirs"}}, "data": {"k": "djE="}}


def test_what_is_not_ours_is_refused_and_not_changed() -> None:
    kube = FakeKube()
    kube.put(f"{SECRETS}/a", FOREIGN)
    before = json.dumps(kube.objects)
    with pytest.raises(ConflictError, match="Secret a in namespace team: it exists and was not made by this"):
        make(kube, "digits", a={"k": "v"})
    of(kube, "digits").remove()
    assert json.dumps(kube.objects) == before


@pytest.mark.parametrize("error", [ConflictError("", status=409), AbsentError("", status=404)])
def test_after_a_conflict_the_secret_is_read_again(error: Exception) -> None:
    kube = FakeKube()
    make(kube, "other", "other", a={"k": "v"})
    kube.fail[f"PUT {SECRETS}/a"] = [(error, False)]
    make(kube, "digits", a={"k": "v"})
    kube.fail[f"PUT {SECRETS}/a"] = [(error, False)]
    of(kube, "other", "other").remove()
    kube.fail[f"DELETE {SECRETS}/a"] = [(error, False)]
    of(kube, "digits").remove()
    assert kube.objects == {}


def test_a_secret_created_concurrently_is_shared() -> None:
    kube = FakeKube()
    real = kube._post

    def post(*args: t.Any) -> t.Any:
        kube._post = real  # type: ignore[method-assign]
        make(kube, "other", "other", a={"k": "v"})
        return real(*args)

    kube._post = post  # type: ignore[method-assign]
    make(kube, "digits", a={"k": "v"})
    assert len(kube.objects[f"{SECRETS}/a"]["metadata"]["labels"]) == 3


def test_a_secret_that_others_change_each_time_is_an_error() -> None:
    kube = FakeKube()
    make(kube, "digits", a={"k": "v"})
    kube.fail[f"PUT {SECRETS}/a"] = [(ConflictError(""), False)] * 99
    kube.fail[f"DELETE {SECRETS}/a"] = [(ConflictError(""), False)] * 99
    for act in (lambda: make(kube, "digits", a={"k": "w"}), lambda: of(kube, "digits").remove()):
        with pytest.raises(ConflictError, match="others changed it at each attempt"):
            act()


def test_a_missing_right_to_make_secrets_is_an_error() -> None:
    kube = FakeKube()
    kube.fail[f"GET {SECRETS}/a"] = [(ForbiddenError("", status=403), False)]
    kube.fail[f"POST {SECRETS}"] = [(ForbiddenError("secrets is forbidden", status=403), False)]
    with pytest.raises(ForbiddenError, match="secrets is forbidden"):
        make(kube, "digits", a={"k": "v"})


# -- with a step around them


class Stage:
    """One step `data` of the run `digits`; Helm renders, and its changes of the cluster are the test's."""

    def __init__(self, tmp_path: Path, kube: FakeKube | None = None, **more: t.Any) -> None:
        self.kube, self.said, self.seen = kube or FakeKube(), list[str](), list[tuple[str, t.Any]]()
        self.mask, self.files, self.seen_name = Mask(), list[str](), "digits-secrets"
        self.answers = {"install": Completed(1, "", "Error: INSTALLATION FAILED: boom\n")}
        where = {"cluster": "local", "namespace": "team", "release": "digits", "step": "data", "run_id": "r1"}
        task = Task(
            **{
                **where,
                "chart": "data-prep/data-process",
                "runs_dir": tmp_path / "runs",
                "values": VALUES,
                "mask": self.mask,
                **more,
            }
        )
        helm = Helm(binary=find_helm(), kubeconfig="/k", context=None, namespace="team", run=self._run)
        draft = make_draft(task, find(task.chart))
        self.run = StepRun(task=task, draft=draft, kube=self.kube, helm=helm, say=self.said.append, clock=FakeClock())

    def _run(self, argv: t.Sequence[str], *, stdin: str | None = None) -> Completed:
        self.files += [Path(file).read_text() for option, file in itertools.pairwise(argv) if option == "--values"]
        assert TOKEN not in " ".join(argv)
        if argv[1] == "template":
            return run_program(argv, stdin=stdin)
        self.seen.append((argv[1], content(self.kube, self.seen_name)))
        return self.answers.get(argv[1], Completed(0, "", ""))


def test_helm_finds_the_secret_and_never_sees_its_content(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with pytest.raises(Exception, match="boom"):
        stage.run.run()
    assert stage.seen == [("install", {"hf_token": TOKEN}), ("uninstall", None)]
    assert stage.files
    assert TOKEN not in "".join([*stage.files, *stage.said, json.dumps(stage.kube.objects)])
    written = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if TOKEN.encode() in path.read_bytes()] == []
    assert not [path for path in stage.kube.objects if "secrets" in path]
    manifest = (tmp_path / "runs/r1/local/01-data/manifest.yaml").read_text()
    assert "secretKeyRef:" in manifest
    assert stage.mask.text(f"it is {TOKEN}") == "it is ********"


def test_a_recipe_file_is_given_to_helm_with_the_secret_covered(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(json.dumps(VALUES), encoding="utf-8")
    stage = Stage(tmp_path, values={}, recipes=(str(recipe),))
    assert "secretKeyRef" in json.dumps(stage.run.plan.manifest)
    assert TOKEN not in json.dumps(stage.run.plan.manifest)
    assert [TOKEN in file for file in stage.files] == [True, False]


def test_another_token_is_the_same_step(tmp_path: Path) -> None:
    one, other, none = (
        Stage(tmp_path, values={**VALUES, "hf_token": token}).run.draft.identity
        for token in (TOKEN, "hf_9876543210", "")
    )
    assert one == other != none


def test_a_foreign_secret_is_refused_before_anything_is_touched(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    foreign = {"metadata": {"name": "digits-secrets"}, "data": {"hf_token": "eA=="}}
    stage.kube.put(f"{SECRETS}/digits-secrets", foreign)
    before = json.dumps(stage.kube.objects)
    with pytest.raises(ConflictError, match="Secret digits-secrets in namespace team: it exists"):
        stage.run.run()
    assert (json.dumps(stage.kube.objects), stage.seen) == (before, [])
    assert not (tmp_path / "runs").exists()


def referring(name: str, key: str = "hf_token") -> dict[str, t.Any]:
    return {**VALUES, "hf_token": {"secretKeyRef": {"name": name, "key": key}}}


def test_a_run_that_is_repeated_needs_its_secret_again(tmp_path: Path) -> None:
    """The values of the evidence refer to the Secret of a step that is over."""
    stage = Stage(tmp_path, values=referring("digits-secrets"))
    with pytest.raises(InvalidInputError) as caught:
        stage.run.run()
    assert str(caught.value).startswith("hf_token: refers to Secret digits-secrets, which a step makes from its values")
    assert str(caught.value).endswith("""Set it again: -e '{"recipe_values": {"hf_token": "…"}}'""")
    assert Stage(tmp_path).run.draft.identity == stage.run.draft.identity


@pytest.mark.parametrize(("there", "key"), [({}, "hf_token"), ({"mine": {"data": {"other": "eA=="}}}, "hf_token")])
def test_a_reference_to_what_is_not_there_is_refused(tmp_path: Path, there: dict[str, t.Any], key: str) -> None:
    stage = Stage(tmp_path, values=referring("mine", key))
    for name, entry in there.items():
        stage.kube.put(f"{SECRETS}/{name}", {"metadata": {"name": name}, **entry})
    with pytest.raises(InvalidInputError, match="hf_token: refers to key 'hf_token' of Secret mine, which is not in"):
        stage.run.run()


def test_a_reference_to_what_is_there_is_installed(tmp_path: Path) -> None:
    stage = Stage(tmp_path, values=referring("digits-secrets"))
    foreign = {"metadata": {"name": "digits-secrets"}, "data": {"hf_token": "eA=="}}
    stage.kube.put(f"{SECRETS}/digits-secrets", foreign)
    with pytest.raises(Exception, match="boom"):
        stage.run.run()
    assert [verb for verb, _ in stage.seen] == ["install", "uninstall"]
    assert stage.kube.objects[f"{SECRETS}/digits-secrets"]["data"] == foreign["data"]


def test_a_new_token_of_what_is_installed_reaches_its_secret(tmp_path: Path) -> None:
    kube = FakeKube()
    make(kube, "digits", **{"digits-secrets": {"hf_token": "hf_old_old_old"}})
    stage = Stage(tmp_path, kube)
    stage.run.installer.secrets.refresh(stage.run.plan)
    assert content(kube, "digits-secrets") == {"hf_token": TOKEN}
    assert "kubectl rollout restart job/data-process-digits --namespace team" in stage.said[-1]
    kube.put(f"{SECRETS}/digits-secrets", {"metadata": {"name": "digits-secrets"}, "data": {}})
    stage.run.installer.secrets.refresh(stage.run.plan)
    assert "was not made by this collection" in stage.said[-1]


# -- declared ones


def declaring(resolve: t.Callable[[t.Any], str], *entries: DeclaredSecret) -> dict[str, t.Any]:
    return {"declared": DeclaredSecrets(entries=entries, resolve=resolve), "values": referring("hf", "token")}


HF = DeclaredSecret(name="hf", data={"token": {"env": "HF_TOKEN"}})


def test_a_declared_secret_is_there_while_its_step_is(tmp_path: Path) -> None:
    unused = DeclaredSecret(name="unused", data={"a": {"env": "A"}})
    stage = Stage(tmp_path, **declaring(lambda origin: f"it is {origin['env']}", HF, unused))
    stage.seen_name = "hf"
    with pytest.raises(Exception, match="boom"):
        stage.run.run()
    assert stage.seen == [("install", {"token": "it is HF_TOKEN"}), ("uninstall", None)]
    assert not [call for call in stage.kube.calls if call.startswith("POST") and "unused" in call]
    repeated = yaml.safe_load((tmp_path / "runs/r1/local/pipeline.yaml").read_text())
    assert repeated["secrets"] == [HF.to_document(), unused.to_document()]


def test_text_of_a_declared_secret_is_not_kept_to_repeat_the_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path, **declaring(str, DeclaredSecret(name="hf", data={"token": TOKEN})))
    with pytest.raises(Exception, match="boom"):
        stage.run.run()
    assert "secrets" not in yaml.safe_load((tmp_path / "runs/r1/local/pipeline.yaml").read_text())


def absent(_: object) -> str:
    raise InvalidInputError("environment variable HF_TOKEN is not set.")


@pytest.mark.parametrize(
    ("resolve", "entry", "words"),
    [
        (absent, HF, "secrets: Secret hf, key token: environment variable HF_TOKEN is not set"),
        (str, DeclaredSecret(name="mine", keys=("a", "b")), "secrets: Secret mine with a, b is not in namespace team"),
        (absent, DeclaredSecret(name="unused", data={"a": {"env": "A"}}), "Secret unused, key a: environment variable"),
    ],
)
def test_all_that_is_declared_must_be_there_before_anything_is_touched(
    tmp_path: Path, resolve: t.Callable[[t.Any], str], entry: DeclaredSecret, words: str
) -> None:
    stage = Stage(tmp_path, **{**declaring(resolve, entry), "values": VALUES})
    with pytest.raises(InvalidInputError, match=words):
        stage.run.run()
    assert (stage.kube.objects, stage.seen) == ({}, [])


def test_an_existing_declared_secret_is_used_and_kept(tmp_path: Path) -> None:
    stage = Stage(tmp_path, **declaring(absent, DeclaredSecret(name="hf", keys=("token",))))
    stage.kube.put(f"{SECRETS}/hf", {"metadata": {"name": "hf"}, "data": {"token": "eA=="}})
    with pytest.raises(Exception, match="boom"):
        stage.run.run()
    assert content(stage.kube, "hf") == {"token": "x"}


def test_an_installed_step_continues_if_its_secrets_cannot_be_read(tmp_path: Path) -> None:
    stage = Stage(tmp_path, **declaring(absent, HF))
    stage.run.installer.secrets.refresh(stage.run.plan)
    assert "HF_TOKEN is not set. What is installed goes on with its Secrets as they are." in stage.said[-1]


def test_a_declared_secret_is_not_called_as_the_one_of_the_step(tmp_path: Path) -> None:
    same = DeclaredSecret(name="digits-secrets", data={"a": {"env": "A"}})
    stage = Stage(tmp_path, declared=DeclaredSecrets(entries=(same,), resolve=str))
    with pytest.raises(InvalidInputError, match="Give the declared one another name"):
        stage.run.run()
