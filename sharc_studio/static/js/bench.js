// The snippet bench: the document and the list move together, by keys and by clicks. Every step is
// a form that works without this script; here are the cursor of a split, the dialogs, and focus.
"use strict";

(() => {
  const bench = () => document.getElementById("bench");
  const rows = () => [...document.querySelectorAll("[data-rows] > li")];
  const focusedRow = () => document.querySelector("[data-rows] > .is-focused");
  const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  // Both columns show one snippet -------------------------------------------------------------

  function show(row) {
    for (const passage of document.querySelectorAll(`[data-of="${row.dataset.snippet}"]`)) {
      passage.dataset.state = row.dataset.state;
    }
  }

  function showFocus() {
    const row = focusedRow();
    for (const old of document.querySelectorAll("[data-document] .is-focused")) old.classList.remove("is-focused");
    if (!row) return;
    const key = row.dataset.snippet;
    const own = document.querySelectorAll(`[data-of="${key}"]`);
    const shared = document.querySelectorAll(`[data-shared~="${key}"]`);
    for (const passage of [...own, ...shared]) passage.classList.add("is-focused");
    scrollWithin(document.querySelector("[data-document]"), own[0] ?? shared[0], 0.25);
    scrollWithin(row.closest(".bench-list"), row, 0);
  }

  // Only the column scrolls, and only when what is looked at is not in it.
  function scrollWithin(column, element, share) {
    if (!column || !element) return;
    const outer = column.getBoundingClientRect();
    const inner = element.getBoundingClientRect();
    if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
    const top = column.scrollTop + inner.top - outer.top - outer.height * share - 8;
    column.scrollTo({ top, behavior: isCalm ? "instant" : "auto" });
  }

  function announce() {
    const row = focusedRow();
    const news = document.querySelector("[data-news]");
    if (!row || !news) return;
    const state = row.querySelector(".chip")?.textContent ?? "";
    news.textContent = `Snippet ${rows().indexOf(row) + 1} of ${rows().length}, ${state.toLowerCase()}.`;
  }

  // After a step, focus goes to the snippet that the step led to, unless the reader is elsewhere.
  function takeFocus() {
    const at = document.activeElement;
    if (at && at !== document.body && !at.closest?.("#bench")) return;
    const tool = focusedRow()?.querySelector("details.tool[open]");
    if (tool) fill(tool); else focusedRow()?.querySelector("[data-focus]")?.focus({ preventScroll: true });
  }

  // Going through the snippets ----------------------------------------------------------------

  function go(row) { row?.querySelector(":scope > a")?.click(); }

  function step(by) {
    const all = rows();
    go(all[all.indexOf(focusedRow()) + by]);
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { leaveTool(event); return; }
    if (!bench() || !window.isSingleKey(event)) return;
    if (event.key === "A" && event.shiftKey) {
      const opener = document.querySelector('[data-opens="accept-all"]');
      event.preventDefault(); // a capital A is never the A of "accept"
      opener?.click();
    } else if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      step(event.key === "j" ? 1 : -1);
    }
  }, true);

  document.addEventListener("click", (event) => {
    const mark = event.target.closest?.("[data-goto]");
    const row = mark && document.getElementById(`row-${mark.dataset.goto}`);
    if (row) {
      event.preventDefault();
      if (row.classList.contains("is-focused")) showFocus(); else go(row);
    }
    if (event.target.closest?.("[data-cancel]")) restoreText(event.target.closest("form"));
  });

  // Dialogs: modal with this script, popovers without it -----------------------------------------

  function makeModal(root) {
    for (const opener of root.querySelectorAll("[data-opens]")) {
      const dialog = document.getElementById(opener.dataset.opens);
      opener.removeAttribute("popovertarget");
      dialog.removeAttribute("popover");
      opener.addEventListener("click", () => dialog.showModal());
      for (const closer of dialog.querySelectorAll("[data-closes]")) {
        closer.removeAttribute("popovertarget");
        closer.addEventListener("click", () => dialog.close());
      }
    }
  }

  // Tools of the focused snippet ----------------------------------------------------------------

  function fill(tool) {
    const edit = tool.querySelector("[data-edit]");
    if (edit) edit.toggleAttribute("data-submit-key", tool.open);
    if (!tool.open) return;
    if (tool.dataset.tool === "split") beginSplit(tool);
    const field = tool.querySelector(".invalid :is(input, textarea, select)") ??
      tool.querySelector("textarea:not([hidden] *)") ?? tool.querySelector("form button[name]");
    field?.focus({ preventScroll: true });
    tool.querySelector("form").scrollIntoView({ block: "nearest" });
  }

  function leaveTool(event) {
    const tool = event.target.closest?.("details.tool[open]");
    if (!tool || event.isComposing) return;
    tool.open = false;
    focusedRow()?.querySelector("[data-focus]")?.focus();
  }

  function restoreText(form) {
    const field = form.querySelector("textarea");
    field.value = document.getElementById("split-text").defaultValue;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }

  // Code points, as the server counts: an emoji is one.
  const codePoints = (text) => [...text].length;
  const isWordPart = /[\p{L}\p{N}]/u;
  let clicked = null; // where the reader last clicked into the text, in letters and digits

  function lettersBeforeCaret() {
    const selection = window.getSelection();
    const text = focusedRow()?.querySelector("[data-text]");
    if (!text || !selection.rangeCount || !text.contains(selection.anchorNode)) return null;
    const range = document.createRange();
    range.setStart(text, 0);
    range.setEnd(selection.anchorNode, selection.anchorOffset);
    return [...range.toString()].filter((one) => isWordPart.test(one)).length;
  }

  // The place in the Markdown that has as many letters before it as the place in the shown text.
  function caretAfterLetters(text, letters) {
    let at = 0;
    for (const one of text) {
      if (letters <= 0) break;
      if (isWordPart.test(one)) letters -= 1;
      at += one.length;
    }
    return at + text.slice(at).match(/^[^\s\p{L}\p{N}]*\s*/u)[0].length;
  }

  function firstPlace(form, text) {
    const place = Number(form.querySelector("[data-split-place] select")?.value || 0);
    return [...text].slice(0, place).join("").length;
  }

  function beginSplit(tool) {
    const form = tool.querySelector("form");
    const cursor = form.querySelector("[data-split-cursor]");
    const field = cursor.querySelector("textarea");
    if (!cursor.hidden) return;
    cursor.hidden = false;
    form.querySelector("[data-split-place]").hidden = true;
    form.querySelector("[data-split-place] select").disabled = true;
    field.addEventListener("beforeinput", (event) => event.preventDefault());
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
    });
    const at = clicked === null ? firstPlace(form, field.value) : caretAfterLetters(field.value, clicked);
    field.focus();
    field.setSelectionRange(at, at);
  }

  document.addEventListener("selectionchange", () => {
    const letters = lettersBeforeCaret();
    if (letters !== null) clicked = letters;
  });

  // Before drafts.js and htmx read the form.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches("[data-split]")) {
      const field = form.querySelector("[data-split-cursor]:not([hidden]) textarea");
      if (field) form.elements.at.value = codePoints(field.value.slice(0, field.selectionStart));
    }
    if (form.matches("[data-edit]")) {
      const field = form.querySelector("textarea");
      field.value = field.value.trim(); // as the server stores it
    }
  }, true);

  document.addEventListener("toggle", (event) => {
    if (event.target.matches?.("details.tool")) fill(event.target);
  }, true);

  // Drafts ---------------------------------------------------------------------------------------

  // The last one of all windows, as drafts.js takes it.
  function lastCopy(prefix) {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(prefix))
        .map((key) => JSON.parse(localStorage.getItem(key)))
        .filter((copy) => copy?.dirty).sort((one, other) => other.at - one.at)[0];
    } catch {
      return null; // a browser without storage
    }
  }

  // This browser may keep text of a snippet that is not in focus: it goes on with the others.
  function bringKeptTexts() {
    const form = document.querySelector("form[data-edit]");
    if (!form) return;
    const copy = lastCopy(`draft ${form.dataset.draftOwner} ${form.dataset.draft} `);
    if (!copy) return;
    for (const [name, value] of Object.entries(copy.content)) {
      if (form.elements[name]) continue;
      const field = Object.assign(document.createElement("input"), { type: "hidden", name, value });
      field.dataset.draftKeep = "";
      form.append(field);
      form.dataset.draftUnsaved = ""; // drafts.js sends what the page did not come with
    }
  }

  // What is typed is saved before another snippet takes its place.
  document.addEventListener("htmx:confirm", (event) => {
    const draft = document.querySelector("form[data-edit]")?.draft;
    if (!draft?.isDirty() || draft.isStopped || draft.isSubmitting) return;
    event.preventDefault();
    draft.send().finally(() => event.detail.issueRequest(true));
  });

  // --------------------------------------------------------------------------------------------

  function refresh(isNew) {
    for (const row of rows()) if (isNew || row.matches(".is-focused")) show(row);
    showFocus();
  }

  document.addEventListener("htmx:load", (event) => {
    if (!bench()) return;
    if (event.target === document.body) return;
    makeModal(event.target);
    if (event.target.matches("[data-rows] > li")) show(event.target);
    bringKeptTexts();
  });

  document.addEventListener("htmx:afterSettle", () => {
    if (!bench()) return;
    clicked = null;
    showFocus();
    takeFocus();
    announce();
  });

  // A step that got no answer of the bench: the reader must know --------------------------------

  const TROUBLE = {
    offline: "Not done: the network is gone. Do it again when it is back.",
    silent: "No answer came. Do it again when the server answers: no step counts twice.",
    failed: "Not done: the server could not do it. Reload the page, and try again.",
    login: "Not done: you are logged out.",
  };

  function say(trouble) {
    hush();
    const notice = Object.assign(document.createElement("p"), { className: "notice warning", textContent: TROUBLE[trouble] });
    notice.dataset.trouble = trouble;
    notice.setAttribute("role", "alert");
    if (trouble === "login") {
      // Who is logged out is sent to log in, and back.
      notice.append(" ", Object.assign(document.createElement("a"), { href: location.href, textContent: "Log in" }));
    }
    bench()?.querySelector(".bench-columns").before(notice);
  }

  function hush() { document.querySelector("[data-trouble]")?.remove(); }

  for (const event of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(event, () => say(navigator.onLine ? "silent" : "offline"));
  }
  document.addEventListener("htmx:responseError", (event) => {
    say(event.detail.xhr.status === 403 ? "login" : "failed");
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, pathInfo } = event.detail;
    if (xhr.status >= 400) return;
    const came = new URL(xhr.responseURL, location.href).pathname;
    if (came === new URL(pathInfo.requestPath, location.href).pathname) { hush(); return; }
    event.detail.shouldSwap = false; // it is the log-in page
    say("login");
  });

  // Another window has split a snippet: its second half is not in this list.
  let isIncomplete = false;
  document.addEventListener("htmx:oobErrorNoTarget", () => { isIncomplete = true; });
  document.addEventListener("htmx:afterRequest", () => { if (isIncomplete) location.reload(); });

  makeModal(document);
  bringKeptTexts();
  for (const tool of document.querySelectorAll("details.tool[open]")) fill(tool);
  refresh(false);
})();
