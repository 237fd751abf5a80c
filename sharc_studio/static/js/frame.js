// The frame: marks that scripts run, and closes an open menu on Escape or a click outside.
"use strict";

document.documentElement.classList.add("has-scripts");

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
  }
});

// A phone shows only some of the steps: begin with the current one.
document.querySelector(".steps [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// After a refused form: the list of errors is what the reader must meet first.
document.querySelector(".error-summary")?.focus();
