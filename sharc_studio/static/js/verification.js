// The verification: evidence that was opened stays open from utterance to utterance, and a
// correction that was begun is not left by mistake. Comfort only: the forms do all without it.
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

  const form = document.querySelector("[data-typed]");
  if (!form) return;
  const content = () => new URLSearchParams(new FormData(form)).toString();
  const before = content();
  let isSent = false;
  form.addEventListener("submit", () => { isSent = true; });
  addEventListener("beforeunload", (event) => {
    if (!isSent && content() !== before) event.preventDefault();
  });
})();
