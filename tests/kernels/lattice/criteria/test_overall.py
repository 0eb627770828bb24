import numpy as np

from sfumato.kernels.lattice.criteria.overall import AverageRisk, PopulationUniques, SampleUniques
from tests.kernels.lattice.criteria.classes import adult_classes


def test_average_risk_of_the_generalised_adult_file(shared_data):
    """0.0100714529, ten decimals of which are printed."""
    sizes = adult_classes(shared_data).sizes
    assert not AverageRisk(0.0100714530).fails_all(sizes)
    assert AverageRisk(0.0100714528).fails_all(sizes)


def test_a_boundary_passes():
    assert not AverageRisk(0.3).fails_all(np.array([4, 3, 3]))
    assert not SampleUniques(0.1).fails_all(np.array([1, 5, 4]))
    assert SampleUniques(0.1).fails_all(np.array([1, 1, 8]))


def test_uniques_of_the_population_are_as_estimated():
    """The estimate gets the sizes of the classes that are kept."""
    criterion = PopulationUniques(0.2, lambda sizes: float((sizes == 1).sum()) / 10)
    assert not criterion.fails_all(np.array([1, 1, 5]))
    assert criterion.fails_all(np.array([1, 1, 1]))
