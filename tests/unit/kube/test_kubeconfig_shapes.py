"""Kubeconfigs as the common tools write them, one file each under `kubeconfigs/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.kube.kubeconfig import LoadOptions, load
from ktui.kube.login import sign_in_command
from ktui.kube.target import Target

SHAPES = Path(__file__).parent / "kubeconfigs"


def _resolve(name: str, home: Path) -> Target:
    return load(LoadOptions(kubeconfig=str(SHAPES / f"{name}.yaml"), environ={}, home=home)).resolve()


@pytest.mark.parametrize(
    ("name", "context", "host", "method"),
    [
        (
            "eks",
            "arn:aws:eks:eu-west-1:111122223333:cluster/train",
            "0123456789abcdef.gr7.eu-west-1.eks.amazonaws.com",
            "exec plug-in",
        ),
        ("eks-aws-vault", "train", "0123456789abcdef.gr7.eu-west-1.eks.amazonaws.com", "exec plug-in"),
        ("gke", "gke_ml-prod_europe-west4_train", "203.0.113.10", "exec plug-in"),
        ("aks", "train", "train-dns-0a1b2c3d.hcp.westeurope.azmk8s.io:443", "exec plug-in"),
        ("oidc-login", "oidc@train", "train.example.com:6443", "exec plug-in"),
        ("oidc-auth-provider", "old", "train.example.com:6443", "OIDC id-token"),
        ("teleport", "teleport.example.com-train", "teleport.example.com:443", "exec plug-in"),
        ("rancher", "train", "rancher.example.com", "exec plug-in"),
        ("kind", "kind-kind", "127.0.0.1:41573", "client certificate"),
        ("openshift", "ml/api-train-example-com:6443/oncall", "api.train.example.com:6443", "token"),
        ("service-account", "robot", "kubernetes.default.svc", "token file"),
    ],
)
def test_shape(name: str, context: str, host: str, method: str, tmp_path: Path) -> None:
    target = _resolve(name, tmp_path)
    assert (target.context, target.host, target.auth.method) == (context, host, method)
    assert "CANARY" not in repr(target)


def test_every_shape_is_tested() -> None:
    marks = test_shape.pytestmark  # type: ignore[attr-defined]  # pytest puts it there
    assert {parameters[0] for parameters in marks[0].args[1]} == {file.stem for file in SHAPES.glob("*.yaml")}


def test_details_that_matter(tmp_path: Path) -> None:
    assert _resolve("rancher", tmp_path).server == "https://rancher.example.com/k8s/clusters/c-m-abcdefgh"
    assert _resolve("teleport", tmp_path).server_name == "kube-teleport-proxy-alpn.teleport.example.com"
    assert _resolve("openshift", tmp_path).insecure
    gke, vault = _resolve("gke", tmp_path).auth.plugin, _resolve("eks-aws-vault", tmp_path).auth.plugin
    assert gke is not None
    assert vault is not None
    assert gke.provide_cluster_info
    assert (gke.interactive_mode, vault.interactive_mode) == ("IfAvailable", "Always")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("eks", "aws sso login --profile oncall"),
        ("gke", "gcloud auth login"),
        ("teleport", "tsh login"),
        ("oidc-login", f"kubectl --kubeconfig {SHAPES}/oidc-login.yaml --context oidc@train auth whoami"),
    ],
)
def test_what_to_run_to_sign_in(name: str, command: str, tmp_path: Path) -> None:
    assert sign_in_command(_resolve(name, tmp_path)) == command
