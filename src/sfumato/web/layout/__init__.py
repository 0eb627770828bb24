"""What every page has around it, and how pages are made from their templates."""
