"""The control plane as a whole: five processes, one directory, one address for as long as it lives."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, Self

from tests.cluster.controlplane.access import Access
from tests.cluster.controlplane.api import Api, Json
from tests.cluster.controlplane.pki import signing_key
from tests.cluster.controlplane.process import Process

_STAGES: Final = Path(__file__).with_name("stages.yaml")
# Nodes with this annotation get a simulated kubelet.
FAKE_NODE: Final = {"kwok.x-k8s.io/node": "fake"}

_START_LIMIT: Final = 120.0
_PORT_ATTEMPTS: Final = 5
_ENDED_BY_CLASH: Final = "address already in use"


class ControlPlaneError(Exception):
    """A process of the control plane did not start; the message ends with the last lines of its log."""


@dataclass(frozen=True)
class Options:
    """What a test may want otherwise. The defaults serve all that ktui can show at beta level, and gangs for Jobs.

    `feature_gates` go to the API server, the scheduler and the controller manager; `runtime_config` names the API
    versions to serve (true) or not to serve (false) other than by default; the arguments are appended to the
    processes' own.
    """

    feature_gates: Mapping[str, bool] = field(
        default_factory=lambda: {"GenericWorkload": True, "DRAWorkloadResourceClaims": True, "WorkloadWithJob": True}
    )
    runtime_config: Mapping[str, bool] = field(default_factory=lambda: {"scheduling.k8s.io/v1beta1": True})
    api_server_arguments: Sequence[str] = ()
    etcd_arguments: Sequence[str] = ()


class ControlPlane:
    """A running control plane; use it as a context manager. `url` stays the same when the API server is restarted."""

    def __init__(self, binaries: Path, options: Options | None = None) -> None:
        self._binaries = binaries
        self._options = options or Options()
        self._processes: dict[str, Process] = {}
        self._api_port = self._etcd_port = 0

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._api_port}"

    @property
    def access(self) -> Access:
        """Certificates and tokens, for clients that bring their own HTTP."""
        return self._access

    @property
    def kubeconfig(self) -> Path:
        """A context for each user, named after the user; the current one is admin."""
        return self._kubeconfig

    def api(self, user: str = "admin") -> Api:
        """The API as `admin`, `admin-cert`, `viewer` or `tenant`."""
        return self._access.api(self.url, user)

    def process(self, name: str) -> Process:
        """One of etcd, kube-apiserver, kube-scheduler, kube-controller-manager, kwok."""
        return self._processes[name]

    def start(self) -> None:
        """Returns when the API server is ready. When anything fails, nothing is left running."""
        self.directory = Path(tempfile.mkdtemp(prefix="ktui-controlplane-"))
        try:
            self._access = Access.generate(self.directory)
            self._service_accounts = signing_key(self.directory, "service-accounts")
            self._etcd_port = self._start_on_free_port("etcd", self._etcd_command, self._etcd_ready)
            self._api_port = self._start_on_free_port(
                "kube-apiserver", self._api_server_command, self._api_server_ready
            )
            self._kubeconfig = self._access.write_kubeconfig(self.url)
            self._start("kube-scheduler", self._client_arguments())
            self._start("kube-controller-manager", self._controller_manager_command())
            self._start("kwok", self._kwok_command())
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends every process that was started, clients before servers, and removes all data."""
        while self._processes:
            _, process = self._processes.popitem()
            process.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def stop_api_server(self, number: signal.Signals = signal.SIGTERM, limit: float = 10.0) -> None:
        """Ends the API server; etcd keeps its objects.

        On SIGTERM it refuses new requests but keeps open watches for up to a minute; after `limit` seconds it is killed.
        """
        self._processes["kube-apiserver"].stop(number, limit)

    def start_api_server(self) -> None:
        """Starts the API server again, on its old port and on the same etcd; returns when it is ready."""
        self._start("kube-apiserver", self._api_server_command(self._api_port))
        self._await_ready(self._processes["kube-apiserver"], partial(self._api_server_ready, self._api_port))

    def restart_api_server(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.stop_api_server(number)
        self.start_api_server()

    def compact(self) -> None:
        """Makes etcd forget every state before the present one."""
        revision = self._etcd("range", {"key": "AA=="})["header"]["revision"]
        self._etcd("compaction", {"revision": revision, "physical": True})

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self, name: str, command: Sequence[str]) -> Process:
        log = self.directory / f"{name}.log"
        process = Process(name, [str(self._binaries / name), *command], log)
        # A restarted process keeps its place in the order in which everything is stopped.
        self._processes[name] = process
        return process

    def _start_on_free_port(
        self, name: str, command: Callable[[int], Sequence[str]], ready: Callable[[int], bool]
    ) -> int:
        """Between the kernel's answer and the server's bind, somebody else may take the port: then try another one."""
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            port = _free_port()
            process = self._start(name, command(port))
            try:
                self._await_ready(process, partial(ready, port))
            except ControlPlaneError as error:
                process.stop()
                if attempt == _PORT_ATTEMPTS or _ENDED_BY_CLASH not in str(error):
                    raise
            else:
                return port
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _await_ready(self, process: Process, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _START_LIMIT
        while process.running and time.monotonic() < deadline:
            if ready():
                return
            time.sleep(0.1)
        state = "not ready in time" if process.running else "ended"
        raise ControlPlaneError(f"{process.name} {state}; its log ends:\n{process.log_tail()}")

    def _etcd_command(self, port: int) -> Sequence[str]:
        client_url = f"http://127.0.0.1:{port}"
        return [
            f"--data-dir={self.directory / 'etcd'}",
            f"--listen-client-urls={client_url}",
            f"--advertise-client-urls={client_url}",
            # The only member has no peers: any port will do.
            "--listen-peer-urls=http://127.0.0.1:0",
            # The data dies with the test; syncing it to disk would only slow everybody down.
            "--unsafe-no-fsync",
            "--log-level=warn",
            *self._options.etcd_arguments,
        ]

    def _api_server_command(self, port: int) -> Sequence[str]:
        access = self._access
        return [
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--tls-cert-file={access.serving.public}",
            f"--tls-private-key-file={access.serving.private}",
            f"--client-ca-file={access.client_authority.certificate}",
            f"--token-auth-file={access.token_file}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._service_accounts.public}",
            f"--service-account-signing-key-file={self._service_accounts.private}",
            "--service-cluster-ip-range=10.0.0.0/24",
            # Nothing routes to this server's Service, and an endpoint on loopback is refused.
            "--endpoint-reconciler-type=none",
            # Pods need no token of a service account: no process runs in them.
            "--disable-admission-plugins=ServiceAccount",
            f"--runtime-config={_settings(self._options.runtime_config)}",
            self._feature_gates(),
            *self._options.api_server_arguments,
        ]

    def _client_arguments(self) -> list[str]:
        return [f"--kubeconfig={self._kubeconfig}", "--leader-elect=false", "--secure-port=0", self._feature_gates()]

    def _controller_manager_command(self) -> Sequence[str]:
        return [
            *self._client_arguments(),
            f"--service-account-private-key-file={self._service_accounts.private}",
            "--horizontal-pod-autoscaler-sync-period=5s",
        ]

    def _kwok_command(self) -> Sequence[str]:
        annotation = ",".join(f"{key}={value}" for key, value in FAKE_NODE.items())
        return [
            f"--kubeconfig={self._kubeconfig}",
            f"--config={_STAGES}",
            "--manage-all-nodes=false",
            f"--manage-nodes-with-annotation-selector={annotation}",
            "--node-lease-duration-seconds=40",
        ]

    def _feature_gates(self) -> str:
        return f"--feature-gates={_settings(self._options.feature_gates)}"

    def _etcd(self, call: str, body: Json) -> Json:
        """A call of etcd's own API, by its JSON gateway."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(f"http://127.0.0.1:{self._etcd_port}/v3/kv/{call}", json.dumps(body).encode())
        with opener.open(request, timeout=20) as response:
            answer: Json = json.load(response)
        return answer

    def _etcd_ready(self, port: int) -> bool:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://127.0.0.1:{port}/health", timeout=2):
                return True
        except OSError:
            return False

    def _api_server_ready(self, port: int) -> bool:
        return self._access.api(f"https://127.0.0.1:{port}").ready()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _settings(values: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={str(value).lower()}" for name, value in values.items())
