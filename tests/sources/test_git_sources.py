"""Charts of git trees: what a ref means, what a chart needs of the rest of the tree, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import get, note, refusal, says
from fakes.sources import GitTree, HelmRepository, chart, over_http, run

APP = "charts/app"


def test_refs(tree: GitTree) -> None:
    tree.git("tag", "--annotate", "--message=x", "annotated", "v1.0")
    tagged, head = tree.git("rev-parse", "v1.0"), tree.git("rev-parse", "HEAD")
    tree.git("branch", "team/next", "v1.0")
    meanings = {"v1.0": tagged, "annotated": tagged, "main": head, "team/next": tagged, head: head, tagged: tagged}
    for version, commit in meanings.items():
        got = get(APP, repo=tree.url, version=version)
        assert got.origin is not None
        assert got.origin.commit == commit
        assert says(got) == ("later" if commit == head else "tagged")
    assert get(APP, repo=tree.url, version="main").label == f"app 1.0.0 (commit {head[:12]})"


def test_over_http(tree: GitTree) -> None:
    with over_http(tree.directory.parent) as web:
        url = f"git+http://{web.address}/charts.git"
        assert says(get(APP, repo=url, version="v1.0")) == "tagged"
        assert says(get(APP, repo=url, version=tree.git("rev-parse", "HEAD"))) == "later"
        refused = refusal(APP, repo=f"git+http://{web.address}/nope.git", version="v1.0")
    assert refused.startswith(f"repo: chart {APP} of git+http://{web.address}/nope.git: repository ")


def test_what_a_tree_lacks_is_named(tree: GitTree) -> None:
    of = f"of {tree.url}"
    commit = tree.git("rev-parse", "HEAD")
    assert refusal(APP, repo=tree.url, version="v1.1") == (
        f"version: chart {APP} {of}: there is no tag and no branch 'v1.1' in it. Did you mean 'v1.0'?"
    )
    assert refusal(APP, repo=tree.url, version=commit[:9]).endswith("Give all 40 digits of a commit.")
    assert f"there is no commit {'0' * 40} in it." in refusal(APP, repo=tree.url, version="0" * 40)
    assert refusal("charts/ap", repo=tree.url, version="main") == (
        f"chart: chart charts/ap {of} at main: there is no chart in that directory. Did you mean 'charts/app'?"
    )
    assert "there is no chart in that directory" in refusal("../..", repo=tree.url, version="main")
    assert "does not appear to be a git repository" in refusal(APP, repo=f"{tree.url}x", version="main")


def test_a_moved_tag_is_another_chart_and_a_moved_commit_may_be_the_same(tree: GitTree) -> None:
    before = get(APP, repo=tree.url, version="v1.0")
    (tree.directory / "README.md").write_text("words", encoding="utf-8")
    tree.commit()
    tree.git("tag", "--force", "v1.0")
    moved = get(APP, repo=tree.url, version="v1.0")
    assert (says(before), says(moved)) == ("tagged", "later")
    assert moved.digest != before.digest

    (tree.directory / "README.md").write_text("more words", encoding="utf-8")
    tree.commit()
    tree.git("tag", "--force", "v1.0")
    again = get(APP, repo=tree.url, version="v1.0")
    assert again.label != moved.label
    assert again.digest == moved.digest


def test_without_its_source_a_tag_or_commit_is_taken_from_the_cache(tree: GitTree) -> None:
    with over_http(tree.directory.parent) as web:
        url = f"git+http://{web.address}/charts.git"
        head = tree.git("rev-parse", "HEAD")
        tag, branch = get(APP, repo=url, version="v1.0"), get(APP, repo=url, version="main")
    again = get(APP, repo=url, version="v1.0")
    assert again.digest == tag.digest
    assert "cannot be reached" in note(again)
    assert f"Using the copy fetched before (1.0.0, commit {tree.git('rev-parse', 'v1.0')})." in note(again)
    commit = get(APP, repo=url, version=head)
    assert (commit.digest, note(commit)) == (branch.digest, "")
    refused = refusal(APP, repo=url, version="main")
    assert f"Set 'version: {head}' to use that copy." in refused
    assert "'main' may have changed since it was fetched" in refused


def test_a_chart_brings_along_what_it_links_to(tree: GitTree) -> None:
    library = chart(tree.directory / "library" / "lib")
    (tree.directory / APP / "charts").mkdir()
    (tree.directory / APP / "charts" / "lib").symlink_to("../../../library/lib")
    tree.commit()
    got = get(APP, repo=tree.url, version="main")
    assert (got.path / "charts/lib/Chart.yaml").read_text() == (library / "Chart.yaml").read_text()


def test_no_link_leads_out_of_the_tree(tree: GitTree, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("mine", encoding="utf-8")
    (tree.directory / "elsewhere").symlink_to(tmp_path)
    (tree.directory / APP / "file").symlink_to("../../elsewhere/secret")
    tree.commit()
    assert "charts/app/file is a symbolic link to nothing in the tree." in refusal(APP, repo=tree.url, version="main")
    (tree.directory / APP / "file").unlink()
    tree.commit()
    assert not [path for path in get(APP, repo=tree.url, version="main").path.rglob("*") if path.name == "secret"]


def depends(*rows: str) -> str:
    return "dependencies:\n" + "".join(f"- {row}\n" for row in rows)


def test_a_dependency_beside_the_chart_is_built_the_same_each_time(tree: GitTree, cache: Path) -> None:
    chart(tree.directory / "charts" / "lib", "0.1.0")
    chart(tree.directory / APP, more=depends("{name: lib, version: 0.1.0, repository: 'file://../lib'}"))
    commit = tree.commit()
    first = get(APP, repo=tree.url, version=commit)
    assert (first.path / "charts/lib-0.1.0/Chart.yaml").is_file()
    cache.rename(cache.with_name("other"))
    second = get(APP, repo=tree.url, version=commit)
    assert first.origin is not None
    assert second.origin is not None
    assert (second.digest, second.origin.package_digest) == (first.digest, first.origin.package_digest)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[HelmRepository]:
    """Return a repository of charts that others depend on."""
    found = HelmRepository(tmp_path / "shop")
    for version in ("0.1.0", "0.1.1"):
        found.publish(chart(tmp_path / "lib", version))
    yield found
    found.web.close()


def test_a_pinned_dependency_is_built(tree: GitTree, shop: HelmRepository) -> None:
    chart(tree.directory / APP, more=depends(f"{{name: lib, version: 0.1.0, repository: '{shop.url}'}}"))
    tree.commit()
    assert (get(APP, repo=tree.url, version="main").path / "charts/lib-0.1.0/Chart.yaml").is_file()


def test_a_dependency_that_is_not_pinned_is_refused(tree: GitTree, shop: HelmRepository, helm: str) -> None:
    chart(tree.directory / APP, more=depends(f"{{name: lib, version: ~0.1, repository: '{shop.url}'}}"))
    tree.commit()
    assert refusal(APP, repo=tree.url, version="main") == (
        f"chart: chart {APP} of {tree.url}: it depends on lib ~0.1, which is not pinned. "
        "Commit the Chart.lock that 'helm dependency update' writes."
    )
    # The lock of a day on which there was no newer one.
    app = tree.directory / APP
    run(helm, "dependency", "update", app)
    for built in (app / "charts").iterdir():
        built.unlink()
    tree.commit()
    assert (get(APP, repo=tree.url, version="main").path / "charts/lib-0.1.1/Chart.yaml").is_file()
    shop.web.close()
    chart(app, version="1.0.1", more=depends(f"{{name: lib, version: ~0.1, repository: '{shop.url}'}}"))
    tree.commit()
    assert f"chart {APP} of {tree.url}: " in refusal(APP, repo=tree.url, version="main")
