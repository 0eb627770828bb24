"""Which cells to hide beside the primary ones: exactly, by cheapest flows, by elimination; in stages."""
