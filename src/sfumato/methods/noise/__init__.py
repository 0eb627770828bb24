"""Probabilistic anonymisation: noise of known variance, which an analysis can take out again."""

from sfumato.methods.noise.method import Noise

__all__ = ["Noise"]
