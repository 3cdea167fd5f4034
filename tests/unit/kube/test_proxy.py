"""Which proxy is used: rows 31 to 33 of the kubeconfig cases, K05."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ktui.errors import UsageError
from ktui.kube.credentials import proxy_for
from ktui.kube.target import Target
from tests.unit.kube.kubeconfigbuilder import target

PROXY = "http://proxy:3128"


def _target(home: Path, server: str = "https://api.example:6443", **cluster: Any) -> Target:
    return target(home, {"server": server} | cluster, allow_plain_http=True)


def _url(target: Target, **environ: str) -> str | None:
    proxy = proxy_for(target, environ)
    return proxy.url if proxy else None


def test_31_proxy_url_beats_environment_no_proxy_and_loopback(tmp_path: Path) -> None:
    cluster = {"proxy-url": PROXY}
    assert _url(_target(tmp_path, **cluster), HTTPS_PROXY="http://other", NO_PROXY="*") == PROXY
    assert _url(_target(tmp_path, "https://127.0.0.1:6443", **cluster)) == PROXY


@pytest.mark.parametrize("url", ["proxy:3128", "ftp://proxy", "http://", "http://proxy:port", "//proxy"])
def test_31_proxy_url_is_checked(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match=r'cluster "c" in .*: proxy-url: '):
        _target(tmp_path, **{"proxy-url": url})


def test_31_proxy_credentials_are_apart_from_the_url(tmp_path: Path) -> None:
    proxy = proxy_for(_target(tmp_path, **{"proxy-url": "http://me:S%40CRET@proxy:3128"}), {})
    assert proxy is not None
    assert proxy.url == PROXY
    assert proxy.headers == {"Proxy-Authorization": "Basic bWU6U0BDUkVU"}
    assert proxy.secrets == {"S%40CRET", "S@CRET"}
    assert "CRET" not in repr(proxy)


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks"])
def test_32_socks_is_said_not_to_work(tmp_path: Path, scheme: str) -> None:
    with pytest.raises(UsageError, match="SOCKS proxies are not supported"):
        _target(tmp_path, **{"proxy-url": f"{scheme}://me:SECRET@proxy:1080"})
    with pytest.raises(UsageError, match="HTTPS_PROXY: SOCKS proxies are not supported"):
        proxy_for(_target(tmp_path), {"HTTPS_PROXY": f"{scheme}://proxy"})


@pytest.mark.parametrize(
    ("server", "environ", "expected"),
    [
        ("https://a", {"HTTPS_PROXY": PROXY}, PROXY),
        ("https://a", {"https_proxy": PROXY}, PROXY),
        ("https://a", {"HTTPS_PROXY": PROXY, "https_proxy": "http://other"}, PROXY),
        ("https://a", {"HTTPS_PROXY": "", "https_proxy": PROXY}, PROXY),
        ("https://a", {"HTTPS_PROXY": "proxy:3128"}, PROXY),
        ("https://a", {"HTTP_PROXY": PROXY, "ALL_PROXY": PROXY}, None),
        ("http://a", {"HTTP_PROXY": PROXY}, PROXY),
        ("http://a", {"HTTP_PROXY": PROXY, "REQUEST_METHOD": "GET"}, None),
        ("http://a", {"HTTPS_PROXY": PROXY}, None),
        ("https://a", {}, None),
        # K05: loopback is never proxied
        ("https://localhost:6443", {"HTTPS_PROXY": PROXY}, None),
        ("https://127.0.0.1:6443", {"HTTPS_PROXY": PROXY}, None),
        ("https://127.1.2.3", {"HTTPS_PROXY": PROXY}, None),
        ("https://[::1]:6443", {"HTTPS_PROXY": PROXY}, None),
    ],
)
def test_33_environment(tmp_path: Path, server: str, environ: dict[str, str], expected: str | None) -> None:
    assert _url(_target(tmp_path, server), **environ) == expected


@pytest.mark.parametrize(
    ("server", "no_proxy", "direct"),
    [
        ("https://a.example.com", "example.com", True),
        ("https://example.com", "example.com", True),
        ("https://badexample.com", "example.com", False),
        ("https://a.example.com", ".example.com", True),
        ("https://example.com", ".example.com", False),
        ("https://a.example.com", "*.example.com", True),
        ("https://A.Example.com", "x, EXAMPLE.COM ,", True),
        ("https://example.com:6443", "example.com:6443", True),
        ("https://example.com:6443", "example.com:443", False),
        ("https://example.com", "example.com:443", True),
        ("https://10.1.2.3", "10.0.0.0/8", True),
        ("https://11.1.2.3", "10.0.0.0/8", False),
        ("https://a", "10.0.0.0/8,nonsense/99", False),
        ("https://10.1.2.3:6443", "10.1.2.3", True),
        ("https://10.1.2.3:6443", "10.1.2.3:6443", True),
        ("https://10.1.2.3:6443", "10.1.2.3:1", False),
        ("https://[fd00::1]", "fd00::/8", True),
        ("https://[fd00::1]", "fd00:0::1", True),
        ("https://[fd00::1]:6443", "[fd00::1]:6443", True),
        ("https://anything", "*", True),
        ("https://anything", "x,*", True),
        ("https://anything", ":443", False),
        ("https://anything", "", False),
    ],
)
def test_33_no_proxy(tmp_path: Path, server: str, no_proxy: str, direct: bool) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        assert (_url(_target(tmp_path, server), **{"HTTPS_PROXY": PROXY, name: no_proxy}) is None) == direct
