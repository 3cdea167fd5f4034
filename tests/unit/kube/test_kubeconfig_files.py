"""Which files are read and how they merge: rows 1 to 22 of the kubeconfig cases, K01, K13 to K15."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from ktui.errors import UsageError
from ktui.kube.kubeconfig import LoadOptions, in_cluster, load
from tests.unit.kube.kubeconfigbuilder import document, load_files, options, write

TOKEN = "00123"


def test_01_kubeconfig_unset_reads_the_default_file(tmp_path: Path) -> None:
    write(tmp_path / ".kube" / "config", document("home"))
    assert load(options(tmp_path)).current == "home"


def test_01_kubeconfig_empty_is_the_same_as_unset(tmp_path: Path) -> None:
    write(tmp_path / ".kube" / "config", document("home"))
    assert load(options(tmp_path, "")).current == "home"


def test_01_the_flag_names_the_only_file(tmp_path: Path) -> None:
    other, flag = write(tmp_path / "a", document("a")), write(tmp_path / "b", document("b"))
    config = load(options(tmp_path, str(other), kubeconfig=str(flag)))
    assert [c.name for c in config.contexts] == ["b"]


def test_01_the_file_of_the_flag_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="absent: no such file"):
        load(options(tmp_path, kubeconfig=str(tmp_path / "absent")))


def test_02_danger_k01_first_current_context_wins(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a", document("prod")), write(tmp_path / "b", document("dev"))
    config = load_files(tmp_path, a, b)
    assert config.current == "prod"
    assert config.resolve().cluster == "prod"


@pytest.mark.parametrize("value", ["", None])
def test_03_empty_current_context_is_ignored(tmp_path: Path, value: str | None) -> None:
    a = write(tmp_path / "a", document("a") | {"current-context": value})
    b = write(tmp_path / "b", document("b"))
    assert load_files(tmp_path, a, b).current == "b"
    assert load_files(tmp_path, b, a).current == "b"


def test_04_first_entry_of_a_name_wins_whole(tmp_path: Path) -> None:
    a = write(tmp_path / "a", document("x", user={"username": "me"}))
    b = write(tmp_path / "b", document("x", user={"password": "second"}, context={"namespace": "second"}))
    config = load_files(tmp_path, a, b)
    target = config.resolve()
    assert (target.namespace, target.auth.username, target.auth.password) == ("default", "me", "")
    (entry,) = config.contexts
    assert (entry.origin, entry.shadowed) == (a, (b,))


def test_05_duplicate_name_in_one_file(tmp_path: Path) -> None:
    content = document("x")
    content["users"].append({"name": "x", "user": {"token": TOKEN}})
    file = write(tmp_path / "a", content)
    with pytest.raises(UsageError, match=f'{file}: users has two entries named "x"'):
        load_files(tmp_path, file)


def test_06_missing_file_among_several_is_skipped_and_listed(tmp_path: Path) -> None:
    a = write(tmp_path / "a", document("a"))
    config = load_files(tmp_path, tmp_path / "absent", a)
    assert config.current == "a"
    assert [file.state for file in config.files] == ["missing", "read"]


@pytest.mark.parametrize("content", ["", "---\n", "# only a comment\n", "null\n"])
def test_07_empty_file_among_several(tmp_path: Path, content: str) -> None:
    empty, a = write(tmp_path / "empty", content), write(tmp_path / "a", document("a"))
    config = load_files(tmp_path, empty, a)
    assert config.current == "a"
    assert config.files[0].state == "empty"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- a list\n", "must be a mapping"),
        ("just text\n", "must be a mapping"),
        ("clusters: {}\n", "clusters must be a list"),
        ("clusters: [null]\n", "entry 1 of clusters: must be a mapping"),
        ("contexts: [text]\n", "entry 1 of contexts: must be a mapping"),
        ("users: [{user: {}}]\n", "entry 1 of users: has no name"),
        ("users: [{name: [a], user: {}}]\n", "entry 1 of users: name must be text"),
        ("contexts: [{name: a, context: {cluster: [x]}}]\n", 'context "a" in .*: cluster must be text'),
        ("contexts: [{name: a, context: text}]\n", 'context "a" in .*: must be a mapping'),
        ("current-context: [a]\n", "current-context must be text"),
        ("kind: Pod\n", "not a kubeconfig"),
        ("apiVersion: v2\nkind: Config\n", "not a kubeconfig"),
    ],
)
def test_08_wrong_shapes_have_one_line(tmp_path: Path, content: str, message: str) -> None:
    file = write(tmp_path / "a", content)
    with pytest.raises(UsageError, match=f"{file}.*{message}|{message}.*") as caught:
        load_files(tmp_path, file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_08_null_sections_are_empty(tmp_path: Path) -> None:
    assert load_files(tmp_path, write(tmp_path / "a", "clusters: null\nusers:\ncontexts: ~\n")).empty


def test_09_a_directory_and_a_fifo_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(UsageError, match="not a regular file"):
            load_files(tmp_path, path)


def test_09_a_dangling_link_is_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert load_files(tmp_path, tmp_path / "link").files[0].state == "missing"


def test_09_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    with pytest.raises(UsageError, match="larger than 16777216 bytes"):
        load_files(tmp_path, tmp_path / "big")


def test_10_bad_yaml_names_the_position_and_not_the_line(tmp_path: Path) -> None:
    file = write(tmp_path / "a", "users:\n- name: x\n  user: {token: SECRET: more}\n\tSECRET: [\n")
    with pytest.raises(UsageError, match=rf"^{file}:\d+:\d+: not valid YAML$"):
        load_files(tmp_path, file)


def test_11_paths_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    a = document("x", {"server": "https://a", "certificate-authority": "ca.pem"})
    del a["users"]
    b = {
        "users": [{"name": "x", "user": {"client-certificate": "me.pem", "client-key": "sub/me.key", "tokenFile": "t"}}]
    }
    config = load_files(tmp_path, write(tmp_path / "one" / "a", a), write(tmp_path / "two" / "b", b))
    target = config.resolve()
    assert target.tls is not None
    assert target.auth.certificate is not None
    assert target.tls.ca_file == tmp_path / "one" / "ca.pem"
    assert target.auth.certificate.cert_file == tmp_path / "two" / "me.pem"
    assert target.auth.certificate.key_file == tmp_path / "two" / "sub" / "me.key"
    assert target.auth.token_file == tmp_path / "two" / "t"


def test_11_a_relative_kubeconfig_gives_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a", document("x", user={"tokenFile": "t"}))
    assert load(options(tmp_path, "a")).resolve().auth.token_file == tmp_path / "t"


@pytest.mark.parametrize("key", ["tokenFile", "client-certificate"])
def test_13_tilde_is_not_expanded_and_explained(tmp_path: Path, key: str) -> None:
    file = write(tmp_path / "a", document("x", user={key: "~/file"}))
    with pytest.raises(UsageError, match=f"{key} starts with ~, which is not expanded"):
        load_files(tmp_path, file).resolve()


@pytest.mark.parametrize(
    "name",
    [
        "arn:aws:eks:eu-west-1:1:cluster/a",
        "ns/host:6443/user",
        "me@x y",
        "n" * 300,
        "../../etc/x",
        "\x1b[2Jx",
        "\u202eltr",
        "[/]",
        "é",
    ],
)
def test_14_k15_names_are_matched_as_whole_strings(tmp_path: Path, name: str) -> None:
    config = load_files(tmp_path, write(tmp_path / "a", document(name)))
    assert config.resolve(name).context == name


def test_14_k15_names_are_printable_in_errors(tmp_path: Path) -> None:
    config = load_files(tmp_path, write(tmp_path / "a", document("a")))
    with pytest.raises(UsageError) as caught:
        config.resolve("\x1b[2J\n\u202e" + "x" * 500)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_15_scalars_stay_as_they_are_written(tmp_path: Path) -> None:
    content = """
        current-context: 1_000
        contexts: [{name: 1_000, context: {cluster: 2026-11-30, user: yes, namespace: 0x1f}}]
        clusters: [{name: 2026-11-30, cluster: {server: https://a}}]
        users: [{name: yes, user: {token: 00123}}]
    """
    target = load_files(tmp_path, write(tmp_path / "a", content)).resolve()
    assert (target.context, target.cluster, target.user) == ("1_000", "2026-11-30", "yes")
    assert (target.namespace, target.auth.token) == ("0x1f", TOKEN)


def test_16_k14_two_thousand_contexts_of_15_mb(tmp_path: Path) -> None:
    authority = "QUJD" * 1800
    lines = ["current-context: c7", "contexts:"]
    lines += [f"- {{name: c{i}, context: {{cluster: c{i}, user: u{i}}}}}" for i in range(2000)]
    lines += ["clusters:"]
    lines += [
        f"- {{name: c{i}, cluster: {{server: 'https://{i}', certificate-authority-data: {authority}}}}}"
        for i in range(2000)
    ]
    lines += ["users:", *(f"- {{name: u{i}, user: {{token: t{i}}}}}" for i in range(2000))]
    file = write(tmp_path / "a", "\n".join(lines))
    config = load_files(tmp_path, file)
    assert len(config.contexts) == 2000
    assert config.resolve().auth.token == "t7"


def test_17_without_a_current_context_contexts_can_be_listed(tmp_path: Path) -> None:
    content = document("a")
    del content["current-context"]
    config = load_files(tmp_path, write(tmp_path / "a", content))
    assert [c.name for c in config.contexts] == ["a"]
    assert config.current == ""
    with pytest.raises(UsageError, match="no current context"):
        config.resolve()
    assert config.resolve("a").context == "a"


def test_18_a_current_context_that_names_nothing(tmp_path: Path) -> None:
    config = load_files(tmp_path, write(tmp_path / "a", document("a") | {"current-context": "gone"}))
    assert (config.current, len(config.contexts)) == ("gone", 1)
    with pytest.raises(UsageError, match='context "gone" does not exist'):
        config.resolve()


def test_19_k13_a_change_is_noticed_and_nothing_is_switched(tmp_path: Path) -> None:
    file = write(tmp_path / "a", document("a"))
    config = load_files(tmp_path, file, tmp_path / "later")
    assert not config.changed()
    write(tmp_path / "later", document("b"))
    assert config.changed()
    assert config.resolve().context == "a"
    config = load_files(tmp_path, file)
    file.write_text("")
    assert config.changed()
    assert config.resolve().context == "a"


def test_19_k13_every_truncation_loads_or_says_why(tmp_path: Path) -> None:
    text = yaml.safe_dump(document("a", user={"token": "SECRET"}))
    for length in range(0, len(text), 3):
        file = write(tmp_path / "a", text[:length])
        message = ""
        try:
            load_files(tmp_path, file).resolve()
        except UsageError as error:
            message = str(error)
        assert "SECRET" not in message


def test_20_danger_kubeconfig_is_never_written(tmp_path: Path) -> None:
    file = write(tmp_path / "dir" / "a", document("a", user={"token": TOKEN}))
    file.chmod(0o400)
    before = (file.stat(), file.read_bytes(), os.listdir(file.parent))
    load_files(tmp_path, file, context="a", as_user="x").resolve()
    after = (file.stat(), file.read_bytes(), os.listdir(file.parent))
    assert after[1:] == before[1:]
    assert after[0].st_mtime_ns == before[0].st_mtime_ns


def test_the_context_flag_beats_current_context(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a", document("a")), write(tmp_path / "b", document("b"))
    config = load_files(tmp_path, a, b, context="b")
    assert config.current == "b"
    assert config.resolve().context == "b"


def test_merge_keys_and_aliases(tmp_path: Path) -> None:
    content = """
        current-context: a
        contexts: [{name: a, context: {cluster: a, user: a}}]
        clusters: [{name: a, cluster: &base {server: https://a, tls-server-name: x}}, {name: b, cluster: {<<: *base}}]
        users: [{name: a, user: {}}]
    """
    target = load_files(tmp_path, write(tmp_path / "a", content)).resolve()
    assert target.server_name == "x"


def _service_account(root: Path) -> dict[str, str]:
    write(root / "token", "tok\n")
    write(root / "ca.crt", "pem")
    write(root / "namespace", "ml\n")
    return {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}


def test_50_in_cluster(tmp_path: Path) -> None:
    target = in_cluster(_service_account(tmp_path), tmp_path)
    assert target is not None
    assert (target.server, target.namespace) == ("https://[fd00::1]:443", "ml")
    assert target.auth.token_file == tmp_path / "token"
    assert target.tls is not None
    assert target.tls.ca_file == tmp_path / "ca.crt"


def test_50_outside_a_pod(tmp_path: Path) -> None:
    environ = _service_account(tmp_path)
    assert in_cluster({}, tmp_path) is None
    assert in_cluster(environ, tmp_path / "absent") is None


def test_50_two_files_in_kubeconfig_are_a_kubeconfig(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a", document("a")), write(tmp_path / "b", document("b"))
    assert not load_files(tmp_path, a, b).empty
    assert load(options(tmp_path)).empty


def _kubectl() -> str | None:
    """A kubectl that runs, if there is one: the oracle for merging."""
    path = shutil.which("kubectl")
    works = path and subprocess.run([path, "version", "--client"], capture_output=True, check=False).returncode == 0
    return path if works else None


@pytest.mark.parametrize("order", ["abc", "cab", "bca"])
def test_kubectl_merges_the_same(tmp_path: Path, order: str) -> None:
    kubectl = _kubectl()
    if kubectl is None:
        pytest.skip("no kubectl here")
    a = document(
        "x", {"server": "https://a/", "certificate-authority": "ca.pem"}, {"tokenFile": "t"}, {"namespace": "n1"}
    )
    b = document("x", {"server": "https://b/prefix/"}, {"token": "b"}) | {"current-context": "other"}
    c = document("other", {"server": "https://c", "insecure-skip-tls-verify": True}, {"as": "bob", "as-groups": ["g"]})
    files = {"a": a, "b": b, "c": c | {"current-context": ""}}
    paths = [write(tmp_path / name / "config", files[name]) for name in order]
    write(tmp_path / "a" / "ca.pem", "pem")
    seen = subprocess.run(
        [kubectl, "config", "view", "--raw", "--minify", "-o", "json"],
        env={"KUBECONFIG": ":".join(map(str, paths)), "PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert seen.returncode == 0, seen.stderr
    expected = json.loads(seen.stdout)
    cluster, user = expected["clusters"][0]["cluster"], expected["users"][0]["user"]
    target = load(LoadOptions(environ={"KUBECONFIG": ":".join(map(str, paths))}, home=tmp_path)).resolve()
    assert target.context == expected["current-context"]
    assert target.namespace == expected["contexts"][0]["context"].get("namespace", "default")
    assert target.server == cluster["server"].rstrip("/")
    assert target.tls is not None
    # `config view` leaves paths relative.
    assert (target.tls.ca_file.name if target.tls.ca_file else "") == cluster.get("certificate-authority", "")
    assert (target.auth.token_file.name if target.auth.token_file else "") == user.get("tokenFile", "")
    assert target.auth.token == user.get("token", "")
    assert (target.impersonate.user if target.impersonate else "") == user.get("as", "")
