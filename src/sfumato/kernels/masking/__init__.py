"""Changing values: noise, exchanged ranks, exchanged categories."""
