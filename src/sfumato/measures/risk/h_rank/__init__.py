"""The h-rank: how many people hide each record from an attacker who knows true values."""
