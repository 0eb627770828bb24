"""Arithmetic back ends: what other processors would compute with, on this one.

The last bits of a sum hang on the instructions that the processor has and on the number of threads. Linear algebra
(OpenBLAS), elementary functions (numpy) and compiled loops (numba) choose their code when they are loaded, and can be
told to take that of another processor by variables of the environment, so that each back end is a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["BACK_ENDS", "environment", "taken"]

BACK_ENDS: Mapping[str, Mapping[str, str]] = {
    "old": {"OPENBLAS_CORETYPE": "Nehalem", "threads": "1", "numpy": "baseline"},
    "haswell": {"OPENBLAS_CORETYPE": "Haswell", "threads": "2", "OPENBLAS_THREAD_TIMEOUT": "4"},
    "zen": {"OPENBLAS_CORETYPE": "Zen", "NUMBA_CPU_NAME": "generic", "threads": "1"},
    "skylake": {"OPENBLAS_CORETYPE": "SkylakeX", "threads": "1"},
}
"""Variables of the environment by name, and `threads`; with `numpy: baseline` numpy does without newer instructions.

Threads of linear algebra sleep soon (2^4 cycles) where there are several: by default they spin while others want the
core.
"""

_NEEDS = {"Nehalem": "SSE42", "Haswell": "FMA3", "Zen": "FMA3", "SkylakeX": "AVX512_SKX"}
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")


def _features() -> tuple[list[str], dict[str, bool]]:
    """What numpy can dispatch to, and what this processor has."""
    from numpy._core import _multiarray_umath as core

    return list(core.__cpu_dispatch__), dict(core.__cpu_features__)


def taken() -> list[str]:
    """Names of the back ends that this processor can run."""
    has = _features()[1]
    skylake = has.get("AVX512_SKX", has.get("X86_V4", False))
    has = {**has, "AVX512_SKX": skylake}
    return [name for name, told in BACK_ENDS.items() if has.get(_NEEDS[told["OPENBLAS_CORETYPE"]], False)]


def environment(name: str) -> dict[str, str]:
    """What stands in the environment of a process under a back end, one of `BACK_ENDS`."""
    told = dict(BACK_ENDS[name])
    out = dict.fromkeys(_THREADS, told.pop("threads"))
    if told.pop("numpy", "") == "baseline":
        dispatch, has = _features()
        out["NPY_DISABLE_CPU_FEATURES"] = " ".join(f for f in dispatch if has.get(f))
    return {**out, **told}
