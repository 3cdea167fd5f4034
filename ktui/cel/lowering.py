"""An expression with Kubernetes' meaning, written as one that the CEL library evaluates.

What the library shares with Kubernetes stays as it is: literals, && || ! ?:, order, arithmetic of numbers, the macros of one
variable. The rest is turned into calls of `functions`. Such a call answers with a map that holds the result under "v", or with
an empty one where the language has an error: the library then raises its own "no such key", and && and || absorb it as they
absorb any error.

- The device never enters the library: each place that is read (`Read`) becomes a numbered call, `at(0)`.
- `cel.bind(x, init, body)` becomes body with init in place of x, at the level of the tree. CEL has no side effects and
  evaluates init only where x is used, so this is what it means. Variables of macros get fresh names; none can be captured.
- A macro of two variables becomes one that goes through pairs.

Kubernetes type-checks an expression before it stores it; here it is taken for granted that it did.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ktui.cel.arguments import Function
from ktui.cel.functions import GLOBALS, METHODS
from ktui.cel.operators import OPERATORS
from ktui.cel.reading import Read
from ktui.cel.syntax import Call, Ident, Index, ListLiteral, Literal, MapLiteral, Node, Operation, Select, Unsupported

_MAX_DEPTH: Final = 90  # the library reads up to 100
_MAX_NODES: Final = 20_000  # bindings inside of bindings can double the text each time
_NAMESPACES: Final = frozenset({"sets", "lists", "optional"})
_OVERLOADED: Final = frozenset({"isSorted", "sum", "min", "max", "sort"})
_TYPES: Final = frozenset({"bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"})
_CALLED: Final = {"==": "equal", "!=": "unequal", "in": "in", "+": "plus", "neg": "negative"}
_MAPS: Final = frozenset({"attributes", "capacity"})
_FIELDS: Final = frozenset({"driver", "allowMultipleAllocations", *_MAPS})


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a macro: `text` is how it is written in the lowered expression."""

    text: str
    element: int | None = None
    """Which of a pair it is, for macros of two variables."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable of cel.bind: the expression it stands for, and what that expression's own variables stand for."""

    node: Node
    scope: Scope


Scope = dict[str, "Variable | Binding"]


@dataclass(frozen=True, slots=True)
class Fold:
    """A macro `exists` (decided by true) or `all` (decided by false): an error of one item counts only where none decides."""

    text: str
    """The predicate, lowered."""
    variables: tuple[str, ...]
    """Of the macros around it, and its own as the last."""
    decides: bool


@dataclass(frozen=True, slots=True)
class Lowered:
    text: str
    reads: tuple[Read, ...]
    """What `at(N)`, `present(N)` and `maybe(N)` stand for."""
    functions: dict[str, Function]
    folds: tuple[Fold, ...]
    """What `fold0(…)` and so on stand for."""


def lower(node: Node) -> Lowered:
    """Raises Unsupported for what cannot be said with the library and `functions`."""
    lowering = _Lowering()
    text = lowering.node(node, {})
    return Lowered(text, tuple(lowering.reads), lowering.functions, tuple(lowering.folds))


