// The question bench: where the focus begins, hints that can be dismissed, folds, guidelines.
// Everything here is comfort: without this script the forms do the same.
"use strict";

(() => {
  const field = document.querySelector("[data-question]");
  const isWide = matchMedia("(min-width: 60rem)").matches; // a phone's keyboard would hide the rule

  if (field && isWide && !document.querySelector(".error-summary")) {
    field.focus({ preventScroll: true });
    field.setSelectionRange(field.value.length, field.value.length);
  }

  // Hints on what the page came with, or what drafts.js put back.
  const ask = () => { if (field?.value.trim()) htmx.trigger(field, "hints"); };
  document.addEventListener("draft:filled", ask);
  addEventListener("load", ask);

  document.addEventListener("click", (event) => {
    const hint = event.target.closest("[data-dismiss]")?.closest("[data-hint]");
    if (!hint) return;
    const seen = Object.assign(document.createElement("input"), {
      type: "hidden", name: "dismissed", value: hint.dataset.hint,
    });
    field.form.append(seen);
    hint.remove();
    field.focus();
  });

  // A log-in page, after the session has ended, is no hint.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, pathInfo } = event.detail;
    if (event.detail.target.id !== "hints") return;
    const came = new URL(xhr.responseURL, location.href).pathname;
    if (came !== new URL(pathInfo.requestPath, location.href).pathname) event.detail.shouldSwap = false;
  });

  for (const fold of document.querySelectorAll("[data-focus-inside]")) {
    const summary = fold.querySelector("summary");
    // At once, and not when the browser tells of it: the next key may be pressed by then.
    summary.addEventListener("click", (event) => {
      event.preventDefault();
      // By its key a fold that is open is gone to, and not closed with what was typed in it.
      fold.open = !fold.open || "byKey" in summary.dataset;
      const inside = "form button, form textarea, form input:not([type=hidden])";
      (fold.open ? fold.querySelector(inside) : summary).focus();
    });
    fold.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { fold.open = false; summary.focus(); }
    });
  }

  // Guidelines that somebody opened stay open from snippet to snippet.
  const guidelines = document.querySelector("[data-guidelines]");
  try {
    if (guidelines && localStorage.getItem("guidelines open")) guidelines.open = true;
    guidelines?.addEventListener("toggle", () => {
      if (guidelines.open) localStorage.setItem("guidelines open", "1");
      else localStorage.removeItem("guidelines open");
    });
  } catch { /* a browser that keeps nothing */ }
})();
