# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A name that passes is harmless wherever it goes; one that does not is refused in one line."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core import names
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.names import Rule, check_options, checked
from ansible_collections.mlops.eks.plugins.module_utils._core.text import plain

RULES = {name: rule for name, rule in vars(names).items() if isinstance(rule, Rule)}
FREE = ("PATH", "TEXT", "ENV_VALUE")
DIRECTORIES = ("RUN_ID", "CLUSTER", "LOCAL_CLUSTER", "RELEASE", "STEP", "PIPELINE", "EKS_CLUSTER", "TOOL", "OBJECT")
EVIL = (
    "..",
    ".",
    "../x",
    "a/../../b",
    "/etc",
    "a\nb",
    "a\x1b[31mb",
    "a\0b",
    "a b",
    "a,owner=me",
    "a=b",
    "-a",
    "--kubeconfig=x",
    "a;b",
    "$(a)",
    "a?b",
    "a#b",
    "a%2Fb",
    "\u202eabc",
    "\uff41",
    "a\n",
)
GOOD = {
    "API_VERSION": ("v1", "batch/v1", "kubeflow.org/v2beta1"),
    "BUCKET": ("abc", "my.bucket-1"),
    "CLUSTER": ("localhost", "train_usw2", "10.0.0.1", "a.example.com", "Gpu-1"),
    "CONTEXT": ("kind-local", "arn:aws:eks:us-west-2:123456789012:cluster/train", "me@cluster"),
    "EKS_CLUSTER": ("train-usw2", "A_1"),
    "GO_MODULE": ("k8s.io/kubernetes", "github.com/a/b/v2@v2.0.0-rc.1"),
    "IMAGE": ("localhost/mlops-eks/base:0.1.0", "nginx", "r:5000/a/b__c", f"a/b@sha256:{'0' * 64}"),
    "IMAGE_PATH": ("/pause", "usr/bin/a..b"),
    "IMAGE_USER": ("1000", "65534:65534", "nobody:nogroup"),
    "KIND": ("Job", "MPIJob", "job"),
    "LABEL_VALUE": ("", "a.b_C-1"),
    "OBJECT": ("a", "web.v1-2", "a" * 253),
    "REGION": ("us-west-2", "us-gov-east-1", "us-isob-east-1", "eusc-de-east-1", "ap-southeast-5"),
    "RELEASE": ("a", "digits-2", "r" * 53),
    "RUN_ID": ("20261121T091502-digits-3f9a", "mine", "1.2_3"),
    "SECRET_KEY": ("tls.crt", "HF_TOKEN"),
    "WORKLOAD": ("Job", "Deployment/web.v1"),
}
BAD = {
    "API_VERSION": ("batch/v1/jobs", "/v1", "Batch/v1"),
    "BUCKET": ("ab", "A-b", "a..b", "192.168.1.1", "xn--abc", "abc--x-s3", "abc-s3alias"),
    "IMAGE": ("a:b:c", "UPPER/", "a//b"),
    "IMAGE_PATH": ("/../etc/passwd", "a/..", "a\nb"),
    "OBJECT": ("a" * 254, "A", "a..b"),
    "REGION": ("us-west", "west", "us-west-2a"),
    "RELEASE": ("r" * 54, "a.b", "A", "a-", ""),
    "RUN_ID": ("", ".hidden", "a" * 129, "größe"),
    "WORKLOAD": ("Job/", "Job/a/b", "/a"),
}


@pytest.mark.parametrize(("rule", "value"), [(rule, value) for rule, values in GOOD.items() for value in values])
def test_what_people_use_is_accepted(rule: str, value: str) -> None:
    RULES[rule].check("option", value)


