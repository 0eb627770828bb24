// What all pages need: the header of changes, focus and a word after parts of a page came, the switch of themes.

const said = document.getElementById("said");
const alarm = document.getElementById("alarm");

let forgetting;

function say(text) {
  if (!said) return;
  clearTimeout(forgetting);
  said.textContent = "";
  requestAnimationFrame(() => { said.textContent = text; });
  forgetting = setTimeout(() => { said.textContent = ""; }, 3000);
}

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-Sfumato"] = "1";
});

document.addEventListener("htmx:beforeRequest", (event) => {
  event.detail.elt.closest("form")?.setAttribute("aria-busy", "true");
});

document.addEventListener("htmx:afterRequest", (event) => {
  event.detail.elt.closest?.("form")?.removeAttribute("aria-busy");
});

document.addEventListener("htmx:afterSwap", (event) => {
  const part = event.detail.target;
  if (part === alarm) {
    alarm.hidden = false;
    alarm.scrollIntoView({ block: "nearest" });
    return;
  }
  const first = part.matches("[data-focus]") ? part : part.querySelector("[data-focus]");
  if (first) {
    if (!first.hasAttribute("tabindex")) first.tabIndex = -1;
    first.focus({ preventScroll: false });
  }
  const word = part.querySelector("[data-say]");
  if (word) say(word.dataset.say || word.textContent.trim());
});

// What went wrong on the way: seen and heard, until the next answer comes.
function warn(text) {
  alarm.textContent = text;
  alarm.hidden = false;
}

document.addEventListener("htmx:beforeSwap", () => { alarm.hidden = true; });

for (const kind of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(kind, () => warn("The server cannot be reached. Try again."));
}

document.addEventListener("htmx:responseError", (event) => {
  const status = event.detail.xhr.status;
  let detail = "That could not be done.";
  try {
    detail = JSON.parse(event.detail.xhr.responseText).detail || detail;
  } catch { /* no problem+json: the sentence stays */ }
  if (status === 401) location.assign("/login");
  else warn(detail);
});

// A switch of themes: system, light, dark in turn.
const themes = ["system", "light", "dark"];
const button = document.getElementById("theme");

function shown() {
  return document.documentElement.dataset.theme || "system";
}

function label() {
  button.textContent = "Theme: " + shown();
}

if (button) {
  button.hidden = false;
  label();
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(shown()) + 1) % themes.length];
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      if (next === "system") localStorage.removeItem("theme");
      else localStorage.setItem("theme", next);
    } catch { /* it holds for this page */ }
    label();
    say("Theme: " + next);
  });
}

// Buttons that choose all or none of a group of boxes.
document.addEventListener("click", (event) => {
  const chooser = event.target.closest("[data-choose]");
  if (!chooser) return;
  for (const box of chooser.closest("fieldset").querySelectorAll("input[type=checkbox]")) {
    box.checked = chooser.dataset.choose === "all";
  }
  chooser.dispatchEvent(new Event("change", { bubbles: true }));
});
