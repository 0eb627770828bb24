"""Exchange categories at random with known probabilities: the post-randomisation method (PRAM)."""

from sfumato.methods.pram.method import Pram

__all__ = ["Pram"]
