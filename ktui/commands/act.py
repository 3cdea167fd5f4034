"""`ktui taint`, `untaint` and `min-replicas`: the same path as the dialogs, on a plain terminal."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import orjson

from ktui import paths, settings
from ktui.actions.api import ActionApi
from ktui.actions.audit import AuditContext
from ktui.actions.count import Count, Counting, agree, left_behind, take_back, wait_for_count
from ktui.actions.desk import Desk, open_desk
from ktui.actions.minreplicas import parse_replicas, plan_min_replicas
from ktui.actions.plan import AlreadyDoneError, Plan
from ktui.actions.runner import Outcome, Rehearsal
from ktui.actions.taint import parse_device, parse_taint, plan_taint
from ktui.actions.untaint import plan_untaint
from ktui.cluster.sources import gang_source, object_key
from ktui.cluster.state import Cluster
from ktui.commands.cluster import wanted
from ktui.errors import KtuiError, UsageError
from ktui.kube.discovery import Served
from ktui.kube.once import first_error, read_once
from ktui.kube.opening import Wanted, open_transport, resolve
from ktui.kube.target import Target
from ktui.kube.transport import Transport
from ktui.model.meta import Key
from ktui.ui.safe import safe

_JOINED = (
    "Pod",
    "PodGroup",
    "Workload",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceSlice",
    "DeviceClass",
    "DeviceTaintRule",
    "Node",
    "KueueWorkload",
    "VolcanoPodGroup",
)


def run(args: argparse.Namespace) -> int:
    """Plan, show, rehearse, ask, apply. 0 when done or already so, 1 when refused, 2 when the request makes no sense."""
    wish = wanted(args)
    if settings.load().readonly:
        wish = dataclasses.replace(wish, read_only=True)
    if wish.read_only and not args.dry_run:
        raise UsageError(
            f"{args.command} writes to the cluster and is not done: --readonly, or readonly in the settings"
        )
    ask = _Ask(args)
    if getattr(args, "count", False):
        if args.dry_run:
            raise UsageError("--count places the taint with effect None, so it does not go with --dry-run")
        ask.counting("")
    try:
        return asyncio.run(_act(args, ask, wish))
    except AlreadyDoneError as done:
        print(safe(str(done)))
        return 0


class _Ask:
    """What is asked, parsed before anything is read, so that a typing error costs nothing."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.device = parse_device(args.device) if args.command != "min-replicas" else None
        self.taint = parse_taint(args.taint) if args.command == "taint" else None
        self.replicas = parse_replicas(args.replicas) if args.command == "min-replicas" else 0

    async def plan(self, api: ActionApi, cluster: Cluster, namespace: str, user: str) -> Plan:
        if self.device is not None and self.taint is not None:
            return await plan_taint(api, cluster, self.device, self.taint, reason=self.args.reason, user=user)
        if self.device is not None:
            return await plan_untaint(api, cluster, self.device, taint=self.args.taint)
        place, slash, name = self.args.autoscaler.rpartition("/")
        return await plan_min_replicas(api, (place if slash else namespace, name), self.replicas)

    def counting(self, user: str) -> Counting:
        """What is counted first. Raises UsageError where there is nothing to count."""
        if self.device is None or self.taint is None or self.taint.effect != "NoExecute":
            raise UsageError("--count is for the effect NoExecute: no other effect evicts")
        return Counting(self.device, self.taint, self.args.reason, user)

    @property
    def kinds(self) -> tuple[str, ...]:
        return _JOINED if self.device is not None else ()


async def _act(args: argparse.Namespace, ask: _Ask, wish: Wanted) -> int:
    target = resolve(wish)
    cluster = Cluster()
    async with open_transport(wish, target) as transport:
        try:
            served = await read_once(transport, ask.kinds, "", cluster.apply)
        except BaseExceptionGroup as group:
            raise first_error(group) or group from None
        return await _carry_out(args, ask, cluster, transport, served, target)


async def _carry_out(
    args: argparse.Namespace, ask: _Ask, cluster: Cluster, transport: Transport, served: Served, target: Target
) -> int:
    desk = await open_desk(transport, target, served.versions(), paths.audit_log())
    if getattr(args, "count", False):
        return await _count_first(args, ask.counting(desk.where.user), cluster, desk)
    plan = await ask.plan(desk.api, cluster, target.namespace, desk.where.user)
    await _settle(args, plan, desk)
    return 0


async def _count_first(args: argparse.Namespace, counting: Counting, cluster: Cluster, desk: Desk) -> int:
    """Place the taint with effect None, show the controller's count beside our own, then go on or take it back."""
    await _settle(args, await counting.plan_look(desk.api, cluster), desk, step=True)
    try:
        count = await wait_for_count(desk.api, counting.rule)
        plan = await counting.plan_evict(desk.api, cluster, count)
        if args.yes:
            _check_count(plan, count)
        await _settle(args, plan, desk, count)
    except BaseException as error:
        left = left_behind(counting, "it could not be taken back")
        try:
            left = await take_back(desk.api, desk.runner, cluster, counting)
        finally:
            if not isinstance(error, KtuiError) and left:
                print(safe(left), file=sys.stderr)
        if isinstance(error, KtuiError):
            raise KtuiError(f"{error}; {left or 'the taint with effect None was taken back'}") from None
        raise
    return 0


