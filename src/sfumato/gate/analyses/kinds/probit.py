"""Probit regression."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "probit",
    "Probit regression",
    statbarn="coefficients of association",
    sentence="Coefficients of a probit model of a binary response.",
    example="died ~ age + C(ward)",
    response="binary",
)
