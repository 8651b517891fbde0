// What HTML and htmx cannot do: sliders beside numbers, copy buttons, a file as vocabulary.
"use strict";

const told = (text) => { document.getElementById("told").textContent = text; };

function changed(control) {
  control.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("input", (event) => {
  const control = event.target;
  if (control.dataset.for) {
    document.getElementById(control.dataset.for).value = control.value;
  } else if (control.type === "number" && control.id) {
    const slider = document.querySelector(`[data-for="${control.id}"]`);
    if (slider) slider.value = control.value;
  }
}, true); // before htmx reads the form

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("copy" in button.dataset) await copy(button);
  if ("line" in button.dataset) await takeLine();
});

async function copy(button) {
  const code = button.closest("figure").querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(code); // the reader copies it by hand
    button.textContent = "selected";
  }
  setTimeout(() => { button.textContent = "copy"; }, 1500);
}

async function takeLine() {
  const number = document.getElementById("line");
  const answer = await fetch("/api/line?n=" + encodeURIComponent(number.value));
  const pair = await answer.json();
  if (!answer.ok) return told(pair.detail);
  document.querySelector("[name=src]").value = pair.source;
  const target = document.querySelector("[name=tgt]");
  target.value = pair.target;
  number.value = (Number(number.value) % pair.n_lines) + 1;
  changed(target);
}

document.addEventListener("change", async (event) => {
  if (event.target.id !== "vocabulary-file" || !event.target.files.length) return;
  const file = event.target.files[0];
  const answer = await fetch("/api/vocabularies", {
    method: "POST", body: file, headers: { "Content-Type": "text/plain" },
  });
  const kept = await answer.json();
  if (!answer.ok) { // which names a line of "vocabulary": here the file has a name
    const at = kept.detail.match(/^vocabulary(:.*)$/s);
    return told(at ? file.name + at[1] : `${file.name}: ${kept.detail}`);
  }
  for (const menu of document.querySelectorAll("[name=vocab_x], [name=vocab_y]")) {
    if (![...menu.options].some((option) => option.value === kept.name)) {
      menu.add(new Option(file.name, kept.name));
    }
  }
  const menu = document.querySelector("[name=vocab_x]");
  menu.value = kept.name;
  changed(menu);
  told(`${file.name} is the vocabulary of the source now`);
});
