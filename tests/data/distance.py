"""Distance of two categories, as it is stated; the reference for `category_ladder` and for merging."""


def category_distance(variable, a, b):
    """The lowest level with the same broader category, as a share of the hierarchy's height."""
    if a == b:
        return 0.0
    if a is None or b is None or a not in variable.hierarchy or b not in variable.hierarchy:
        return 1.0
    height = max(len(above) for above in variable.hierarchy.values()) + 1
    pairs = zip(variable.hierarchy[a], variable.hierarchy[b], strict=False)
    return next((level / height for level, (x, y) in enumerate(pairs, start=1) if x == y), 1.0)
