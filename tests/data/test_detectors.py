"""Rules that tell a role; what they say of whole tables stands in `test_profile`."""

import numpy as np

from sfumato.data.detectors import nhs_check_digit


def test_check_digits_of_nhs_numbers():
    assert nhs_check_digit(np.array([943476591, 401023213])).tolist() == [9, 7]
