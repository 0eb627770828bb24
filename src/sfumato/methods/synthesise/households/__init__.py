"""Whole households: what is theirs once, then their members, head first."""
