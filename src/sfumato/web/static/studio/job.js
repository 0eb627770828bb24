// Follows long work: its words, its share, the time that is left; when it is over the page fetches what came of it.
// The stream is open only while somebody can see the page: a browser has six connections for one place.

const OFTEN = 15000; // ms between two words to those who hear the page
const said = document.getElementById("said");

function left(seconds) {
  if (seconds < 8) return "a few seconds left";
  if (seconds < 90) return `about ${Math.round(seconds / 5) * 5} seconds left`;
  return `about ${Math.round(seconds / 60)} minutes left`;
}

function follow(part) {
  if (part.dataset.followed) return;
  part.dataset.followed = "yes";
  const id = part.dataset.job;
  const begun = performance.now() - 1000 * Number(part.dataset.seconds);
  const bar = part.querySelector("progress");
  const words = part.querySelector("[data-words]");
  const time = part.querySelector("[data-left]");
  let source = null;
  let told = performance.now();
  let again;

  function over() {
    close();
    document.removeEventListener("visibilitychange", seen);
    if (part.isConnected) window.htmx.trigger(part, "work-over");
  }

  function show(job) {
    if (!part.isConnected) { close(); return; }
    if (job.state !== "running") { over(); return; }
    if (job.message) words.textContent = job.message[0].toUpperCase() + job.message.slice(1) + " …";
    if (job.progress !== null && job.progress > 0) {
      bar.value = job.progress;
      const passed = (performance.now() - begun) / 1000;
      time.textContent = passed > 3 && job.progress > 0.02
        ? `${Math.round(100 * job.progress)}%, ${left(passed / job.progress - passed)}` : `${Math.round(100 * job.progress)}%`;
    }
    if (performance.now() - told > OFTEN) {
      told = performance.now();
      said.textContent = `${words.textContent} ${time.textContent}`;
    }
  }

  async function broken() {
    close();
    try {
      const answer = await fetch(`/api/jobs/${encodeURIComponent(id)}`);
      if (answer.ok) show(await answer.json());
      else { words.textContent = "This work is not there any more. Load the page again."; return; }
    } catch {
      words.textContent = "The studio does not answer: it was stopped, or is busy. The page goes on when it is there again.";
    }
    if (part.isConnected) again = setTimeout(open, 3000);
  }

  function open() {
    clearTimeout(again);
    if (source || document.hidden || !part.isConnected) return;
    source = new EventSource(`/api/jobs/${encodeURIComponent(id)}/events`);
    source.onmessage = (event) => show(JSON.parse(event.data));
    source.onerror = broken;
  }

  function close() {
    clearTimeout(again);
    source?.close();
    source = null;
  }

  function seen() {
    if (document.hidden) close();
    else open();
  }

  document.addEventListener("visibilitychange", seen);
  window.addEventListener("pagehide", close);
  open();
}

function look() {
  for (const part of document.querySelectorAll("[data-job]")) follow(part);
}

document.addEventListener("htmx:load", look);
look();
