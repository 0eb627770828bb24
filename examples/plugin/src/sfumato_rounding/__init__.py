"""A method and a measure for sfumato: `round_to` and `values_left`."""
