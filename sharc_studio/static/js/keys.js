// The keyboard of every page.
//
//   data-key="y" data-key-label="Yes"       on a control: the key clicks it (or focuses a field)
//   data-key-info="j k" data-key-label="…"  only listed: another script handles these keys
//   <form data-submit-key>                  Ctrl+Enter submits it
//
// Single keys do nothing inside a field, with a modifier, or when the reader switched them off.
"use strict";

const FIELDS = "input:not([type=checkbox]):not([type=radio]):not([type=button]):not([type=submit])," +
  "textarea, select, [contenteditable]:not([contenteditable=false])";

const keysAreOff = () => document.body.dataset.keys === "off";
// What a closed <details> holds has a box all the same, and is not there for the reader.
const isShown = (element) =>
  element.getClientRects().length > 0 && (element.checkVisibility?.() ?? true);

// For other scripts too: is this event a single key that the page may act on?
window.isSingleKey = (event) =>
  !keysAreOff() && !event.defaultPrevented && !event.isComposing && !event.repeat &&
  !event.ctrlKey && !event.altKey && !event.metaKey &&
  !event.target.closest?.(FIELDS) && !document.querySelector("dialog[open]");

function keysOfPage() {
  return [...document.querySelectorAll("[data-key-label]")]
    .filter((element) => element.dataset.keyInfo || isShown(element))
    .map((element) => ({
      keys: element.dataset.key || element.dataset.keyInfo,
      label: element.dataset.keyLabel,
    }));
}

// The form that Ctrl+Enter sends: the one that the reader is in, or else the first in sight. What
// stands in a fold is sent from inside it only: it is opened to look at, too.
function formToSubmit(element) {
  const inside = element?.closest?.("form[data-submit-key]");
  if (inside && isShown(inside)) return inside;
  return [...document.querySelectorAll("form[data-submit-key]")]
    .find((form) => isShown(form) && !form.closest("details"));
}

function keysThatWork() {
  const keys = keysAreOff() ? [] : keysOfPage();
  if (formToSubmit(document.activeElement)) {
    keys.push({ keys: "Ctrl+Enter", label: "Submit" });
  }
  return keys;
}

function allKeys() {
  const keys = keysThatWork();
  keys.push({ keys: "Esc", label: "Leave a field, close this list or a menu" });
  return keys;
}

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function nameOfKey(key) {
  return key.length === 1 ? key.toUpperCase() : key;
}

// For screen readers, which say the key with the control.
function tellKeys() {
  for (const control of document.querySelectorAll("[data-key]")) {
    if (keysAreOff()) control.removeAttribute("aria-keyshortcuts");
    else control.setAttribute("aria-keyshortcuts", nameOfKey(control.dataset.key));
  }
}

function showKeyLine() {
  tellKeys();
  const line = document.querySelector("[data-key-line]");
  if (!line) return;
  line.querySelectorAll("[data-made]").forEach((item) => item.remove());
  line.querySelectorAll("[data-key-info]").forEach((item) => { item.hidden = keysAreOff(); });
  for (const { keys, label } of keysThatWork()) {
    const isThere = [...line.querySelectorAll("[data-key-info]")]
      .some((item) => item.dataset.keyInfo === keys);
    if (isThere) continue;
    const item = make("li");
    item.dataset.made = "";
    item.append(make("kbd", nameOfKey(keys)), ` ${label}`);
    line.append(item);
  }
}

function openKeyList() {
  document.querySelector("dialog[data-key-list]")?.remove();
  const dialog = make("dialog");
  dialog.dataset.keyList = "";
  const title = make("h2", "Keys on this page");
  title.id = "key-list-title";
  dialog.setAttribute("aria-labelledby", title.id);
  const list = make("dl", "", "facts");
  for (const { keys, label } of allKeys()) {
    const term = make("dt");
    keys.split(" ").forEach((key) => term.append(make("kbd", nameOfKey(key)), " "));
    list.append(term, make("dd", label));
  }
  const note = keysAreOff()
    ? "Single keys are off; your profile switches them on."
    : "Single keys do nothing inside a field. Your profile switches them off.";
  const form = make("form");
  form.method = "dialog";
  form.append(make("button", "Close", "button"));
  dialog.append(title, list, make("p", note, "quiet"), form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function press(element) {
  if (element.matches(FIELDS)) {
    element.focus();
    element.select?.();
  } else {
    element.dataset.byKey = "";
    element.click();
    delete element.dataset.byKey;
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = formToSubmit(event.target);
    if (form) { event.preventDefault(); form.requestSubmit(); }
  } else if (event.key === "Escape" && event.target.matches?.(FIELDS)) {
    event.target.blur();
  } else if (window.isSingleKey(event)) {
    if (event.key === "?") { event.preventDefault(); openKeyList(); return; }
    const pressed = event.key.toLowerCase();
    const control = [...document.querySelectorAll("[data-key]")]
      .find((element) => element.dataset.key.toLowerCase() === pressed && isShown(element));
    if (control) { event.preventDefault(); press(control); }
  }
});

document.querySelector("[data-keys-open]")?.addEventListener("click", openKeyList);
// After the other scripts have said which of their keys work on the new part.
document.addEventListener("htmx:load", () => queueMicrotask(showKeyLine));
document.addEventListener("toggle", showKeyLine, true); // a fold hides keys, and shows them
showKeyLine();
