"""Models and statistics behind the gate: exact where the tables that give them are safe, else with noise."""
