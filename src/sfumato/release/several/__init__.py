"""Releases of several tables under one plan: nothing between them but the links that it declares."""