@dataclass(slots=True)
class _Lowering:
    reads: list[Read] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    folds: list[Fold] = field(default_factory=list)
    _variables: int = 0
    _nodes: int = 0
    _depth: int = 0
    _open: list[str] = field(default_factory=list)

    def node(self, node: Node, scope: Scope) -> str:
        self._nodes += 1
        if self._nodes > _MAX_NODES or self._depth >= _MAX_DEPTH:
            raise Unsupported("nested too deeply")
        self._depth += 1
        text = self._dispatch(node, scope)
        self._depth -= 1
        return text

    def _dispatch(self, node: Node, scope: Scope) -> str:
        match node:
            case Literal():
                return _literal(node.value)
            case Ident():
                return self._identifier(node, scope)
            case Select() | Index():
                return self._selection(node, scope)
            case Operation():
                return self._operation(node, scope)
            case ListLiteral():
                self._refuse_growth(node.items, scope)
                return f"[{', '.join(self._all(node.items, scope))}]"
            case MapLiteral():
                entries = [(self.node(key, scope), self.node(value, scope)) for key, value in node.entries]
                self._refuse_growth([part for entry in node.entries for part in entry], scope)
                return f"{{{', '.join(f'{key}: {value}' for key, value in entries)}}}"
            case Call():
                return self._call(node, scope)

    def _all(self, nodes: tuple[Node, ...], scope: Scope) -> list[str]:
        return [self.node(node, scope) for node in nodes]

    def _invoke(self, name: str, function: Function, *arguments: str) -> str:
        self.functions[name] = function
        return f'{name}({", ".join(arguments)})["v"]'

    def _operator(self, name: str, *arguments: str) -> str:
        return self._invoke(f"k_{name}", OPERATORS[name], *arguments)

    def _refuse_growth(self, nodes: tuple[Node, ...] | list[Node], scope: Scope) -> None:
        """[x, x] in a macro over x, repeated, is a value that doubles with each repetition."""
        if self._open and any(_mentions(node, scope) for node in nodes):
            raise Unsupported("a list or map made of a macro's variable")

    def _identifier(self, node: Ident, scope: Scope) -> str:
        bound = scope.get(node.name)
        if isinstance(bound, Binding):
            return self.node(bound.node, bound.scope)
        if bound is not None:
            return bound.text if bound.element is None else f"{bound.text}[{bound.element}]"
        if node.name in _TYPES:
            return self._operator("type", json.dumps(node.name))
        raise Unsupported("the device as a whole" if node.name == "device" else f"{node.name!r} is not known")

    # The device.

    def _selection(self, node: Select | Index, scope: Scope) -> str:
        place = self._place(node, scope)
        if place is not None:
            return self._read("maybe" if node.optional else "at", place)
        operand = self.node(node.operand, scope)
        key = json.dumps(node.name) if isinstance(node, Select) else self.node(node.key, scope)
        domains = self._place(node.operand, scope)
        if domains is not None and domains.kind in _MAPS and domains.domain is None and not node.optional:
            return self._operator("domain", operand, key)
        return self._operator("optionalSelect" if node.optional else "select", operand, key)

    def _read(self, how: str, place: Read) -> str:
        if place not in self.reads:
            self.reads.append(place)
        return f'{how}({self.reads.index(place)})["v"]'

    def _presence(self, place: Read) -> str:
        return self._read("present", replace(place, presence=True))

    def _place(self, node: Node, scope: Scope) -> Read | None:
        """What of the device an expression names, where that can be known: a field, a domain, or one entry of a domain."""
        node, scope = _resolved(node, scope)
        if not isinstance(node, Select | Index):
            return None
        inner, inner_scope = _resolved(node.operand, scope)
        if inner == Ident("device") and "device" not in inner_scope:
            return _device_field(node)
        outer = self._place(inner, inner_scope)
        if outer is None or outer.kind not in _MAPS or outer.name is not None or _is_optional(inner):
            return None
        if outer.domain is None and inner is not node.operand:
            # Bound by cel.bind, the map loses its default in Kubernetes, but only where a device has no entries at all.
            raise Unsupported("a name bound to all domains")
        key = _key(node, scope)
        if key is None:
            return None
        return Read(outer.kind, key) if outer.domain is None else Read(outer.kind, outer.domain, key)

    # Operators.

    def _operation(self, node: Operation, scope: Scope) -> str:
        if node.operator == "in" and node.operands[1] == ListLiteral(()):
            return "false"  # Kubernetes does not even look at the item
        if node.operator == "in" and (place := self._entry(node.operands[0], node.operands[1], scope)) is not None:
            return self._presence(place)
        operands = self._all(node.operands, scope)
        if node.operator == "in" and _is_constant_list(node.operands[1]):
            return self._operator("inConstants", *operands)
        if node.operator in _CALLED:
            return self._operator(_CALLED[node.operator], *operands)
        if node.operator == "!":
            return f"(!{operands[0]})"
        if node.operator == "?:":
            return f"({operands[0]} ? {operands[1]} : {operands[2]})"
        return f"({f' {node.operator} '.join(operands)})"

    def _entry(self, key: Node, container: Node, scope: Scope) -> Read | None:
        """The place whose presence `key in container` asks for, where both are known."""
        key, _ = _resolved(key, scope)
        place = self._place(container, scope)
        if (
            place is None
            or place.kind not in _MAPS
            or place.name is not None
            or _is_optional(_resolved(container, scope)[0])
        ):
            return None
        if not isinstance(key, Literal) or not isinstance(key.value, str):
            return None
        return Read(place.kind, key.value) if place.domain is None else Read(place.kind, place.domain, key.value)

    # Calls and macros.

    def _call(self, node: Call, scope: Scope) -> str:
        if node.target is None:
            if node.name == "has":
                return self._has(node.args, scope)
            return self._global(node.name, node.args, scope)
        if isinstance(node.target, Ident) and node.target.name not in scope:
            if node.target.name == "cel" and node.name == "bind" and len(node.args) == 3:
                return self.node(node.args[2], {**scope, _variable(node.args[0]): Binding(node.args[1], scope)})
            if node.target.name in _NAMESPACES:
                return self._global(f"{node.target.name}.{node.name}", node.args, scope)
        macro = _MACROS.get((node.name, len(node.args)))
        if macro is not None:
            return macro(self, node.target, node.name, node.args, scope)
        if node.name == "matches" and len(node.args) == 1:
            return self._matches(node.target, node.args[0], scope)
        return self._method(node.target, node.name, node.args, scope)

    def _global(self, name: str, args: tuple[Node, ...], scope: Scope) -> str:
        function = GLOBALS.get((name, len(args)))
        if function is None:
            raise Unsupported(f"{name}() is not known")
        return self._invoke(f"g_{name.replace('.', '_')}", function, *self._all(args, scope))

    def _method(self, target: Node, name: str, args: tuple[Node, ...], scope: Scope) -> str:
        function = METHODS.get((name, len(args) + 1))
        if function is None:
            raise Unsupported(f"{name}() is not known")
        if name == "distinct" and any(_identifiers(target)):
            raise Unsupported("distinct() of what may be no list, on which Kubernetes gives up")
        if name in _OVERLOADED and self._place(target, scope) is None and any(_identifiers(target)):
            # Kubernetes' type checker settles for one type of the items, and with a list of another it fails.
            raise Unsupported(f"{name}() of a list whose type is only known when it is there")
        return self._invoke(f"m_{name}", function, self.node(target, scope), *self._all(args, scope))

    def _has(self, args: tuple[Node, ...], scope: Scope) -> str:
        if len(args) != 1 or not isinstance(args[0], Select) or args[0].optional:
            raise Unsupported("has() of what is no field")
        place = self._place(args[0], scope)
        if place is None:
            return self._operator("hasField", self.node(args[0].operand, scope), json.dumps(args[0].name))
        # The fields of a device are always there, and so is every domain, if only as an empty map.
        return "true" if place.name is None else self._presence(place)

    def _matches(self, target: Node, pattern: Node, scope: Scope) -> str:
        pattern, _ = _resolved(pattern, scope)
        if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
            raise Unsupported("a regular expression that is computed")
        if not _SHARED_SYNTAX.match(pattern.value) or _copies(pattern.value) > _MAX_COPIES:
            raise Unsupported("a regular expression of unusual form")
        return f"{self._operator('plainText', self.node(target, scope))}.matches({_literal(pattern.value)})"

    def one_variable(self, target: Node, name: str, args: tuple[Node, ...], scope: Scope) -> str:
        """all, exists, exists_one, existsOne, filter, map."""
        return self._macro("items", target, name, args[1:], {_variable(args[0]): None}, scope)

    def two_variables(self, target: Node, name: str, args: tuple[Node, ...], scope: Scope) -> str:
        """all, exists, exists_one, existsOne, transformList with an index or a key before the value."""
        first, second = _variable(args[0]), _variable(args[1])
        if first == second:
            raise Unsupported("a macro with twice the same variable")
        name = "map" if name == "transformList" else name
        return self._macro("pairs", target, name, args[2:], {first: 0, second: 1}, scope)

    def optional_map(self, target: Node, name: str, args: tuple[Node, ...], scope: Scope) -> str:
        """optMap, optFlatMap: the body with the value in place of the variable, where there is a value."""
        value = Call(target, "value", ())
        body = self.node(args[1], {**scope, _variable(args[0]): Binding(value, scope)})
        present = self._method(target, "hasValue", (), scope)
        if name == "optMap":
            body = self._invoke("g_optional_of", GLOBALS["optional.of", 1], body)
        return f"({present} ? {body} : {self._global('optional.none', (), scope)})"

    def optional_or(self, target: Node, name: str, args: tuple[Node, ...], scope: Scope) -> str:
        """or, orValue: the alternative is evaluated only where it is needed."""
        present = self._method(target, "hasValue", (), scope)
        value = self._method(target, "value", (), scope) if name == "orValue" else self.node(target, scope)
        return f"({present} ? {value} : {self.node(args[0], scope)})"

    def _macro(
        self,
        over: str,
        target: Node,
        name: str,
        bodies: tuple[Node, ...],
        variables: dict[str, int | None],
        scope: Scope,
    ) -> str:
        through = self._operator(over, self.node(target, scope))
        text = f"x{self._variables}"
        self._variables += 1
        around = tuple(self._open)
        self._open.append(text)
        inner = scope | {variable: Variable(text, element) for variable, element in variables.items()}
        lowered = self._all(bodies, inner)
        self._open.pop()
        if name in ("all", "exists"):
            self.folds.append(Fold(lowered[0], (*around, text), decides=name == "exists"))
            return f'fold{len(self.folds) - 1}({", ".join((through, *around))})["v"]'
        return f"{through}.{name}({', '.join((text, *lowered))})"


