"""What a step may say of its chart, refused before anybody is asked for it; and what complaints of programs mean."""

from __future__ import annotations

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._charts.programs import (
    Answer,
    UnreachableSourceError,
    ask,
    refused,
)
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Kind, Reference, check, without_login
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError

HELM = {"chart": "app", "repo": "https://charts.example.com", "version": "1.0.0"}
GIT = {"chart": "charts/app", "repo": "git+https://git.example.com/team/charts", "version": "v1.0"}
OCI = {"chart": "oci://registry.example.com/team/app", "version": "1.0.0"}
DIGEST = f"sha256:{'0' * 64}"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"chart": "training/mpijob-distributed"}, "local"),
        ({"chart": "./app-1.0.0.tgz"}, "local"),
        (OCI, "oci"),
        ({**OCI, "version": "~1.0", "digest": DIGEST}, "oci"),
        ({**HELM, "version": ">=1.0.0 <2.0.0", "digest": DIGEST}, "repository"),
        (GIT, "git"),
        ({**GIT, "repo": "git+ssh://git@git.example.com/team/charts", "version": "feature/x_1+2"}, "git"),
        ({**GIT, "repo": "git+file:///srv/charts.git"}, "git"),
    ],
)
def test_kind_of_a_reference(said: dict[str, str], kind: Kind) -> None:
    reference = Reference(**said)
    check(reference)
    assert reference.kind == kind


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"chart": "x", "version": "1"}, "version: chart 'x' is a file or directory, which has no other version."),
        ({"chart": "x", "digest": DIGEST}, "digest: chart 'x' is a file or directory, which has no other digest."),
        ({"chart": "https://h/app.tgz"}, "chart: chart 'https://h/app.tgz': charts are addressed as oci://…"),
        (
            {**HELM, "repo": "ftp://h/c"},
            "repo: repo 'ftp://h/c': expected an address that begins with http, https, git+",
        ),
        ({**HELM, "repo": "stable"}, "repo: repo 'stable': expected an address that begins with"),
        ({**HELM, "repo": "https:///c"}, "repo: repo 'https:///c': there is no host in it."),
        ({"chart": "oci:///app", "version": "1.0.0"}, "chart: chart 'oci:///app': there is no host in it."),
        (
            {**HELM, "repo": "https://h/a b"},
            "repo: repo 'https://h/a b': an address must not have blanks or special characters.",
        ),
        (
            {**OCI, "chart": "oci://h/a\nb"},
            "chart: chart 'oci://h/a\\nb': an address must not have blanks or special characters.",
        ),
        ({**HELM, "repo": "https://[x"}, "repo: repo 'https://[x': not an address: "),
        ({**HELM, "version": ""}, "version: chart app of https://charts.example.com: version is missing."),
        (
            {**GIT, "version": ""},
            "version: chart charts/app of git+https://git.example.com/team/charts: version is missing.",
        ),
        ({"chart": OCI["chart"]}, "version: chart oci://registry.example.com/team/app: version is missing."),
        ({**HELM, "repo": "https://jane:pw@h/c"}, "repo: repo 'https://h/c': it holds a login"),
        ({**GIT, "repo": "git+https://ghp_token@h/c"}, "repo: repo 'git+https://h/c': it holds a login"),
        ({**GIT, "repo": "git+ssh://git:pw@h/c"}, "repo: repo 'git+ssh://h/c': it holds a login"),
        ({**OCI, "chart": "oci://jane:pw@h/app"}, "chart: chart 'oci://h/app': it holds a login"),
        (
            {**OCI, "chart": "oci://h:5000/app:1.0.0"},
            "chart: chart 'oci://h:5000/app:1.0.0': it holds a tag or digest.",
        ),
        ({**OCI, "chart": f"oci://h/app@{DIGEST}"}, "chart: chart 'oci://h/app"),
        ({**HELM, "chart": OCI["chart"]}, f"repo: chart '{OCI['chart']}': an OCI address is complete."),
        ({**GIT, "version": "--upload-pack=x"}, "version: version '--upload-pack=x': not the name of a git tag"),
        ({**GIT, "version": "a..b"}, "version: version 'a..b': not the name of a git tag"),
        ({**GIT, "version": "a b"}, "version: version 'a b': not the name of a git tag"),
        ({**GIT, "digest": DIGEST}, "digest: digest: a git chart has none. Name the commit instead"),
        ({**HELM, "digest": "sha256:12"}, "digest: digest 'sha256:12': expected sha256: and 64 hexadecimal digits"),
    ],
)
def test_an_invalid_reference_is_refused(said: dict[str, str], message: str) -> None:
    with pytest.raises(SourceError) as caught:
        check(Reference(**said))
    assert f"{caught.value.key}: {caught.value}".startswith(message)
    assert "\n" not in str(caught.value)
    assert "pw@" not in str(caught.value)
    assert "ghp_token" not in str(caught.value)


