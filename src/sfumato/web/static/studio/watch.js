// Looks from time to time whether the file is still the one that was read, and whether the studio is still there.

const often = 15000;
const banner = document.getElementById("changed");
const alarm = document.getElementById("alarm");
const gone = "The studio has ended, or cannot be reached. This page keeps what you typed: copy it, or start the studio again.";

async function look() {
  if (document.visibilityState !== "visible") return;
  try {
    const answer = await fetch("/pages/data/changed", { cache: "no-store" });
    if (!answer.ok) return;
    const { changed } = await answer.json();
    if (alarm && alarm.textContent === gone) alarm.hidden = true;
    if (!banner) return;
    const word = banner.querySelector("[data-text]");
    if (changed && banner.hidden) word.textContent = word.dataset.text;
    if (!changed) word.textContent = "";
    banner.hidden = !changed;
  } catch {
    if (!alarm) return;
    alarm.textContent = gone;
    alarm.hidden = false;
  }
}

setInterval(look, often);
window.addEventListener("focus", look);
document.addEventListener("visibilitychange", look);
