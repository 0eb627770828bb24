"""Unions: sums of hidden cells that anyone can work out, and whether they are as safe as a cell must be."""

from sfumato.tables.unions.unions import Judged, Union, Unions

__all__ = ["Judged", "Union", "Unions"]