_MACROS: Final = {
    **{(name, 2): _Lowering.one_variable for name in ("all", "exists", "exists_one", "existsOne", "filter", "map")},
    ("map", 3): _Lowering.one_variable,
    **{(name, 3): _Lowering.two_variables for name in ("all", "exists", "exists_one", "existsOne", "transformList")},
    ("transformList", 4): _Lowering.two_variables,
    **{(name, 2): _Lowering.optional_map for name in ("optMap", "optFlatMap")},
    **{(name, 1): _Lowering.optional_or for name in ("or", "orValue")},
}

_MAX_COPIES: Final = 1000  # Go refuses more, and the library compiles a copy for each
_REPETITION: Final = re.compile(r"[^\\]\{(?:[0-9]+,)?([0-9]+)")
_CLASS_ITEM: Final = r"(?:\\[dwsDWS.\\/+*?()\[\]{}|^$-]|[A-Za-z0-9_ .,:;/+*?()|$@#%=<>!'\"]|[A-Za-z0-9]-[A-Za-z0-9])"
_SHARED_SYNTAX: Final = re.compile(
    rf"""(?:[A-Za-z0-9_ ,:;/@#%=<>!'"&~-]              # a character that stands for itself
    |\\[dwsDWSbB.\\/+*?()\[\]{{}}|^$-]                 # an escape that Go and the library read alike
    |\[\^?{_CLASS_ITEM}+-?\]
    |\((?:\?:|\?i\))?|\)|\||\^|\$|\.
    |[*+?]\??|\{{[0-9]{{1,2}}(?:,(?:[0-9]{{1,2}})?)?\}}\??
    )*\Z""",
    re.VERBOSE,
)
"""Regular expressions that mean the same in Go's regexp and in the library, and stay small when compiled."""


