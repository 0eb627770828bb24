from sfumato.methods.top_code import TopCode

LAWFUL = [
    TopCode(columns=["x", "y"], at=9),
    TopCode(columns=["n"], quantile=0.9, by=["g"], replace="mean"),
    TopCode(columns=["y", "n"], largest=7, side="low", replace="median"),
]
