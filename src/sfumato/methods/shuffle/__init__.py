"""Shuffle values between records so that ranks keep their relations."""

from sfumato.methods.shuffle.method import Shuffle

__all__ = ["Shuffle"]
