"""Bounds of the cells of a table of which only margins, or changed or gapped tables, were released."""