def _check_count(plan: Plan, count: Count | None) -> None:
    """Raises KtuiError when the controller does not count as many pods as we do: that is for a person to look at."""
    if not agree(plan, count):
        raise KtuiError(f"not done, as --yes asks nobody: {(plan.notes + plan.warnings)[-1]}")


async def _settle(
    args: argparse.Namespace, plan: Plan, desk: Desk, count: Count | None = None, *, step: bool = False
) -> None:
    """Rehearse, show, ask, apply; raises KtuiError unless it was done. A `step` is not the last one, and prints no JSON."""
    runner, where = desk.runner, desk.where
    if refusal := await runner.refusal(plan):
        raise KtuiError(refusal)
    rehearsal = await runner.rehearse(plan)
    # JSON is for a program to read; a person who is asked has to see what is asked all the same.
    shown = sys.stdout if args.output == "table" else sys.stderr
    if args.output == "table" or not (args.yes or args.dry_run):
        shown.writelines(f"{safe(line)}\n" for line in _preview(plan, where, rehearsal))
        shown.flush()
    if args.dry_run or rehearsal.status == "refused":
        _print_json(args, plan, rehearsal, None, count)
        if rehearsal.status == "refused":
            raise KtuiError(f"the server refuses: {rehearsal.message}")
        return
    _confirm(args, plan)
    outcome = await runner.apply(plan, rehearsal)
    if not step:
        _print_json(args, plan, rehearsal, outcome, count)
    if outcome.status != "applied":
        raise KtuiError(outcome.message)
    if args.output == "table":
        print(safe(outcome.message))
        for warning in outcome.warnings:
            print(f"warning: {safe(warning, 300)}")


def _preview(plan: Plan, where: AuditContext, rehearsal: Rehearsal) -> Iterator[str]:
    as_whom = f"{where.user} as {where.impersonating}" if where.impersonating else where.user or "unknown user"
    yield f"{plan.title}   (context {where.context}, {where.host}, {as_whom})"
    yield f"  {plan.before} -> {plan.after}"
    yield f"  {plan.sentence}"
    for hit in plan.blast.deleted:
        when = f" after {hit.after}s" if hit.after else ""
        yield f"    {hit.key[0]}/{hit.key[1]}{f' of gang {hit.gang_name}' if hit.gang_name else ''}{when}"
    if plan.blast.tolerating:
        yield f"  {len(plan.blast.tolerating)} pods tolerate it"
    for note in plan.notes:
        yield f"  {note}"
    for warning in (*plan.warnings, *rehearsal.warnings):
        yield f"  warning: {warning}"
    yield f"  {plan.request.method} {plan.request.path}"
    yield f"  server dry run: {rehearsal.message or rehearsal.status}"


def _confirm(args: argparse.Namespace, plan: Plan) -> None:
    """Raises KtuiError unless the person agrees."""
    if plan.foreign and not args.any_owner:
        raise UsageError("ktui did not make this rule; add --any-owner to remove it all the same")
    if args.yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("not confirmed: there is no terminal to ask on; add --yes to go on without asking")
    wanted_text = plan.confirm or "yes"
    print(f"Type {safe(wanted_text)} to go on: ", end="", file=sys.stderr, flush=True)
    with _interruptible():
        try:
            typed = sys.stdin.readline()
        except UnicodeDecodeError:
            typed = ""
    if typed.rstrip("\n") != wanted_text:
        raise KtuiError("not confirmed; nothing was done")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let ctrl+c end a blocking read: the event loop's own handler only takes note of it, and the read goes on."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _print_json(
    args: argparse.Namespace, plan: Plan, rehearsal: Rehearsal, outcome: Outcome | None, count: Count | None
) -> None:
    if args.output != "json":
        return
    document = {
        "version": 1,
        "action": plan.action,
        "method": plan.request.method,
        "path": plan.request.path,
        "body": plan.request.body,
        "before": plan.before,
        "after": plan.after,
        "podsDeleted": [
            {
                "namespace": hit.key[0],
                "name": hit.key[1],
                "gang": object_key(hit.gang)[1] if hit.gang else None,
                "gangSource": gang_source(hit.gang) if hit.gang else None,
                "afterSeconds": hit.after,
            }
            for hit in plan.blast.deleted
        ],
        "gangs": [
            {
                "namespace": hit.key[0],
                "name": object_key(hit.key)[1],
                "running": hit.running,
                "left": hit.left,
                "minCount": hit.needed,
            }
            for hit in plan.blast.gangs
        ],
        "claims": _keys(plan.blast.claims),
        "pendingGangs": _keys(plan.blast.pending),
        "pdbs": None if plan.budgets is None else _keys(plan.budgets),
        "placeableGangs": _keys(plan.helped),
        "controllerCount": {"pods": count.pods, "namespaces": count.namespaces, "message": count.text}
        if count
        else None,
        "warnings": [*plan.warnings, *rehearsal.warnings],
        "dryRun": {"status": rehearsal.status, "message": rehearsal.message},
        "result": {
            "status": outcome.status,
            "message": outcome.message,
            "warnings": outcome.warnings,
            "auditID": outcome.audit_id,
        }
        if outcome
        else None,
    }
    sys.stdout.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())


def _keys(keys: Iterable[Key]) -> list[dict[str, str]]:
    return [{"namespace": namespace, "name": name} for namespace, name in map(object_key, keys)]
