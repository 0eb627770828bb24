"""Points that stand for many records of one hidden number, to tell mixtures of its distribution apart quickly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.covariates.moments import LAWS
from sfumato.kernels.likelihood.deconvolution import thinned
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture, Group
from sfumato.kernels.likelihood.mixture import Patterns
from sfumato.kernels.likelihood.quadrature import true_value_nodes
from sfumato.kernels.likelihood.released import Law
from sfumato.kernels.likelihood.response import Silent

__all__ = ["Points"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Points:
    """Rows of a likelihood, one a point, or one a node of a point where its noise is not normal.

    Parameters
    ----------
    z, weight, log_node : ndarray, shape (N,)
        As `GaussianMixture` has them.
    groups
        Likewise.
    """

    z: Floats
    weight: Floats
    log_node: Floats
    groups: list[Group]

    @classmethod
    def of(cls, u: Floats, weight: Floats, variance: Floats, law: Ints) -> Points:
        """Points for records.

        Parameters
        ----------
        u, weight : ndarray, shape (n,)
            What was released, less what exact covariates explain; weights.
        variance : ndarray, shape (n,)
            Of the noise.
        law : ndarray, shape (n,)
            Its law, as a place in `LAWS`.

        Examples
        --------
        >>> few = Points.of(np.linspace(-1, 1, 500), np.ones(500), np.ones(500), np.zeros(500, dtype=np.int64))
        >>> len(few.z) < 100, float(few.weight.sum())
        (True, 500.0)
        """
        z, mass, log_node, groups, start = [], [], [], [], 0
        seen, nothing = np.zeros(1, dtype=np.int64), np.zeros((1, 1))
        kinds, which = np.unique(np.column_stack([variance, law]), axis=0, return_inverse=True)
        for k, (omega, kind) in enumerate(kinds):
            own = which.ravel() == k
            points, counts = thinned(u[own, None], weight[own])
            nodes, logs, noise = points, np.zeros((len(points), 1)), np.full((1, 1), omega)
            if LAWS[int(kind)] != "gaussian" and omega > 0:
                nodes, logs = true_value_nodes(points[:, 0], omega**0.5, Law(LAWS[int(kind)]), float(u.std()))
                noise = nothing
            count = nodes.shape[1]
            z.append(nodes.ravel())
            mass.append(np.repeat(counts, count))
            log_node.append(logs.ravel())
            groups.append(Group(start, start + nodes.size, seen, noise, count))
            start += nodes.size
        return cls(np.concatenate(z), np.concatenate(mass), np.concatenate(log_node), groups)

    def model(self, parts: int, size: Floats | None) -> GaussianMixture:
        """The likelihood of a mixture.

        Parameters
        ----------
        parts
            How many normals.
        size : ndarray, shape (1, 1)
            See `GaussianMixture`.
        """
        n, nothing = len(self.z), np.zeros((parts, 0))
        return GaussianMixture(
            np.zeros((n, 0)),
            nothing,
            np.zeros(0, dtype=np.int64),
            Silent(n),
            Patterns(nothing, np.zeros((n, 0))),
            None,
            self.z[:, None],
            np.column_stack([np.ones(parts), np.eye(parts)[:, 1:]]),
            self.groups,
            self.weight,
            self.log_node,
            parts,
            size,
        )
