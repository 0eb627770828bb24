from sfumato.methods.coarsen_date import CoarsenDate

LAWFUL = [
    CoarsenDate(columns=["n"], to="month", format="excel"),
    CoarsenDate(columns=["n"], to="age", reference="1980-02-01", format="excel", top=80),
    CoarsenDate(columns=["n"], to="age_band", reference="1980-02-01", format="excel"),
]
