// Time on task: seconds in which the page was in sight and somebody did something in the last
// minute. It goes with each form that has <input type="hidden" data-seconds>, and with drafts.
// <div data-active-seconds="SECONDS SO FAR">
"use strict";

(() => {
  const IDLE_AFTER = 60_000;
  const TICK = 1000;
  let seconds = Number(document.querySelector("[data-active-seconds]")?.dataset.activeSeconds ?? 0);
  let lastDone = Date.now(); // who has just opened the page reads
  let lastTick = Date.now();

  window.activeSeconds = () => Math.round(seconds);

  function tick() {
    const now = Date.now();
    const isActive = !document.hidden && now - lastDone < IDLE_AFTER;
    // A machine that slept ticks once for all that time.
    if (isActive) seconds += Math.min(now - lastTick, 2 * TICK) / 1000;
    lastTick = now;
  }

  for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove", "scroll"]) {
    addEventListener(kind, () => { lastDone = Date.now(); }, { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => { tick(); lastDone = Date.now(); });
  document.addEventListener("submit", (event) => {
    const field = event.target.querySelector?.("[data-seconds]");
    if (field) field.value = window.activeSeconds();
  }, true);
  setInterval(tick, TICK);
})();
