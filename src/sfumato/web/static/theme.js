// Sets the theme before anything is painted: loaded in the head, so that nothing flashes.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* a browser that keeps nothing: the system's theme */ }
