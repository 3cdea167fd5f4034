"""The grammar of the Common Expression Language, as far as selectors need it: text in, a tree out.

Precedence, literals and escapes are those of the language definition (cel-spec, doc/langdef.md). What the grammar allows and
this parser does not read (unsigned numbers, bytes, messages, optional entries of literals) raises `Unsupported`, like any
syntax error: the caller cannot tell what the expression means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

MAX_LENGTH: Final = 10 * 1024
"""Characters; resource/v1 CELSelectorExpressionMaxLength."""

_MAX_DEPTH: Final = 40  # far more than people write; keeps recursion here and in the library harmless
_MAX_DIGITS: Final = 64  # Python refuses to read numbers of thousands of digits
_INT64: Final = range(-(2**63), 2**63)


class Unsupported(Exception):
    """This expression is outside of what can be judged; `str()` says why in a few words."""


@dataclass(frozen=True, slots=True)
class Literal:
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Ident:
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """operand.name, or operand.?name."""

    operand: Node
    name: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """operand[key], or operand[?key]."""

    operand: Node
    key: Node
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """name(args) where target is None, else target.name(args)."""

    target: Node | None
    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with its operands in order; "&&" and "||" take two or more, "?:" three, "neg" and "!" one."""

    operator: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ListLiteral:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MapLiteral:
    entries: tuple[tuple[Node, Node], ...]


Node = Literal | Ident | Select | Index | Call | Operation | ListLiteral | MapLiteral


def parse(expression: str) -> Node:
    """Raises Unsupported for a syntax error, too much text, or nesting deeper than any selector needs."""
    if len(expression) > MAX_LENGTH:
        raise Unsupported(f"longer than {MAX_LENGTH} characters")
    parser = _Parser(_tokens(expression))
    node = parser.expression()
    parser.expect("end", "")
    return node


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # "string" "float" "int" "ident" "punct" "end"
    text: str


_STRING: Final = r"""(?:"{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\r\n])*"|'(?:\\.|[^'\\\r\n])*')"""
_RAW: Final = r"""[rR](?:"{3}[\s\S]*?"{3}|'{3}[\s\S]*?'{3}|"[^"\r\n]*"|'[^'\r\n]*')"""
_TOKEN: Final = re.compile(
    rf"""(?P<space>(?:[ \t\r\n\f]+|//[^\n]*)+)
    |(?P<raw>{_RAW})
    |(?P<string>{_STRING})
    |(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<int>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<ident>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<punct>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{{}}])""",
    re.VERBOSE | re.DOTALL,
)
_RESERVED: Final = frozenset(
    {"as", "break", "const", "continue", "else", "for", "function", "if", "import", "in", "let", "loop", "namespace"}
    | {"package", "return", "var", "void", "while"}
)
_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    **{c: c for c in "\\?\"'`"},
}
_ESCAPE: Final = re.compile(
    r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL
)


def _tokens(text: str) -> list[_Token]:
    found = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Unsupported(f"not understood at character {at + 1}")
        at = match.end()
        kind = str(match.lastgroup)
        if kind == "raw":
            found.append(_Token("string", _unquote(match[0][1:])))
        elif kind == "string":
            found.append(_Token("string", _ESCAPE.sub(_unescape, _unquote(match[0]))))
        elif kind != "space":
            found.append(_Token(kind, match[0]))
    found.append(_Token("end", ""))
    return found


def _unquote(quoted: str) -> str:
    width = 3 if quoted[:3] in ('"""', "'''") else 1
    inner = quoted[width:-width]
    return inner if width == 1 else inner.replace("\r\n", "\n").replace("\r", "\n")


def _unescape(match: re.Match[str]) -> str:
    *numbers, letter = match.groups()
    if letter is not None:
        if letter not in _ESCAPES:
            raise Unsupported("unknown escape in a string")
        return _ESCAPES[letter]
    byte, short, long, octal = numbers
    code = int(octal, 8) if octal else int(byte or short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise Unsupported("a string escapes what is no character")
    return chr(code)


_BINARY: Final = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
    "&&": 2,
    "||": 1,
}
_CONSTANTS: Final = {"true": True, "false": False, "null": None}


