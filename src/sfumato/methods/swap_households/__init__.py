"""Exchange households between areas: targeted record swapping."""

from sfumato.methods.swap_households.method import SwapHouseholds

__all__ = ["SwapHouseholds"]
