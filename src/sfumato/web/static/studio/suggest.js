// What may be typed next in the plan, as a list below the caret's line. While typing nothing in it is chosen until an
// arrow goes there, so that Enter and Tab do what they always do; Control and Space choose the first at once.

const SOON = 150; // ms after the last letter
const SHOWN = 7;
const area = () => document.getElementById("plan-text");
const list = () => document.getElementById("plan-offers");

const sheet = new CSSStyleSheet(); // a style in the markup is against the page's policy, and htmx would copy it

document.adoptedStyleSheets.push(sheet);

let word = "";
let chosen = -1;
let timer;
let asked = 0;

const box = () => list()?.parentElement;
const open = () => Boolean(box() && !box().hidden);

function mark(wide) {
  document.querySelector("[data-offer]")?.setAttribute("aria-expanded", String(wide));
}

function close() {
  clearTimeout(timer);
  asked += 1;
  chosen = -1;
  mark(false);
  area()?.removeAttribute("aria-activedescendant");
  if (!list()) return;
  box().hidden = true;
  list().replaceChildren();
}

// A list that scrolls would need a stop of its own for Tab: so a few are shown, and arrows move what is shown.
function few(around) {
  const options = [...list().children];
  const begin = Math.max(0, Math.min(around - 3, options.length - SHOWN));
  options.forEach((option, i) => { option.hidden = i < begin || i >= begin + SHOWN; });
  list().nextElementSibling.textContent = options.length > SHOWN
    ? `${begin + 1} to ${begin + SHOWN} of ${options.length}: arrows show others, letters fewer` : "";
}

function choose(at) {
  const options = [...list().children];
  chosen = (at + options.length) % options.length;
  options.forEach((option, i) => option.setAttribute("aria-selected", String(i === chosen)));
  area().setAttribute("aria-activedescendant", options[chosen].id);
  few(chosen);
}

// Below the line of the caret, wherever the text is scrolled to: lines never wrap here.
function place() {
  const text = area();
  const look = getComputedStyle(text);
  const line = text.value.slice(0, text.selectionStart).split("\n").length;
  const below = text.offsetTop + parseFloat(look.paddingTop) + line * parseFloat(look.lineHeight) - text.scrollTop + 4;
  const top = Math.max(text.offsetTop, Math.min(below, text.offsetTop + text.offsetHeight));
  sheet.replaceSync(`.offers-list { top: ${top}px; }`);
}

function show(offers, first) {
  word = offers.word;
  list().replaceChildren(...offers.options.map(({ insert, what }, i) => {
    const option = document.createElement("li");
    const code = document.createElement("code");
    const small = document.createElement("small");
    option.id = `plan-offer-${i}`;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    option.setAttribute("aria-posinset", i + 1);
    option.setAttribute("aria-setsize", offers.options.length);
    option.dataset.insert = insert;
    code.textContent = insert;
    small.textContent = what;
    option.append(code, small);
    return option;
  }));
  few(0);
  box().hidden = false;
  mark(true);
  place();
  if (first) choose(0);
  const { length } = offers.options;
  const many = offers.more ? `${length} of ${length + offers.more}` : String(length);
  say(`${many} ${length === 1 ? "offer" : "offers"}${first ? "" : "; arrow down goes there"}`);
  box().scrollIntoView({ block: "nearest" });
}

function say(text) {
  const said = document.querySelector("[data-offered]");
  if (said) said.textContent = text;
}

async function ask(first) {
  const text = area();
  const caret = text.selectionStart;
  const mine = (asked += 1);
  const body = new URLSearchParams({ text: text.value, caret: [...text.value.slice(0, caret)].length });
  let offers;
  try {
    const answer = await fetch("/pages/plan/complete", { method: "POST", body, headers: { "X-Sfumato": "1" } });
    if (!answer.ok) throw new Error(answer.statusText);
    offers = await answer.json();
  } catch { // watch.js tells where the studio does not answer
    if (mine === asked) close();
    return;
  }
  if (mine !== asked || text !== area() || text.selectionStart !== caret) return;
  const whole = offers.options.some(({ insert }) => insert.replace(/: $/, "") === offers.word);
  if (offers.options.length && (first || !whole)) show(offers, first);
  else {
    close();
    if (first) say("Nothing is known that may stand here.");
  }
}

function take(option) {
  const text = area();
  let insert = option.dataset.insert;
  const end = text.selectionStart;
  const begin = end - word.length;
  if (/^ *:/.test(text.value.slice(end))) insert = insert.replace(/: $/, "");
  close();
  if (text.value.slice(begin, end) !== word) return;
  text.focus();
  text.setSelectionRange(begin, end);
  // This way the browser's own undo knows of it, and it tells the page that something was typed.
  if (!document.execCommand("insertText", false, insert)) {
    text.setRangeText(insert, begin, end, "end");
    text.dispatchEvent(new Event("input", { bubbles: true }));
  }
  clearTimeout(timer);
  if (insert.endsWith(" ")) ask(false);
}

document.addEventListener("input", (event) => {
  if (event.target !== area() || !event.isTrusted) return;
  close();
  if (event.inputType === "insertText" && /[\w"'-]/.test(event.data ?? "") || event.inputType === "deleteContentBackward") {
    timer = setTimeout(() => ask(false), SOON);
  }
});

document.addEventListener("keydown", (event) => {
  if (event.target !== area() || event.isComposing) return;
  const { key } = event;
  if (key === " " && event.ctrlKey) {
    event.preventDefault();
    ask(true);
  } else if (open() && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (key === "ArrowDown" || (key === "ArrowUp" && chosen >= 0)) {
      event.preventDefault();
      choose(key === "ArrowDown" ? chosen + 1 : chosen - 1);
    } else if ((key === "Enter" || (key === "Tab" && !event.shiftKey)) && chosen >= 0) {
      event.preventDefault();
      take(list().children[chosen]);
    } else if (key === "Escape") {
      event.preventDefault();
      close();
      say("Closed.");
    } else if (key.length > 1 && key !== "Shift" && key !== "Backspace") close();
  } else if (open() && event.key !== "Control") close();
}, true);

document.addEventListener("mousedown", (event) => {
  if (event.target.closest?.(".offers-list, [data-offer]")) event.preventDefault(); // the text keeps the focus
  else if (open()) close();
});

document.addEventListener("click", (event) => {
  const option = event.target.closest?.("#plan-offers [role=option]");
  if (option) take(option);
  if (!event.target.closest?.("[data-offer]")) return;
  if (open()) close();
  else {
    area().focus();
    ask(true);
  }
});

document.addEventListener("focusout", (event) => {
  if (event.target === area()) close();
});

document.addEventListener("scroll", (event) => {
  if (event.target === area() && open()) place();
}, true);
