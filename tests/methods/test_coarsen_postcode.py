from sfumato.methods.coarsen_postcode import CoarsenPostcode

LAWFUL = [CoarsenPostcode(columns=["g", "h"], to="area"), CoarsenPostcode(columns=["g"], to="area", invalid="keep")]
