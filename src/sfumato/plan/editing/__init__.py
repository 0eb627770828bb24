"""A plan as text: edits that leave other lines as they are, steps switched off and on, undo and redo, completion."""
