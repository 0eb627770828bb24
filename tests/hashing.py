"""Argon2 as the gate uses it, but for the work."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["cheap_hasher", "nobodys_hash"]


@cache
def cheap_hasher() -> Any:
    """What makes and checks hashes; hashes of others are checked too, with the work that they ask for."""
    from pwdlib import PasswordHash
    from pwdlib.hashers.argon2 import Argon2Hasher

    return PasswordHash((Argon2Hasher(time_cost=1, memory_cost=64, parallelism=1),))


@cache
def nobodys_hash() -> str:
    """What the password of a name that nobody has is checked against."""
    return str(cheap_hasher().hash("a password that nobody has"))