@pytest.mark.parametrize(("rule", "value"), [(rule, value) for rule, values in BAD.items() for value in values])
def test_what_breaks_the_rule_is_refused(rule: str, value: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^option "):
        RULES[rule].check("option", value)


@pytest.mark.parametrize("value", EVIL)
@pytest.mark.parametrize("rule", DIRECTORIES)
def test_nothing_that_names_a_directory_leads_elsewhere(rule: str, value: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        RULES[rule].check("option", value)
    message = str(caught.value)
    assert "\n" not in message
    assert message == plain(message)
    assert RULES[rule].description in message


@pytest.mark.parametrize("rule", DIRECTORIES)
@given(value=st.text(max_size=20) | st.from_regex(r"[a-zA-Z0-9._/-]{1,12}", fullmatch=True))
@example(value="..")
@example(value="a/..")
def test_an_accepted_directory_name_is_one_part_of_a_path(rule: str, value: str) -> None:
    try:
        RULES[rule].check("option", value)
    except InvalidInputError:
        return
    where = Path("/runs") / value
    assert where.parent == Path("/runs")
    assert where.name == value
    assert value not in (".", "..")
    assert re.fullmatch(r"[A-Za-z0-9_.-]+", value)


def test_a_long_value_is_clipped_and_counted() -> None:
    with pytest.raises(InvalidInputError) as caught:
        names.RELEASE.check("release", "r" * 10_000_000)
    message = str(caught.value)
    assert len(message) < 300
    assert "has 10000000 characters" in message
    assert "at most 53 characters" in message


def test_every_rule_is_quick_on_the_longest_text_it_may_see(benchmark_seconds: t.Callable[..., float]) -> None:
    for name, rule in RULES.items():
        for text in ("a" * rule.longest, "a-" * (rule.longest // 2), "a." * (rule.longest // 2), "-" * rule.longest):
            spent = benchmark_seconds(lambda rule=rule, text=text: re.fullmatch(rule.pattern, f"{text[:-1]}!"))
            assert spent < 0.05, (name, text[:10])


@pytest.fixture
def benchmark_seconds() -> t.Callable[[t.Callable[[], object]], float]:
    import time

    def measure(work: t.Callable[[], object]) -> float:
        begun = time.process_time()
        work()
        return time.process_time() - begun

    return measure


def test_options_are_checked_in_lists_mappings_and_nested_options() -> None:
    cases: tuple[tuple[str, dict[str, t.Any], str], ...] = (
        ("helm_step", {"release": "a", "after": ["b", "c,d"]}, "after 'c,d': expected"),
        ("helm_step", {"release": "a", "fail_on": "x\x1by"}, r"fail_on 'x\x1by': expected"),
        ("helm_step", {"release": "a", "after": ["b"] * 10_001}, "after: it has 10001 elements"),
        ("kube_apply", {"deployments": [{"namespace": "../a", "name": "b"}]}, "deployments.namespace '../a': expected"),
        ("eks_preflight", {"region": "us-west-2", "others": [{"region": "x"}]}, "others.region 'x': expected"),
        ("container_image", {"files": {"/a": "b", "/../c": "d"}}, "files: key '/../c': expected"),
        ("go_tool", {"sources": {"helm": ["--x"]}}, "sources.helm '--x': expected"),
        ("terraform_stack", {"env": {"A": "geheim\0"}}, "env.A: expected"),
    )
    for module, params, said in cases:
        with pytest.raises(InvalidInputError) as caught:
            check_options(module, params)
        assert str(caught.value).startswith(said)
        assert "geheim" not in str(caught.value)


def test_an_entry_point_checks_before_it_does_anything() -> None:
    done: list[str] = []

    @checked("helm_step")
    def entry(params: dict[str, t.Any], *, cluster: str) -> str:
        done.append(params["release"])
        return cluster

    assert entry({"release": "a", "step": "", "run_id": ""}, cluster="one") == "one"
    for params, cluster, said in (
        ({"release": "a"}, "../x", "host '../x'"),
        ({"release": ".."}, "one", "release '..'"),
        ({"release": "a", "step": "b,c=d"}, "one", "step 'b,c=d'"),
        ({"release": "a", "run_id": ".."}, "one", "run_id '..'"),
        ({"release": ""}, "one", "release ''"),
    ):
        with pytest.raises(InvalidInputError, match=re.escape(said)):
            entry(params, cluster=cluster)
    assert done == ["a"]
