// Scenarios: how much of a text was pasted, and the next question of a check by one key.
// Comfort only: without this script the forms do the same.
"use strict";

(() => {
  const text = document.querySelector("[data-question]");
  const pasted = document.querySelector("[data-pasted]");
  const isAllChosen = () => text.selectionStart === 0 && text.selectionEnd === text.value.length;
  const hold = (most) => { if (pasted?.value > most) pasted.value = most || ""; };
  // What was pasted and is gone from the text counts no longer.
  text?.addEventListener("beforeinput", (event) => {
    if (event.inputType !== "insertFromPaste" && text.value && isAllChosen()) hold(0);
  });
  text?.addEventListener("input", () => hold(text.value.length));
  text?.addEventListener("paste", (event) => {
    if (isAllChosen()) hold(0);
    const came = event.clipboardData?.getData("text").length ?? 0;
    if (pasted && came) pasted.value = Number(pasted.value || 0) + came;
  });

  // One key for each choice answers the first question that is not answered yet: y, n and d, or
  // those that the group names.
  const keysOf = (group) => (group?.dataset.saysKeys ?? "y n d").split(" ");
  const next = () => [...document.querySelectorAll("[data-says]")]
    .find((group) => group.checkVisibility?.() !== false && !group.querySelector(":checked"));

  function mark() {
    document.querySelector(".says.is-next")?.classList.remove("is-next");
    next()?.classList.add("is-next");
  }

  document.addEventListener("keydown", (event) => {
    if (!window.isSingleKey(event)) return;
    const group = next();
    const choice = group?.querySelectorAll("input[type=radio]")[keysOf(group).indexOf(event.key.toLowerCase())];
    if (!choice) return;
    event.preventDefault();
    choice.click(); // with the events that drafts.js listens for
    choice.focus({ preventScroll: true });
    choice.closest("[data-says]").scrollIntoView({ block: "nearest" });
  });
  if (document.querySelector("[data-says]")) {
    document.addEventListener("change", mark);
    document.addEventListener("draft:filled", mark);
    mark();
  }
})();