def _copies(pattern: str) -> int:
    """How often a part of a regular expression is repeated at most, if all repetitions were inside of each other."""
    return math.prod(int(most) or 1 for most in _REPETITION.findall(pattern))


def _variable(node: Node) -> str:
    if not isinstance(node, Ident):
        raise Unsupported("a macro without a variable")
    return node.name


def _resolved(node: Node, scope: Scope) -> tuple[Node, Scope]:
    """What a name bound by cel.bind stands for."""
    while isinstance(node, Ident) and isinstance(bound := scope.get(node.name), Binding):
        node, scope = bound.node, bound.scope
    return node, scope


def _is_optional(node: Node) -> bool:
    return isinstance(node, Select | Index) and node.optional


def _is_constant_list(node: Node) -> bool:
    return isinstance(node, ListLiteral) and bool(node.items) and all(isinstance(item, Literal) for item in node.items)


def _device_field(node: Select | Index) -> Read:
    if not isinstance(node, Select) or node.optional or node.name not in _FIELDS:
        raise Unsupported("a field that devices do not have")
    return Read(node.name)


def _key(node: Select | Index, scope: Scope) -> str | None:
    if isinstance(node, Select):
        return node.name
    key, _ = _resolved(node.key, scope)
    return key.value if isinstance(key, Literal) and isinstance(key.value, str) else None


def _mentions(node: Node, scope: Scope) -> bool:
    """Whether the variable of a macro is in `node`, itself or through a binding."""
    return any(
        _mentions(bound.node, bound.scope) if isinstance(bound := scope.get(name), Binding) else bound is not None
        for name in _identifiers(node)
    )


def _identifiers(node: Node) -> Iterator[str]:
    if isinstance(node, Ident):
        yield node.name
    for part in _parts(node):
        yield from _identifiers(part)


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Literal() | Ident():
            return ()
        case Select():
            return (node.operand,)
        case Index():
            return (node.operand, node.key)
        case Call():
            return node.args if node.target is None else (node.target, *node.args)
        case Operation():
            return node.operands
        case ListLiteral():
            return node.items
        case MapLiteral():
            return tuple(part for entry in node.entries for part in entry)


def _literal(value: str | float | bool | None) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            if "\0" in value:
                raise Unsupported("a string with a NUL")
            return json.dumps(value, ensure_ascii=False)
        case int():
            return str(value) if value >= 0 else f"({value})"
        case _:
            if value in (float("inf"), float("-inf")):
                raise Unsupported("a number beyond 64 bits")
            return f"({value!r})"
