// What experts do on a tree's page and in the queue: where the focus goes.
// Everything here is comfort: without this script the forms do the same.
"use strict";

(() => {
  const INSIDE = "form textarea, form select, form input:not([type=hidden]), form button";

  // On the document, since htmx brings new panels in.
  document.addEventListener("click", (event) => {
    const summary = event.target.closest("[data-focus-inside] > summary");
    if (!summary) return;
    // At once, and not when the browser tells of it: the next key may be pressed by then.
    event.preventDefault();
    const fold = summary.parentElement;
    for (const other of fold.parentElement.querySelectorAll("details[open]")) {
      if (other !== fold) other.open = false;
    }
    fold.open = !fold.open;
    (fold.open ? fold.querySelector(INSIDE) : summary).focus();
  });

  document.addEventListener("keydown", (event) => {
    const fold = event.key === "Escape" && event.target.closest?.("[data-focus-inside][open]");
    if (!fold) return;
    fold.open = false;
    fold.querySelector("summary").focus();
  });

  document.querySelector(".error-summary")?.focus();

  // Who keeps a question says why: the key goes on to the field. The arrow keys stay where they are.
  let pressed = "";
  document.addEventListener("keydown", (event) => { pressed = event.key.toLowerCase(); }, true);
  document.addEventListener("change", (event) => {
    if (event.target.name !== "decision" || pressed !== event.target.dataset.key) return;
    const keeps = event.target.value === "keep";
    if (keeps) event.target.form.elements.reason.focus();
  });
})();
