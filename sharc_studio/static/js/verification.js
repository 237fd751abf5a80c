// The verification: evidence that was opened stays open from utterance to utterance. Comfort only:
// the forms do all without it.
"use strict";

(() => {
  const evidence = document.querySelector("[data-evidence]");
  try {
    if (evidence && sessionStorage.getItem("evidence open")) evidence.open = true;
    evidence?.addEventListener("toggle", () => {
      if (evidence.open) sessionStorage.setItem("evidence open", "1");
      else sessionStorage.removeItem("evidence open");
    });
  } catch { /* a browser that keeps nothing */ }
})();
