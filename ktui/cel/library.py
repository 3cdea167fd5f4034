"""The CEL library, without the command line that its package loads with it.

`import cel` also imports the package's own command (typer, Rich, prompt-toolkit): 0.3 s that a person would wait for, before the
first selector, for something that is never used. So only the extension module inside of the package is loaded.
"""

from __future__ import annotations

import sys
import threading
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Final

from ktui.cel.arguments import Function
from ktui.cel.syntax import Unsupported

if TYPE_CHECKING:
    from cel import Context, Program

_EXTENSION: Final = "cel.cel"
_LOADING: Final = threading.Lock()


def compiled(text: str) -> Program:
    """Raises Unsupported for what the library does not read."""
    try:
        program: Program = _library().compile(text)
    except ValueError:
        raise Unsupported("the CEL library does not read it") from None
    return program


def context(functions: dict[str, Function]) -> Context:
    """What a program may call."""
    made: Context = _library().Context(functions=dict(functions))
    return made


def _library() -> ModuleType:
    with _LOADING:
        if _EXTENSION in sys.modules:
            return sys.modules[_EXTENSION]
        package = find_spec("cel")
        spec = PathFinder.find_spec(_EXTENSION, package.submodule_search_locations) if package else None
        if spec is None or spec.loader is None:
            raise ImportError("the package common-expression-language has no extension module", name=_EXTENSION)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        # Registered, so that an `import cel` elsewhere in the process finds it: it is not initialised twice.
        sys.modules[_EXTENSION] = module
        return module
