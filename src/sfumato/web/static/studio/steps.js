// Cards of steps: moved by arrow keys and by dragging; shown anew when the plan was changed beside them.

const cards = () => document.querySelector("#steps [data-tag]");

function move(from, to) {
  const root = cards();
  const tag = root?.dataset.tag;
  if (!tag || from === to) return;
  htmx.ajax("POST", "/pages/protect/move", { target: "#steps", values: { tag, step: from, to } });
}

document.addEventListener("keydown", (event) => {
  const handle = event.target.closest?.("[data-move]");
  if (!handle || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  const from = Number(handle.dataset.move);
  const to = from + (event.key === "ArrowUp" ? -1 : 1);
  if (to >= 0 && to <= Number(handle.dataset.last)) move(from, to);
});

let dragged = null;

document.addEventListener("dragstart", (event) => {
  const card = event.target.closest?.(".card[data-step]");
  if (!card || event.target.closest("form.step")) return;
  dragged = card;
  card.classList.add("dragged");
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", card.dataset.step);
});

document.addEventListener("dragover", (event) => {
  const card = event.target.closest?.(".card[data-step]");
  if (!dragged || !card) return;
  event.preventDefault();
  for (const other of document.querySelectorAll(".card.over")) other.classList.remove("over");
  if (card !== dragged) card.classList.add("over");
});

document.addEventListener("drop", (event) => {
  const card = event.target.closest?.(".card[data-step]");
  if (!dragged || !card) return;
  event.preventDefault();
  move(Number(dragged.dataset.step), Number(card.dataset.step));
});

document.addEventListener("dragend", () => {
  dragged = null;
  for (const card of document.querySelectorAll(".card")) card.classList.remove("over", "dragged");
});

// Text in a form can be marked with the mouse: the card is not dragged from there.
document.addEventListener("mousedown", (event) => {
  const card = event.target.closest?.(".card[data-step]");
  if (card) card.draggable = !event.target.closest("form.step, .tried, dl, textarea, input");
});

// The plan was changed beside the cards (undone, typed): they are made anew.
document.addEventListener("htmx:afterSettle", () => {
  const root = cards();
  const tag = document.querySelector("#plan input[name=tag]")?.value;
  if (root?.dataset.tag && tag && tag !== root.dataset.tag) htmx.trigger("#steps", "plan");
});

// What the address names comes after the page: it is scrolled to once.
let sought = location.hash;

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.id !== "steps" || !sought) return;
  document.getElementById(sought.slice(1))?.scrollIntoView({ block: "start" });
  sought = "";
});
