// What is chosen in a form stands in the page's address, so that a reload or a link gives the same.

function told(form) {
  const chosen = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value.trim() !== "") chosen.append(name, value);
  }
  const text = chosen.toString();
  history.replaceState(null, "", location.pathname + (text ? "?" + text : ""));
}

for (const kind of ["input", "change", "submit"]) {
  document.addEventListener(kind, (event) => {
    const form = event.target.closest?.("form[data-address]");
    if (form) told(form);
  });
}
