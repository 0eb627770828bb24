// A file that is dropped on a form is chosen in it.

for (const kind of ["dragover", "drop"]) {
  document.addEventListener(kind, (event) => {
    const form = event.target.closest?.("form[data-drop]");
    if (!form || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (kind === "drop" && event.dataTransfer.files.length === 1) {
      form.querySelector("input[type=file]").files = event.dataTransfer.files;
      form.requestSubmit();
    }
  });
}
