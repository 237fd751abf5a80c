// Shows <time data-local> in the reader's own zone; without this script it stands there in UTC.
"use strict";

const localTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
});

function showLocalTimes(root) {
  for (const element of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    element.title = element.textContent;
    element.textContent = localTime.format(moment);
    element.removeAttribute("data-local");
  }
}

showLocalTimes(document);
document.addEventListener("htmx:load", (event) => showLocalTimes(event.target));
