"""Kinds of analysis, a file for each."""
