// What is chosen in the editor of a model is written into its formula; what was typed there besides stays.

function written(name) {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : "`" + name + "`";
}

// The terms of a sum: a plus within parentheses or backticks parts nothing.
function terms(text) {
  const found = [];
  let term = "", depth = 0, quoted = false;
  for (const sign of text) {
    if (sign === "`") quoted = !quoted;
    if (!quoted) depth += sign === "(" ? 1 : sign === ")" ? -1 : 0;
    if (sign === "+" && !quoted && depth === 0) { found.push(term.trim()); term = ""; } else term += sign;
  }
  return [...found, term.trim()].filter((one) => one !== "");
}

function parted(formula) {
  let quoted = false;
  for (let at = 0; at < formula.length; at += 1) {
    if (formula[at] === "`") quoted = !quoted;
    if (formula[at] === "~" && !quoted) return [formula.slice(0, at).trim(), formula.slice(at + 1)];
  }
  return [formula.trim(), ""];
}

// The other way round: what was typed is what is chosen.
function shown(editor, formula) {
  const [left, right] = parted(formula);
  const sum = terms(right);
  const chooser = editor.querySelector("[data-outcome]");
  chooser.value = [...chooser.options].map((one) => one.value).find((one) => one !== "" && written(one) === left) || "";
  for (const box of editor.querySelectorAll("[data-terms] input")) {
    const name = written(box.value);
    box.checked = sum.includes(name) || sum.includes(`C(${name})`);
  }
}

document.addEventListener("change", (event) => {
  const editor = event.target.closest?.("[data-model]");
  if (!editor || event.target.name === "family") return;
  const field = editor.querySelector("[data-formula]");
  const chooser = editor.querySelector("[data-outcome]");
  if (event.target === field) { shown(editor, field.value); return; }
  let [left, right] = parted(field.value);
  let sum = terms(right);
  if (event.target === chooser) left = chooser.value === "" ? "" : written(chooser.value);
  else if (left === "" && chooser.value !== "") left = written(chooser.value);
  for (const box of editor.querySelectorAll("[data-terms] input")) {
    const name = written(box.value);
    if (name === left) box.checked = false; // an outcome does not explain itself
    const there = sum.some((one) => one === name || one === `C(${name})`);
    if (box.checked && !there) sum.push(name);
    if (!box.checked) sum = sum.filter((one) => one !== name && one !== `C(${name})`);
  }
  if (sum.length > 1) sum = sum.filter((one) => one !== "1");
  field.value = left === "" && sum.length === 0 ? "" : `${left} ~ ${sum.join(" + ") || "1"}`;
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