@pytest.mark.parametrize(
    ("version", "exact"),
    [("1.2.3", True), ("v1.2.3-rc.1+b", True), ("1.2", False), ("~1.2.3", False), ("latest", False), ("1.2.x", False)],
)
def test_less_than_a_whole_version_is_a_range(version: str, exact: bool) -> None:
    assert Reference(**{**HELM, "version": version}).is_exact is exact
    assert not Reference(**{**GIT, "version": version}).is_exact


def test_a_commit_is_whole() -> None:
    assert Reference(**{**GIT, "version": "0a" * 20}).is_commit
    assert not Reference(**{**GIT, "version": "0a" * 4}).is_commit
    assert not Reference(**{**HELM, "version": "0a" * 20}).is_commit


# Recorded of Helm 4.2.4 and git 2.39; the hosts are made up.
@pytest.mark.parametrize(
    ("said", "complaint", "away"),
    [
        (
            'Error: failed to perform "FetchReference" on source: Get "https://r.example.com/v2/a/manifests/1": '
            "dial tcp: lookup r.example.com on 10.0.0.2:53: no such host",
            "there is no host registry.example.com. Check chart.",
            True,
        ),
        (
            'Error: failed to perform "FetchReference" on source: Get "https://127.0.0.1:1/v2/a/manifests/1": '
            "dial tcp 127.0.0.1:1: connect: connection refused",
            "its source cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused.",
            True,
        ),
        (
            "fatal: could not read Username for 'https://git.example.com': terminal prompts disabled",
            "its source refuses the login (could not read Username for 'https://git.example.com': terminal prompts "
            "disabled). Check that you may read it, and log in by 'helm registry login'.",
            False,
        ),
        (
            '...Unable to get an update from the "charts-0" chart repository (http://h):\n'
            "\tfailed to fetch http://h/index.yaml : 503 Service Unavailable\n"
            "Error: failed to update the following repositories: [http://h]",
            "its source cannot be reached: failed to fetch http://h/index.yaml : 503 Service Unavailable.",
            True,
        ),
        ("", "it failed without a message.", False),
        ("Error: something new\nand more", "something new.", False),
        ("fatal: unable to access 'https://jane:pw@h/x/': bad", "unable to access 'https://h/x/': bad.", False),
    ],
)
def test_a_complaint_becomes_a_line(said: str, complaint: str, away: bool) -> None:
    error = refused(Reference(**OCI), Answer(False, "", said), key="chart")
    assert str(error) == f"chart {OCI['chart']}: {complaint}"
    assert isinstance(error, UnreachableSourceError) is away


def test_a_program_that_does_not_answer_is_ended() -> None:
    answer = ask(["sleep", "60"], timeout=0.05)
    assert (answer.ok, answer.stderr) == (False, "no answer within 0.05 s")


def test_no_login_is_shown() -> None:
    assert without_login("a https://jane:pw@h/x and ssh://git@h") == "a https://h/x and ssh://h"
