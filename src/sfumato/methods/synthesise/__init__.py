"""Draw values from models in the place of true ones."""
