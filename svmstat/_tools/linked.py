"""How numba compiles functions that only other compiled functions call.

Numba makes machine code of every function, and links its own representation of it into whatever calls it, to be
optimised there together with the caller and made machine code of once more. What Python never calls is spared the first
of these: a tenth of the first report of a new installation.
"""

from typing import Any

from llvmlite.binding import parse_assembly
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder

_ENVIRONMENT = "_ZN08NumbaEnv"
"""What the name of a variable begins with in which numba keeps the constants of a function."""


class _Linked(JITCodeLibrary):
    """A function to be linked into others: these optimise it with what is their own, and make machine code of it."""

    def _optimize_final_module(self) -> None:
        """That is left to them."""

    def _finalize_final_module(self) -> None:
        """Make machine code of nothing but the variables of environments, which numba looks for to set them."""
        whole = self._final_module
        environments = [str(each) for each in whole.global_variables if each.name.startswith(_ENVIRONMENT)]
        self._finalize_dynamic_globals()
        self._final_module = parse_assembly("\n".join([f'target triple = "{whole.triple}"', *environments]))
        self._final_module.name, self._final_module.data_layout = whole.name, whole.data_layout
        super()._finalize_final_module()
        self._final_module = whole


class LinkedOnly(CompilerBase):
    """Numba's own passes, for a function that is linked only: a ``pipeline_class`` of `numba.njit`."""

    def define_pipelines(self) -> list[Any]:
        """The passes, the last of which takes the library that is there."""
        self.state.library = _Linked(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]
