"""One store a kind: what is known of its objects, and the rules by which frames change it.

Key is (namespace, name), identity is the uid. Versions are compared as numbers, only under one name and only inside one
epoch (KEP-5504 allows it from 1.35 on). Older and equal versions are dropped, a version that is no number is taken as new.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from ktui.model.frame import Changed, Listed, Source
from ktui.model.meta import Key, Object
from ktui.model.sharing import Field, share

MAX_TOMBSTONES = 5_000
_PAUSE = 4_096  # objects that are compared at one go: about a millisecond


class Delta(NamedTuple):
    """One object that came (old None), changed, or went (new None). Never both None, never two different uids. `fields` are
    those in which old and new differ; None where they were not compared, and may differ in all."""

    kind: str
    key: Key
    old: Object | None
    new: Object | None
    fields: frozenset[Field] | None = None


class Tombstone(NamedTuple):
    """What is remembered of a deleted object. `seen` is False when it was only found missing from a complete list: the time
    of its deletion is not known then."""

    object: Object
    version: str
    epoch: int
    seen: bool


def older_or_equal(version: str, than: str) -> bool:
    """Whether `version` is certainly not newer. False when either is not a plain decimal number: such a version is taken."""
    if not (_is_number(version) and _is_number(than)):
        return False
    return (len(version), version) <= (len(than), than)


def _is_number(version: str) -> bool:
    return version.isascii() and version.isdigit() and (version == "0" or version[0] != "0")


class Store:
    """The objects of one kind. At most one source covers an object: all namespaces, or one each, with one selector."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.objects: dict[Key, Object] = {}
        self.tombstones: OrderedDict[Key, Tombstone] = OrderedDict()
        self.dropped = 0  # events ignored as duplicates or late
        self.epochs: dict[tuple[str, str, str], int] = {}
        self._keys_by_uid: dict[str, Key] = {}
        self._uids_lent = False  # another store has them as well: to be copied before they are changed

    def get(self, key: Key) -> Object | None:
        return self.objects.get(key)

    def key_of(self, obj: Object) -> Key:
        """The key under which an object is here, the very one where the object has a uid."""
        return self._keys_by_uid.get(obj.metadata.uid) or obj.key

    def by_uid(self, uid: str) -> Object | None:
        key = self._keys_by_uid.get(uid)
        return self.objects.get(key) if key else None

    def change(self, frame: Changed) -> list[Delta]:
        """Apply one event. Returns what really changed, () when the event was late or a duplicate."""
        same_epoch = self._epoch(frame.source, frame.epoch)
        obj, key = frame.object, frame.object.key
        known = self.objects.get(key)
        if frame.type == "DELETED":
            return self._delete(key, known, obj, frame.epoch, same_epoch)
        if same_epoch and self._is_late(key, known, obj, frame.epoch):
            self.dropped += 1
            return []
        fields = share(obj, known) if known is not None else None
        return self._put(key, known, obj, frame.epoch, same_epoch, fields)

    def replacements(self, frame: Listed) -> Iterator[Delta | None]:
        """Take a complete list: everything of the source that is not in it is gone. Unchanged objects stay the same Python
        objects, so that rows, cursors and caches stay as well. Each change is made when its delta is asked for, so a long
        list can be taken in a little at a time. None now and then where there is much to look at."""
        same_epoch = self._epoch(frame.source, frame.epoch)
        listed: dict[Key, Object] = {}
        for count, (key, obj) in enumerate(frame.keyed(), 1):
            listed[key] = obj
            if count % _PAUSE == 0:
                yield None
        for count, key in enumerate(list(self.objects), 1):
            if count % _PAUSE == 0:
                yield None
            if key in listed or not _covers(frame.source, key):
                continue
            old = self.objects[key]
            if same_epoch and _is_newer(old, frame.resource_version):
                continue  # created after the list was taken (a lagging replica answered)
            yield self._remove(key, old, frame.resource_version, frame.epoch, seen=False)
        for count, (key, obj) in enumerate(listed.items(), 1):
            if count % _PAUSE == 0:
                yield None
            known = self.objects.get(key)
            if known is not None and _same(known, obj) and (same_epoch or known == obj):
                continue
            if known is None and same_epoch and self._was_deleted_since(key, obj, frame):
                continue
            if same_epoch and known is not None and _late(obj, known):
                continue
            yield from self._put(key, known, obj, frame.epoch, same_epoch)

    def copy(self) -> Store:
        """The same content, to change on its own."""
        copy = Store(self.kind)
        copy.objects = self.objects.copy()
        copy._follow(self)
        return copy

    def become(self, other: Store) -> Iterator[Delta | None]:
        """Take over the content of another store of the kind. Each change is made when its delta is asked for; only with the
        last one is the store the same as `other` in everything. None now and then where many objects are the same."""
        for count, key in enumerate(list(self.objects), 1):
            if count % _PAUSE == 0:
                yield None
            if key not in other.objects:
                yield Delta(self.kind, key, self.objects.pop(key), None)
        for count, (key, obj) in enumerate(other.objects.items(), 1):
            if count % _PAUSE == 0:
                yield None
            known = self.objects.get(key)
            if known is obj:
                continue
            if known is not None and known.metadata.uid != obj.metadata.uid:
                del self.objects[key]
                yield Delta(self.kind, key, known, None)
                known = None
            self.objects[key] = obj
            yield Delta(self.kind, key, known, obj)
        self._follow(other)

    def _follow(self, other: Store) -> None:
        """Take over all but the objects."""
        self.tombstones = other.tombstones.copy()
        self.dropped = other.dropped
        self.epochs = other.epochs.copy()
        self._keys_by_uid = other._keys_by_uid
        self._uids_lent = other._uids_lent = True

    def _epoch(self, source: Source, epoch: int) -> bool:
        """Note the source's epoch; whether it is the one its objects came from."""
        before = self.epochs.get(source.id)
        self.epochs[source.id] = epoch
        return before is None or before == epoch

    def _is_late(self, key: Key, known: Object | None, obj: Object, epoch: int) -> bool:
        if known is not None:
            return _late(obj, known)  # under another uid it is a predecessor
        grave = self.tombstones.get(key)
        return (
            grave is not None
            and grave.epoch == epoch
            and grave.object.metadata.uid == obj.metadata.uid
            and older_or_equal(obj.metadata.resource_version, grave.version)
        )

    def _was_deleted_since(self, key: Key, obj: Object, frame: Listed) -> bool:
        """Whether the object went after the list was taken (a lagging replica answered)."""
        grave = self.tombstones.get(key)
        return (
            grave is not None
            and grave.epoch == frame.epoch
            and grave.object.metadata.uid == obj.metadata.uid
            and _is_number(grave.version)
            and _is_number(frame.resource_version)
            and not older_or_equal(grave.version, frame.resource_version)
        )

    def _put(
        self,
        key: Key,
        known: Object | None,
        obj: Object,
        epoch: int,
        same_epoch: bool,
        fields: frozenset[Field] | None = None,
    ) -> list[Delta]:
        deltas: list[Delta] = []
        uid = obj.metadata.uid
        elsewhere = self._keys_by_uid.get(uid) if uid else None
        if elsewhere is not None and elsewhere != key and (other := self.objects.get(elsewhere)) is not None:
            if same_epoch and _late(
                obj, other
            ):  # one uid under two names: no real server does this; the newer one counts
                self.dropped += 1
                return []
            deltas.append(self._remove(elsewhere, other, obj.metadata.resource_version, epoch, seen=False))
        if known is not None and known.metadata.uid != uid:  # deleted and made anew while nobody looked
            deltas.append(self._remove(key, known, known.metadata.resource_version, epoch, seen=False))
            known = fields = None
        self.objects[key] = obj
        if uid and elsewhere != key:
            self._own_uids()[uid] = key
        deltas.append(Delta(self.kind, key, known, obj, fields))
        return deltas

    def _delete(self, key: Key, known: Object | None, obj: Object, epoch: int, same_epoch: bool) -> list[Delta]:
        version = obj.metadata.resource_version
        if known is not None and known.metadata.uid == obj.metadata.uid:
            if same_epoch and _is_newer(known, version):  # it left a selector's view, and is back by now
                self.dropped += 1
                return []
            return [self._remove(key, known, version, epoch, seen=True)]
        if known is not None and not (same_epoch and _late(obj, known)):
            # A deletion newer than what is known under another uid: that one went unseen, and its successor with it.
            return [self._remove(key, known, version, epoch, seen=False)]
        if known is None:
            self._bury(key, Tombstone(obj, version, epoch, seen=True))
        else:
            self.dropped += 1
        return []

    def _remove(self, key: Key, old: Object, version: str, epoch: int, *, seen: bool) -> Delta:
        del self.objects[key]
        if self._keys_by_uid.get(old.metadata.uid) == key:
            del self._own_uids()[old.metadata.uid]
        self._bury(key, Tombstone(old, version, epoch, seen))
        return Delta(self.kind, key, old, None)

    def _own_uids(self) -> dict[str, Key]:
        """To be changed. Most changes leave them as they are, so copies of a store have them together."""
        if self._uids_lent:
            self._keys_by_uid, self._uids_lent = self._keys_by_uid.copy(), False
        return self._keys_by_uid

    def _bury(self, key: Key, grave: Tombstone) -> None:
        self.tombstones.pop(key, None)
        self.tombstones[key] = grave
        while len(self.tombstones) > MAX_TOMBSTONES:
            self.tombstones.popitem(last=False)


def _covers(source: Source, key: Key) -> bool:
    return not source.namespace or key[0] == source.namespace


def _late(obj: Object, known: Object) -> bool:
    return older_or_equal(obj.metadata.resource_version, known.metadata.resource_version)


def _same(known: Object, obj: Object) -> bool:
    a, b = known.metadata, obj.metadata
    return a.uid == b.uid and a.resource_version == b.resource_version and bool(a.resource_version)


def _is_newer(obj: Object, version: str) -> bool:
    """Whether the object is certainly newer than `version`."""
    own = obj.metadata.resource_version
    return _is_number(own) and _is_number(version) and not older_or_equal(own, version)
