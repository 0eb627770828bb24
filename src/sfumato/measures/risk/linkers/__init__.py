"""How an intruder chooses: columns of two tables in one form, and the linkers that are run on them."""
