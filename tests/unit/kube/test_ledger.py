"""What is asked of the API server, counted by verb and resource."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.errors import KtuiError
from ktui.kube.failures import ApiError, UnexpectedAnswer
from ktui.kube.ledger import named
from ktui.kube.unpacking import CannotUnpack, unpacking
from ktui.model.cost import Cost, size_text, total
from tests.faults import Answer
from tests.unit.kube.harness import rig, transport_to

GROUPS = "/apis/scheduling.k8s.io/v1beta1"


@pytest.mark.parametrize(
    ("method", "path", "params", "expected"),
    [
        ("GET", "/api/v1/pods", {}, ("list", "pods")),
        ("GET", "/api/v1/pods", {"watch": "1"}, ("watch", "pods")),
        ("GET", "/api/v1/namespaces/ml/pods", {"limit": "500"}, ("list", "pods")),
        ("GET", "/api/v1/namespaces/ml/pods/a", None, ("get", "pods")),
        ("GET", "/api/v1/namespaces/ml/pods/a:9400/proxy/metrics", None, ("get", "pods/proxy")),
        ("GET", "/api/v1/namespaces", {}, ("list", "namespaces")),
        ("GET", "/api/v1/namespaces/kube-system", {}, ("get", "namespaces")),
        ("GET", f"{GROUPS}/podgroups", {"watch": "true"}, ("watch", "podgroups.scheduling.k8s.io")),
        ("GET", f"{GROUPS}/namespaces/ml/podgroups/a/status", {}, ("get", "podgroups.scheduling.k8s.io/status")),
        ("POST", "/apis/resource.k8s.io/v1/devicetaintrules", {}, ("create", "devicetaintrules.resource.k8s.io")),
        ("PATCH", "/apis/resource.k8s.io/v1/devicetaintrules/a", {}, ("patch", "devicetaintrules.resource.k8s.io")),
        ("DELETE", "/apis/resource.k8s.io/v1/devicetaintrules/a", {}, ("delete", "devicetaintrules.resource.k8s.io")),
        ("GET", "/version", None, ("get", "/version")),
        ("GET", "/apis", None, ("get", "/apis")),
        ("GET", "/apis/batch/v1", None, ("get", "/apis")),
        ("GET", "/", None, ("get", "/")),
    ],
)
def test_requests_are_named_as_rbac_names_them(
    method: str, path: str, params: dict[str, str] | None, expected: tuple[str, str]
) -> None:
    assert named(method, path, params) == expected


async def test_requests_failures_bytes_and_open_watches_are_counted_by_what_they_were_for() -> None:
    body = b'{"items": []}' * 20_000
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET /packed", Answer(200, gzip.compress(body), headers={"Content-Encoding": "gzip"}))
        answer = await transport.request("GET", "/packed")
        assert answer.body == body
        with pytest.raises(ApiError):
            await transport.request("GET", "/api/v1/namespaces/ml/pods/none")
        async with transport.stream("/api/v1/pods", {"watch": "1"}):
            costs = {cost.what: cost for cost in transport.ledger.costs()}
            assert (costs["watch pods"].requests, costs["watch pods"].open) == (1, 1)
        costs = {cost.what: cost for cost in transport.ledger.costs()}
        assert costs["watch pods"].open == 0
        assert costs["get /packed"].unpacked == len(body)
        assert costs["get /packed"].received == len(gzip.compress(body)) < len(body) / 100
        assert (costs["get pods"].requests, costs["get pods"].failures) == (1, 1)
        assert costs["get pods"].received == costs["get pods"].unpacked > 0
        assert total(transport.ledger.costs()).requests == transport.ledger.requests == 3


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"{}" * 5000)[:-9]),
        ("gzip", b"hello"),
        ("deflate", zlib.compress(b"{}")),
        ("br", b"{}"),
    ],
    ids=["cut", "none", "deflate", "br"],
)
async def test_a_body_that_cannot_be_unpacked_is_one_line(encoding: str, body: bytes) -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET /version", Answer(200, body, headers={"Content-Encoding": encoding}))
        with pytest.raises(KtuiError) as failure:
            await transport.request("GET", "/version")
        assert isinstance(failure.value, UnexpectedAnswer)
        assert "\n" not in str(failure.value)


@given(st.lists(st.binary(max_size=400), max_size=5), st.integers(1, 50))
def test_members_come_out_whole_however_they_are_cut(members: list[bytes], step: int) -> None:
    packed = b"".join(map(gzip.compress, members))
    unpack = unpacking("gzip", 10_000)
    found = b"".join(unpack.feed(packed[n : n + step]) for n in range(0, len(packed), step))
    unpack.finish()
    assert found == b"".join(members)


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_no_more_is_taken_than_may_be(encoding: str) -> None:
    body = bytes(1000)
    packed = gzip.compress(body) if encoding == "gzip" else body
    assert unpacking(encoding, 1000).feed(packed) == body
    with pytest.raises(CannotUnpack, match="more than 999 bytes"):
        unpacking(encoding, 999).feed(packed)


def test_members_that_hold_nothing_are_not_read_for_ever() -> None:
    empty = gzip.compress(b"") * 1000
    unpack = unpacking("gzip", 1000)
    assert [unpack.feed(empty) for _ in range(2)] == [b"", b""]
    with pytest.raises(CannotUnpack):
        b"".join(unpack.feed(empty) for _ in range(100))


def test_sizes_are_written_for_people() -> None:
    assert [size_text(size) for size in (0, 1023, 2048, 5 * 2**20)] == ["0 B", "1023 B", "2 KiB", "5.0 MiB"]


def test_a_total_is_of_nothing_in_particular() -> None:
    assert total(()) == Cost("", "")
