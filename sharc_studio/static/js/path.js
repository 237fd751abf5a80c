// A worker's path: where the focus is after each step, what is read aloud, hints, folds, and the
// rule text as a sheet on a phone. Comfort only: without this script the forms do the same.
"use strict";

(() => {
  const narrow = matchMedia("(max-width: 59.99rem)"); // a phone's keyboard would hide the rule
  const field = () => document.querySelector("[data-question]");
  const path = () => document.getElementById("path");
  const sheet = document.querySelector("[data-rule-sheet]");

  // After each step --------------------------------------------------------------------------------

  function toField() {
    const question = field();
    question?.focus({ preventScroll: true });
    question?.setSelectionRange(question.value.length, question.value.length);
  }

  function settle(isFirst) {
    const refusal = document.querySelector("#path .error-summary");
    const submit = document.querySelector("[data-submit]");
    if (field()) { if (!narrow.matches || !isFirst) toField(); }
    else if (submit && !isFirst) submit.focus({ preventScroll: true });
    else if (!isFirst) document.getElementById("talk-title").focus({ preventScroll: true });
    if (refusal) refusal.scrollIntoView({ block: "nearest" });
    else if (!isFirst) document.querySelector("#path > :last-child")?.scrollIntoView({ block: "nearest" });
  }

  // What a screen reader hears of it: the user's answer above all.
  function news() {
    if (document.querySelector("#path .error-summary")) return ""; // it is an alert by itself
    if (path().dataset.phase === "end") return "The path has its final answer. Submit it, or take it back.";
    if (field()?.value) return "What you wrote stands in the field again.";
    const answer = path().querySelector("[data-answer-now] .bubble");
    return answer ? `User: ${answer.textContent.trim()}` : "Ask a question, or give the final answer.";
  }

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "path") return;
    trouble("");
    const left = document.querySelector("[data-time-left]"); // each step begins the time anew
    if (left) left.dataset.timeLeft = path().dataset.until;
    document.querySelector("[data-path-news]").textContent = news();
    settle(false);
  });

  // What did not arrive ----------------------------------------------------------------------------

  function trouble(words) {
    const notice = document.querySelector("[data-path-trouble]");
    if (notice) { notice.hidden = !words; notice.textContent = words; }
  }

  addEventListener("online", () => trouble(""));

  const isStep = (event) => event.detail.elt?.matches?.("form[hx-target='#path']");
  const SILENT = "Not sent: the studio does not answer. What you wrote is kept; try again.";

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (isStep(event) && !navigator.onLine) {
      event.preventDefault();
      trouble("Not sent: you are offline. What you wrote is kept; try again when the network is back.");
    }
  });
  document.addEventListener("htmx:sendError", (event) => { if (isStep(event)) trouble(SILENT); });
  document.addEventListener("htmx:responseError", (event) => {
    if (!isStep(event)) return;
    const isForbidden = event.detail.xhr.status === 403;
    trouble(isForbidden ? "Not sent: load this page again. What you wrote is kept." : SILENT);
  });

  // A log-in page, after the session has ended, is no part of this one.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, pathInfo, target } = event.detail;
    const came = new URL(xhr.responseURL, location.href).pathname;
    if (came === new URL(pathInfo.requestPath, location.href).pathname) return;
    event.detail.shouldSwap = false;
    if (target.id === "path") trouble("Not sent: you are logged out. Load this page again to log in; what you wrote is kept.");
  });

  // The field --------------------------------------------------------------------------------------

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.shiftKey || event.ctrlKey || event.metaKey) return;
    if (!event.target.matches("[data-question]")) return;
    event.preventDefault();
    event.target.form.requestSubmit();
  });

  // Hints on what the page came with, what drafts.js put back, or what was typed so soon after a
  // step that htmx did not listen to the new field yet.
  const ask = () => { if (field()?.value.trim()) htmx.trigger(field(), "hints"); };
  document.addEventListener("draft:filled", ask);
  document.addEventListener("htmx:afterSettle", (event) => { if (event.detail.target.id === "path") ask(); });
  addEventListener("load", ask);

  document.addEventListener("click", (event) => {
    const hint = event.target.closest("[data-dismiss]")?.closest("[data-hint]");
    if (!hint) return;
    field().form.append(Object.assign(document.createElement("input"), {
      type: "hidden", name: "dismissed", value: hint.dataset.hint,
    }));
    hint.remove();
    toField();
  });

  // Folds ------------------------------------------------------------------------------------------

  document.addEventListener("click", (event) => {
    const summary = event.target.closest("[data-focus-inside] > summary");
    if (!summary) return;
    // At once, and not when the browser tells of it: the next key may be pressed by then.
    event.preventDefault();
    const fold = summary.parentElement;
    fold.open = !fold.open;
    const inside = "form input[type=radio]:checked, form input[type=radio], form button, form textarea";
    const first = fold.querySelector("input[type=radio]:checked")
      ? fold.querySelector("input[name=reason][type=radio]") : fold.querySelector(inside);
    (fold.open ? first : summary).focus();
  });
  document.addEventListener("keydown", (event) => {
    const fold = event.key === "Escape" && event.target.closest?.("[data-focus-inside][open]");
    if (fold) { fold.open = false; fold.querySelector("summary").focus(); }
  });

  const guidelines = document.querySelector("[data-guidelines]");
  try {
    if (guidelines && localStorage.getItem("guidelines open")) guidelines.open = true;
    guidelines?.addEventListener("toggle", () => {
      if (guidelines.open) localStorage.setItem("guidelines open", "1");
      else localStorage.removeItem("guidelines open");
    });
  } catch { /* a browser that keeps nothing */ }

  // The rule text on a phone: above the conversation until it was read, then pulled over it -----------

  if (sheet && narrow.matches && Number(path().dataset.position ?? 0) > 0) sheet.open = false;
  sheet?.addEventListener("toggle", () => { if (!sheet.open) sheet.dataset.pulled = ""; });
  document.querySelector("[data-rule-close]")?.addEventListener("click", () => {
    sheet.open = false;
    sheet.querySelector("summary").focus({ preventScroll: true });
  });

  settle(true);
})();
