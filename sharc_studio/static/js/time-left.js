// Minutes that are left of a lease: <span data-time-left="ISO time">; without this script it says
// until when. Under five minutes it is marked, and at the end it says so.
"use strict";

(() => {
  const SOON = 5;

  function wordsFor(minutes) {
    if (minutes <= 0) return "time has run out";
    if (minutes < 60) return `${minutes} min left`;
    const rest = minutes % 60;
    return `${Math.floor(minutes / 60)} h${rest ? ` ${rest} min` : ""} left`;
  }

  function show() {
    for (const element of document.querySelectorAll("[data-time-left]")) {
      const minutes = Math.ceil((new Date(element.dataset.timeLeft) - Date.now()) / 60_000);
      if (Number.isNaN(minutes)) continue;
      const words = wordsFor(minutes);
      if (element.textContent !== words) element.textContent = words;
      element.classList.toggle("is-soon", minutes <= SOON);
    }
  }

  show();
  setInterval(show, 10_000);
  document.addEventListener("htmx:load", show);
  document.addEventListener("visibilitychange", show); // a sleeping window runs no timers
})();
