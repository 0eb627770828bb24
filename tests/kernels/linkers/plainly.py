"""The linkers written out with whole matrices of pairs, by their definition: what the kernels are held against."""

import numpy as np


def tables(seed, people=40, records=30, categories=(3, 2, 4), numbers=2, missing=0.0):
    """Random keys of people and of records: codes (c, n), numbers (q, n), both with many ties."""
    rng = np.random.default_rng(seed)

    def one(n):
        codes = np.array([rng.integers(0, k, n) for k in categories], dtype=np.int32).reshape(len(categories), n)
        values = rng.integers(0, 9, (numbers, n)).astype(float)
        codes[rng.random(codes.shape) < missing] = -1
        values[rng.random(values.shape) < missing] = np.nan
        return codes, values

    return one(people), one(records)


def gower(people, records, spread, wildcard):
    """Distances of all pairs, shape (people, records)."""
    (a, x), (b, z) = people, records
    out = np.zeros((a.shape[1], b.shape[1]))
    for k in range(len(a)):
        free = (a[k][:, None] < 0) | (b[k][None] < 0)
        out += np.where(free, 0.5, a[k][:, None] != b[k][None])
    for k in range(len(x)):
        if spread[k] <= 0:
            continue
        one, two = np.isnan(x[k])[:, None], np.isnan(z[k])[None]
        d = np.abs(x[k][:, None] - z[k][None]) / spread[k]
        apart = np.where(one | two, 0.5, d) if wildcard else np.where(one & two, 0.0, np.where(one | two, 1.0, d))
        out += apart
    return out


def levels(people, records, sd, wildcard):
    """Levels of all pairs, an array (people, records) for each key; −1 where a comparison tells nothing."""
    (a, x), (b, z) = people, records
    out = []
    for k in range(len(a)):
        free = (a[k][:, None] < 0) | (b[k][None] < 0)
        out.append(np.where(free, -1, (a[k][:, None] != b[k][None]).astype(int)))
    for k in range(len(x)):
        one, two = np.isnan(x[k])[:, None], np.isnan(z[k])[None]
        d = np.abs(x[k][:, None] - z[k][None])
        d = np.where(one & two, 0.0, np.where(one | two, np.inf, d))
        level = np.where(d <= 0.1 * sd[k] + 1e-12, 0, np.where(d <= 0.4 * sd[k] + 1e-12, 1, 2))
        out.append(np.where(wildcard & (one | two), -1, level))
    return out


def shares(level, width, weight, added=0.0):
    total = np.array([weight[level == j].sum() for j in range(width)]) + added
    return total / total.sum()


def learn(level, widths, prior, added):
    """m by expectation and maximisation over all pairs, and u."""
    u = [shares(x, w, np.ones(x.shape)) for x, w in zip(level, widths, strict=True)]
    m = [np.array([0.8, *[0.2 / (w - 1)] * (w - 1)]) for w in widths]
    for _ in range(3000):
        true, other = np.full(level[0].shape, prior), np.full(level[0].shape, 1 - prior)
        for x, own, all_ in zip(level, m, u, strict=True):
            true *= np.where(x >= 0, own[np.maximum(x, 0)], 1)
            other *= np.where(x >= 0, all_[np.maximum(x, 0)], 1)
        weight = true / (true + other)
        new = [shares(x, w, weight, added) for x, w in zip(level, widths, strict=True)]
        done = max(np.abs(one - two).max() for one, two in zip(m, new, strict=True)) < 1e-11
        m = new
        if done:
            break
    return m, u


def weights(people, records, level, m, u, sizes):
    """Weights of all pairs."""
    (a, _), (b, _) = people, records
    out = np.zeros(level[0].shape)
    for k, size in enumerate(sizes):
        known = b[k][b[k] >= 0]
        p = np.bincount(known, minlength=size) / max(len(known), 1)
        for i in range(len(out)):
            for j in range(out.shape[1]):
                if level[k][i, j] == 0:
                    out[i, j] += np.log2(m[k][0] / p[a[k][i]])
                elif level[k][i, j] == 1:
                    out[i, j] += np.log2(max(1 - m[k][0], 1e-9) / (1 - (p**2).sum()))
    for k in range(len(sizes), len(level)):
        ratio = np.log2(m[k] / u[k])
        out += np.where(level[k] >= 0, ratio[np.maximum(level[k], 0)], 0)
    return out
