"""Protection methods, each in a file of its own, found through the entry point group `sfumato.methods`."""

from sfumato.methods.registry import methods

__all__ = ["methods"]
