"""Draw the picture of docs/fit.md: `.venv/bin/python docs/fit/draw.py`.

The release is that of the page, with its key, so that the picture shows the figures printed there.
"""

from __future__ import annotations

from pathlib import Path

import sfumato as sf
from sfumato.render.forest import forest_plot

HERE = Path(__file__).parent
FORMULA = "asthma ~ smoke + breastfed + mould"
VARIABLES = {
    "id": {"role": "record"},
    "asthma": {"role": "outcome", "kind": "categorical"},
    "smoke": {"role": "key", "kind": "categorical"},
    "breastfed": {"role": "key", "kind": "categorical"},
    "mould": {"role": "key", "kind": "categorical"},
}


def main() -> None:
    """Write it."""
    step = sf.steps.Noise(columns=["smoke", "breastfed", "mould"], variance=0.2)
    plan = sf.Plan(title="Asthma", variables=VARIABLES, steps=[step])
    release = sf.protect(plan, sf.examples.asthma_a(), secret=bytes(range(32)))
    fit = sf.fit(FORMULA, release.frame, release.disclosure, family="probit")
    (HERE / "forest.svg").write_bytes(forest_plot(fit, "svg"))
    print(fit.summary())


if __name__ == "__main__":
    main()
