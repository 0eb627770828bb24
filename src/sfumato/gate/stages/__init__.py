"""How it is shown that a criterion holds, or does not: from the cheap to the dear."""
