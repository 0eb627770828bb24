"""Libraries that are slow to import, and that collecting tests need not wait for."""

from importlib import import_module

__all__ = ["late"]


class _Late:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith("_"):  # pytest asks every value of a module for some
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)


def late(module):
    """The module of that name, imported as soon as something of it is asked for: `sm = late("statsmodels.api")`."""
    return _Late(module)
