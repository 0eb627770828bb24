"""Exchange values between records: rank swapping, or swapping with any record."""

from sfumato.methods.swap.method import Swap

__all__ = ["Swap"]
