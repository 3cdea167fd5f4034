"""Finds call sites of the UI that could have text parsed as markup or drawn without `safe` (X18).

Rule: only `ktui/ui/paint.py` builds Textual and Rich text. Elsewhere a widget, a notice or a title gets a string literal or
the result of a function of that module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

BUILDERS: Final = frozenset(("Content", "Text", "Segment", "Markdown", "RichLog", "Log", "TextArea", "DataTable"))
"""Classes that hold text as it is drawn; their methods (from_markup, assemble) count too."""
SINKS: Final = frozenset(
    ("Static", "Label", "Button", "Option", "Hit", "DiscoveryHit", "Checkbox", "RadioButton", "Select")
)
"""Classes whose first argument, or keyword below, is drawn."""
DRAWN_KEYWORDS: Final = frozenset(
    ("content", "label", "prompt", "display", "match_display", "placeholder", "tooltip", "help")
)
DRAWN_ATTRIBUTES: Final = frozenset(
    ("border_title", "border_subtitle", "tooltip", "title", "sub_title", "placeholder", "label")
)
HELPERS: Final = frozenset(("content", "plain", "report"))
POSITION: Final = {"Hit": 1}
"""Where the drawn argument stands when it is not the first."""


def violations(source: str) -> list[str]:
    """One line for each call site that breaks the rule."""
    tree = ast.parse(source)
    prepared = frozenset(_prepared_names(tree))
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr))
    return [f"{node.lineno}: {what}" for node in nodes for what in _wrong(node, prepared)]


def _prepared_names(tree: ast.AST) -> Iterator[str]:
    """Names only ever assigned from a helper."""
    assigned: dict[str, bool] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned[target.id] = assigned.get(target.id, True) and _is_helper_call(node.value)
    yield from (name for name, only_helpers in assigned.items() if only_helpers)


def _wrong(node: ast.AST, prepared: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in BUILDERS:
            yield f"{name}() outside paint.py"
        case ast.Call(func=ast.Attribute(attr="from_markup" | "from_text")):
            yield "markup is parsed"
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in BUILDERS:
            yield f"{name} is built outside paint.py"
        case ast.Call(func=ast.Attribute(attr="notify")):
            yield "notify() that does not go through paint.notify"
        case ast.Call(
            func=ast.Attribute(attr="update" | "mount_all", value=ast.Call(func=ast.Attribute(attr="query_one")))
        ):
            yield from (f"update() of a widget with {ast.unparse(a)}" for a in node.args if not _is_fine(a, prepared))
        case ast.Call(func=ast.Name(id=name)) if name in SINKS:
            drawn = node.args[POSITION.get(name, 0) :][:1]
            drawn += [keyword.value for keyword in node.keywords if keyword.arg in DRAWN_KEYWORDS]
            yield from (f"{name}() with {ast.unparse(value)}" for value in drawn if not _is_fine(value, prepared))
        case ast.Call() if any(keyword.arg == "markup" and _is_true(keyword.value) for keyword in node.keywords):
            yield "markup=True"
        case ast.Assign(targets=[ast.Attribute(attr=attribute)], value=value) if attribute in DRAWN_ATTRIBUTES:
            if not _is_fine(value, prepared):
                yield f"{attribute} = {ast.unparse(value)}"


def _is_fine(node: ast.expr, prepared: frozenset[str]) -> bool:
    if isinstance(node, ast.Constant):
        return True
    return _is_helper_call(node) or (isinstance(node, ast.Name) and node.id in prepared)


def _is_helper_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in HELPERS


def _is_true(node: ast.expr) -> bool:
    return not (isinstance(node, ast.Constant) and node.value is False)
