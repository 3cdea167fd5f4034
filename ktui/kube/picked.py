"""What a list is narrowed to, so that the server, and not its client, looks through all objects."""

from __future__ import annotations

from msgspec import Struct


class Picked(Struct, frozen=True):
    """Of one kind, the objects that the server is asked to choose: by a label selector, by name, or both. Names are a field
    selector of every kind, and a list by name is allowed to whom a Role names the object (`resourceNames`)."""

    kind: str
    labels: str = ""
    name: str = ""

    @property
    def query(self) -> dict[str, str]:
        fields = {"fieldSelector": f"metadata.name={_escaped(self.name)}"} if self.name else {}
        return fields | ({"labelSelector": self.labels} if self.labels else {})

    @property
    def text(self) -> str:
        """As the source of such a list is told from that of all objects."""
        return "&".join(self.query.values())


def _escaped(value: str) -> str:
    """As fields.EscapeValue of k8s.io/apimachinery: no name has these characters, but a person may type them."""
    return value.replace("\\", r"\\").replace(",", r"\,").replace("=", r"\=")
