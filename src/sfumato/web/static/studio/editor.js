// The plan's text: lines of problems, Ctrl+Enter, a plan from a file, and nothing typed is lost by a change elsewhere.

const area = () => document.querySelector("#plan textarea[data-plan]");
const alarm = document.getElementById("alarm");

function typed() {
  const text = area();
  return text !== null && text.value !== text.defaultValue;
}

// A problem's line: the cursor goes there, and the line is marked.
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-line]");
  const text = area();
  if (!button || !text) return;
  const lines = text.value.split("\n");
  const at = Math.min(Number(button.dataset.line), lines.length) - 1;
  const begin = lines.slice(0, at).reduce((sum, line) => sum + line.length + 1, 0);
  text.focus();
  text.setSelectionRange(begin, begin + lines[at].length);
  const high = text.scrollHeight / lines.length;
  text.scrollTop = Math.max(0, (at - 3) * high);
  text.scrollIntoView({ block: "nearest" });
});

// Ctrl+Enter takes what was typed; Tab leaves the text, as everywhere.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.target !== area()) return;
  event.preventDefault();
  event.target.form.requestSubmit();
});

function refused(sentence) {
  alarm.textContent = sentence;
  alarm.hidden = false;
  alarm.scrollIntoView({ block: "nearest" });
}

// A plan from a file is put where it could have been typed, with what it changes below; or it is compared alone.
document.addEventListener("change", async (event) => {
  const field = event.target.closest?.("[data-plan-file], [data-plan-beside]");
  const chosen = field?.files?.[0];
  const text = area();
  if (!chosen || !text) return;
  if (chosen.size > 1 << 20) { refused("This is too large for a plan."); return; }
  let read;
  try {
    read = new TextDecoder("utf-8", { fatal: true }).decode(await chosen.arrayBuffer());
  } catch {
    refused("This file is no text in UTF-8, so it is no plan.");
    return;
  }
  field.value = "";
  window.htmx.ajax("POST", "/pages/plan/diff", { target: "#plan-beside", values: { text: read, name: chosen.name } });
  if (!("planFile" in field.dataset)) return;
  text.form.elements.ends.value = /\r\n/.test(read) && !/(^|[^\r])\n/.test(read) ? "crlf" : "";
  text.value = read;
  text.dispatchEvent(new Event("input", { bubbles: true }));
  text.focus();
});

document.addEventListener("reset", (event) => {
  if (!event.target.contains(area())) return;
  event.target.elements.ends.value = ""; // a hidden field is not put back
  setTimeout(() => area().dispatchEvent(new Event("input", { bubbles: true })));
});

// What was typed into the plan and not taken would be lost by a change on the page: it waits.
document.addEventListener("htmx:beforeRequest", (event) => {
  const { verb, path } = event.detail.requestConfig;
  const own = path === "/pages/plan" || path === "/pages/plan/check" || path === "/pages/plan/diff";
  if (verb === "get" || own || !typed() || !event.detail.elt.isConnected) return;
  event.preventDefault();
  alarm.textContent = "You typed into the plan: take what was typed, or put back what was there. Then change this.";
  alarm.hidden = false;
  event.detail.elt.closest("form")?.reset();
  area().focus();
});

// A page that is left with something typed asks first.
window.addEventListener("beforeunload", (event) => {
  if (typed()) event.preventDefault();
});