class _Parser:
    """Precedence climbing: one recursion for each level of nesting in the text, whatever operators there are."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def expression(self) -> Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unsupported("nested too deeply")
        node = self._binary(1)
        if self._accept("?"):
            then = self._binary(1)
            self.expect("punct", ":")
            node = Operation("?:", (node, then, self.expression()))
        self._depth -= 1
        return node

    def expect(self, kind: str, text: str) -> None:
        token = self._next()
        if token != _Token(kind, text):
            self._refuse(token)

    def _binary(self, lowest: int) -> Node:
        left = self._unary()
        length = 0
        while (precedence := _BINARY.get(operator := self._operator(), 0)) >= lowest:
            self._at += 1
            right = self._binary(precedence + 1)
            if operator in ("&&", "||") and isinstance(left, Operation) and left.operator == operator:
                # Both are associative: a flat chain of any length costs no depth.
                left = Operation(operator, (*left.operands, right))
            else:
                length = self._longer(length)
                left = Operation(operator, (left, right))
        return left

    def _operator(self) -> str:
        token = self._tokens[self._at]
        return token.text if token.kind == "punct" or token == _Token("ident", "in") else ""

    def _unary(self) -> Node:
        for symbol, name in (("!", "!"), ("-", "neg")):
            times = 0
            while self._accept(symbol):
                times += 1
            if times:
                return self._signed(name, times)
        return self._member()

    def _signed(self, name: str, times: int) -> Node:
        # "--x" is x, as the reference implementation reads it; a number takes its sign with it.
        following = self._tokens[self._at]
        if name == "neg" and times % 2 and following.kind in ("int", "float"):
            self._at += 1
            return self._selectors(_number(following, negative=True))
        operand = self._member()
        return Operation(name, (operand,)) if times % 2 else Operation(name, (Operation(name, (operand,)),))

    def _member(self) -> Node:
        return self._selectors(self._primary())

    def _selectors(self, node: Node) -> Node:
        length = 0
        while True:
            if self._accept("."):
                optional = self._accept("?")
                name = self._name()
                node = (
                    Call(node, name, self._until(")"))
                    if not optional and self._accept("(")
                    else Select(node, name, optional)
                )
            elif self._accept("["):
                optional = self._accept("?")
                node = Index(node, self.expression(), optional)
                self.expect("punct", "]")
            else:
                return node
            length = self._longer(length)

    def _primary(self) -> Node:
        token = self._next()
        if token.kind == "string":
            return Literal(token.text)
        if token.kind in ("int", "float"):
            return _number(token, negative=False)
        if token.kind == "ident":
            return self._identifier(token)
        if token == _Token("punct", "("):
            node = self.expression()
            self.expect("punct", ")")
            return node
        if token == _Token("punct", "["):
            return ListLiteral(self._until("]"))
        if token == _Token("punct", "{"):
            return self._map()
        return self._refuse(token)

    def _identifier(self, token: _Token) -> Node:
        if token.text in _CONSTANTS:
            return Literal(_CONSTANTS[token.text])
        if token.text in _RESERVED:
            self._refuse(token)
        if self._tokens[self._at].kind == "string":
            raise Unsupported("bytes")
        if self._accept("("):
            return Call(None, token.text, self._until(")"))
        return Ident(token.text)

    def _until(self, closing: str) -> tuple[Node, ...]:
        items: list[Node] = []
        while not self._accept(closing):
            if items:
                self.expect("punct", ",")
                if closing == "]" and self._accept(closing):
                    break
            items.append(self.expression())
        return tuple(items)

    def _map(self) -> Node:
        entries: list[tuple[Node, Node]] = []
        while not self._accept("}"):
            if entries:
                self.expect("punct", ",")
                if self._accept("}"):
                    break
            key = self.expression()
            self.expect("punct", ":")
            entries.append((key, self.expression()))
        return MapLiteral(tuple(entries))

    def _name(self) -> str:
        token = self._next()
        if token.kind != "ident" or token.text in ("in", *_CONSTANTS):
            self._refuse(token)
        return token.text

    def _accept(self, symbol: str) -> bool:
        if self._tokens[self._at] == _Token("punct", symbol):
            self._at += 1
            return True
        return False

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def _longer(self, length: int) -> int:
        if length >= _MAX_DEPTH:
            raise Unsupported("a chain too long")
        return length + 1

    def _refuse(self, token: _Token) -> NoReturn:
        raise Unsupported(f"unexpected {token.text!r}" if token.text else "it ends too early")


def _number(token: _Token, negative: bool) -> Literal:
    sign = "-" if negative else ""
    if token.kind == "float":
        return Literal(float(sign + token.text))
    if len(token.text) < _MAX_DIGITS:
        value = int(sign + token.text, 16 if token.text.startswith("0x") else 10)
        if value in _INT64:
            return Literal(value)
    raise Unsupported("a number beyond 64 bits")
