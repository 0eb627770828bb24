"""Cell keys: noise that hangs on the records in a cell, so that a cell has the same noise in every table."""
