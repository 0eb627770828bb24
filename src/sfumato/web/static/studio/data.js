// The page Data: its address says what is searched for, all boxes at once, lines anew when the plan was changed beside them.

const filter = () => document.getElementById("filter");

function address() {
  const form = filter();
  if (!form) return;
  const query = new URLSearchParams(location.search);
  for (const [name, value] of new FormData(form)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  query.delete("plan");
  history.replaceState(null, "", query.size ? "/data?" + query : "/data");
}

document.addEventListener("input", (event) => { if (event.target.form === filter()) address(); });
document.addEventListener("submit", (event) => { if (event.target === filter()) event.preventDefault(); });

document.addEventListener("change", (event) => {
  if (!event.target.matches?.("[data-all]")) return;
  for (const box of document.querySelectorAll('input[form="bulk"][name="name"]')) box.checked = event.target.checked;
});

// The plan was changed beside these parts (undone, typed): they are fetched again. Their own changes show themselves.
let tag = null;
let own = false;

document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.requestConfig.verb === "post") own = event.detail.elt.closest("#variables") !== null;
});

document.addEventListener("htmx:afterSettle", () => {
  const now = document.querySelector("#plan input[name=tag]")?.value;
  if (!now || now === tag) return;
  const before = tag;
  tag = now;
  if (before === null || own) return;
  for (const part of document.querySelectorAll("[data-plan-part]")) htmx.trigger(part, "plan");
});

// A line that was changed is another one: the keyboard goes on where it was.
document.addEventListener("htmx:afterRequest", (event) => {
  const { verb, elt } = event.detail.requestConfig;
  const row = verb === "post" ? rows.get(elt) : undefined;
  rows.delete(elt);
  if (!row) return;
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById(row)?.querySelector("summary[aria-label^=Change]")?.focus();
  });
});

const rows = new Map();
document.addEventListener("htmx:beforeRequest", (event) => {
  const row = event.detail.elt.closest?.("tr[id]");
  if (row) rows.set(event.detail.requestConfig.elt, row.id);
});
