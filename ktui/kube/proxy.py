"""Which proxy a connection goes through, by the rules of Go's net/http and x/net/http/httpproxy.

`proxy-url` of the kubeconfig beats the environment and NO_PROXY. Of the environment, upper case beats lower case, and
loopback addresses are never proxied.
"""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from ktui.errors import UsageError
from ktui.kube.target import ProxySettings, Target

_PORTS = {"http": 80, "https": 443}


def proxy_for(target: Target, environ: Mapping[str, str]) -> ProxySettings | None:
    """The proxy for requests to `target`, None for a direct connection. Raises UsageError for one that cannot be used."""
    if target.proxy is not None:
        return target.proxy
    server = urlsplit(target.server)
    variable = "HTTPS_PROXY" if server.scheme == "https" else "HTTP_PROXY"
    if variable == "HTTP_PROXY" and environ.get("REQUEST_METHOD"):
        return None  # under CGI, HTTP_PROXY is a header that the client chose
    value = _either_case(environ, variable)
    host = server.hostname or ""
    if not value or _direct(host, server.port or _PORTS[server.scheme], _either_case(environ, "NO_PROXY")):
        return None
    return parse_proxy(value if "://" in value else f"http://{value}", variable)


def parse_proxy(url: str, source: str) -> ProxySettings:
    """`source` names the setting in errors; the URL never does, since it may hold a password."""
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        raise UsageError(f"{source}: not a URL with a host and a numeric port") from None
    if scheme.startswith("socks"):
        raise UsageError(
            f"{source}: SOCKS proxies are not supported: use an HTTP proxy, or a tunnel to the API server's port"
            " with tls-server-name set"
        )
    if scheme not in _PORTS or not host:
        raise UsageError(f"{source}: must be http://HOST:PORT or https://HOST:PORT")
    return ProxySettings(
        url=f"{scheme}://{bracketed(host)}" + (f":{port}" if port else ""),
        full_url=url,
        authorization=_basic(parts),
        secrets=frozenset(filter(None, (parts.password, unquote(parts.password or "")))),
    )


def bracketed(host: str) -> str:
    """A host as a URL's authority has it: IPv6 literals in brackets."""
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Go's rule: the name localhost, or a loopback address."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _basic(parts: SplitResult) -> str:
    if parts.username is None and parts.password is None:
        return ""
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def _either_case(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _direct(host: str, port: int, no_proxy: str) -> bool:
    host = host.lower()
    return is_loopback(host) or any(_matches(entry.strip().lower(), host, port) for entry in no_proxy.split(","))


def _matches(entry: str, host: str, port: int) -> bool:
    """One NO_PROXY entry: `*`, a network, an address or a domain, the last two with or without `:port`."""
    if entry == "*":
        return True
    if "/" in entry:
        return _in_network(entry, host)
    name, wanted = _split_port(entry)
    if not name or (wanted and wanted != str(port)):
        return False
    if _is_address(name):
        return _is_address(host) and ipaddress.ip_address(name) == ipaddress.ip_address(host)
    name = name.removeprefix("*")
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _in_network(entry: str, host: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False


def _split_port(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name, rest.removeprefix(":")
    name, _, port = entry.rpartition(":")
    return (name, port) if entry.count(":") == 1 else (entry, "")
