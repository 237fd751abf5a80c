// Drafts of every work form: saved while typing, on the server and in this browser.
//
//   <form data-draft="{% url 'workers:draft' … %}" data-draft-owner="user's key"
//         data-draft-version="assignment.draft_version" data-draft-saved="ISO time, or empty">
//     {% include "workers/_draft.html" %}     its state in words, and the choice between two drafts
//   <form data-draft-with="ID of such a form">     another form on the same work (skip, …): what was
//                                                  typed goes with it
//
// A draft is what stands in the form's named fields; hidden ones only with data-draft-keep.
// `version` is the one that the server has and this window has seen. A save sends the next one, so
// that the server refuses a window that has not seen what another one saved.
// localStorage holds what the server may not have (`dirty`), or what went with a submit (`sent`).
// <div data-drafts-owner data-drafts-done="17 18">: work whose submit arrived; its copies go.
"use strict";

(() => {
  const DEBOUNCE = 1000;
  const PATIENCE = 20_000;
  const WAITS = [2000, 4000, 8000, 15000, 30000];
  const LEFT_ALONE = 60_000; // a copy that no window has touched for so long is sent from here
  const PREFIX = "draft ";

  const WORDS = {
    idle: "Saved as you type",
    saving: "Saving…",
    offline: "Not saved (offline). It is kept in this browser and sent when the network is back.",
    silent: "Not saved (the studio does not answer). It is kept in this browser and sent again.",
    fragile: "Not saved (offline). Keep this page open: this browser keeps no copy.",
    other: "Saved in another window. Choose below which one goes on.",
    login: "Not saved: log in again; your text is kept.",
    refused: "Not saved: you may not save here any more. Your text is kept in this browser.",
    tooLong: "Not saved: this text is too long.",
    expired: "Not saved: the time has run out. Your text is kept; submit it to take the work again.",
    submitted: "Not saved: this work was submitted in another window. Your text is kept.",
    changed: "Your text is kept. The utterance has changed meanwhile: load this page again to see both.",
    ended: "Not saved: this work was given back. Your text is kept.",
    released: "Not saved: an admin has taken this work back. Your text is kept.",
    unsent: "Not submitted (offline). Your text is kept; submit it when the network is back.",
    sending: "Submitting…",
  };

  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
  const stable = (content) => JSON.stringify(Object.entries(content).sort());
  const cookie = (name) =>
    document.cookie.split("; ").find((part) => part.startsWith(`${name}=`))?.split("=")[1];

  // This browser's copies ---------------------------------------------------------------------

  function keep(key, copy) {
    try {
      localStorage.setItem(key, JSON.stringify({ ...copy, at: Date.now() }));
      return true;
    } catch {
      return false;
    }
  }

  function kept(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  }

  function forget(key) {
    try { localStorage.removeItem(key); } catch { /* it never was there */ }
  }

  // Each window keeps its own copy: two that differ must not overwrite each other's.
  function nameOfWindow() {
    try {
      return (sessionStorage["draft window"] ||= crypto.getRandomValues(new Uint32Array(1))[0]);
    } catch {
      return "only";
    }
  }

  function keptKeys(owner) {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(`${PREFIX}${owner} `));
    } catch {
      return [];
    }
  }

  // The form ----------------------------------------------------------------------------------

  function fields(form) {
    return [...form.elements].filter((field) =>
      field.name && !["submit", "button", "file", "fieldset", "output"].includes(field.type) &&
      (field.type !== "hidden" || "draftKeep" in field.dataset));
  }

  function contentOf(form) {
    const content = {};
    for (const field of fields(form)) {
      const isChoice = field.type === "checkbox" || field.type === "radio";
      if (!isChoice || field.checked) content[field.name] = field.value;
    }
    return content;
  }

  function fill(form, content) {
    for (const field of fields(form)) {
      if (field.type === "checkbox" || field.type === "radio") {
        field.checked = content[field.name] === field.value;
      } else if (field.name in content) {
        field.value = content[field.name];
      }
    }
    form.dispatchEvent(new CustomEvent("draft:filled", { bubbles: true }));
  }

  function post(url, version, content, leaving) {
    const body = new URLSearchParams({ version, content: JSON.stringify(content) });
    if (window.activeSeconds) body.set("seconds", window.activeSeconds());
    const headers = { "X-CSRFToken": cookie("csrftoken") ?? "" };
    const signal = leaving ? undefined : AbortSignal.timeout(PATIENCE);
    return fetch(url, { method: "POST", body, headers, redirect: "manual", keepalive: leaving, signal });
  }

  class Draft {
    constructor(form) {
      this.form = form;
      this.url = form.dataset.draft;
      this.owner = form.dataset.draftOwner;
      this.key = `${PREFIX}${this.owner} ${this.url} ${nameOfWindow()}`;
      this.version = Number(form.dataset.draftVersion);
      this.savedAt = form.dataset.draftSaved ? new Date(form.dataset.draftSaved) : null;
      this.status = form.querySelector("[data-draft-status]");
      this.news = form.querySelector("[data-draft-news]");
      this.panel = form.querySelector("[data-draft-conflict]");
      this.sent = [];       // versions and contents that went out and were not answered
      this.failures = 0;
      this.isStopped = false;
      this.listen();
      this.open();
    }

    listen() {
      this.form.addEventListener("input", () => this.touch());
      this.form.addEventListener("change", () => this.touch());
      this.form.addEventListener("submit", (event) => this.submit(event));
      window.addEventListener("online", () => { this.failures = 0; this.sendSoon(0); });
      window.addEventListener("offline", () => { if (this.isDirty()) this.say("offline"); });
      window.addEventListener("pagehide", () => this.leave());
      document.addEventListener("visibilitychange", () => { if (document.hidden) this.leave(); });
      this.panel?.querySelector("[data-draft-take]").addEventListener("click", () => this.take());
      this.panel?.querySelector("[data-draft-mine]").addEventListener("click", () => this.mine());
    }

    // What the page came with, and what this browser has kept from before.
    open() {
      const shown = contentOf(this.form);
      const copy = this.takeCopy();
      this.sent = [copy?.sent ?? []].flat(); // also what went out as the page was left, and nobody heard of
      const isRefused = "draftUnsaved" in this.form.dataset;
      this.saved = isRefused ? null : stable(shown);
      // A page that was refused shows what it sent, and not what another window has saved since: the
      // server is told what this window has seen, and answers with the other one.
      const seen = isRefused && kept(this.key);
      if (seen?.url === this.url) this.version = Math.min(this.version, seen.version);
      if (!copy?.dirty || stable(copy.content) === stable(shown)) {
        if (this.isDirty()) this.touch(); else this.rest();
        return;
      }
      fill(this.form, copy.content);
      if (copy.version < this.version && !this.isOurs(this.version, stable(shown))) {
        const version = this.version;
        this.version = copy.version; // until the person has chosen, this is what the copy has seen
        this.conflict(version, shown);
      } else {
        this.touch();
        this.announce("What you had typed before is back in the form.");
      }
    }

    // The last one that this browser has and the server may not, also of a window that was closed.
    takeCopy() {
      const found = keptKeys(this.owner).map((key) => ({ key, ...kept(key) }))
        .filter((copy) => copy.url === this.url && copy.dirty)
        .sort((one, other) => other.at - one.at)[0];
      if (found && found.key !== this.key) forget(found.key);
      return found;
    }

    isOurs(version, content) {
      return this.sent.some((one) => one.version === version && one.content === content);
    }

    // What is in the form, in this browser, with what went out of it and was not answered.
    keepCopy(state) {
      return keep(this.key, {
        content: contentOf(this.form), version: this.version, url: this.url, sent: this.sent.slice(-9), ...state,
      });
    }

    isDirty() { return stable(contentOf(this.form)) !== this.saved; }

    touch() {
      if (this.isSubmitting) return;
      this.isKept = this.keepCopy({ dirty: true });
      if (this.isStopped) return;
      if (!this.isDirty()) { this.rest(); return; }
      // While the network is gone, another key changes nothing about that.
      if (!this.failures) this.say(navigator.onLine ? "saving" : "offline");
      if (!this.failures || !this.timer) this.sendSoon(DEBOUNCE);
    }

    sendSoon(wait) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => { this.timer = null; this.send(); }, wait);
    }

    async send() {
      if (this.isStopped || this.isSubmitting || this.isSending || !this.isDirty()) return;
      this.isSending = true;
      // What was not answered goes first, unchanged: if it did arrive, the server knows it again.
      const content = this.unanswered ?? contentOf(this.form);
      const version = this.version + 1;
      this.unanswered = content;
      this.sent.push({ version, content: stable(content) });
      this.keepCopy({ dirty: true });
      try {
        await this.answer(await post(this.url, version, content, false), version, content);
      } catch {
        this.fail(navigator.onLine ? "silent" : "offline");
      } finally {
        this.isSending = false;
      }
    }

    async answer(response, version, content) {
      if (response.status < 500) this.unanswered = null;
      if (response.type === "opaqueredirect") return this.stopFor("login");
      if (response.ok) return this.accept(version, content, (await response.json()).saved_at);
      if (response.status === 409) return this.refuse(await response.json());
      if (response.status === 410) return this.stopFor((await response.json()).state);
      if (response.status === 403) return this.stopFor(isJson(response) ? "refused" : "login");
      if (response.status === 404) return this.stopFor("refused");
      if (response.status < 500) return this.say("tooLong");
      return this.fail("silent");
    }

    accept(version, content, savedAt) {
      this.version = version;
      this.saved = stable(content);
      this.savedAt = new Date(savedAt);
      this.sent = [];
      const hadFailed = this.failures > 0;
      this.failures = 0;
      if (this.isDirty()) { this.touch(); return; }
      this.rest();
      if (hadFailed) this.announce(this.status.textContent);
    }

    // Another window saved before this one, or our own save arrived and its answer did not.
    refuse({ version, content }) {
      const theirs = stable(content);
      if (!this.isOurs(version, theirs) && theirs !== stable(contentOf(this.form))) { this.conflict(version, content); return; }
      this.version = version;
      this.saved = theirs;
      this.savedAt ??= new Date();
      this.sent = [];
      this.failures = 0;
      if (this.isDirty()) this.sendSoon(0); else this.rest();
    }

    fail(state) {
      if (this.isSubmitting) return;
      this.say(this.isKept === false ? "fragile" : state);
      const wait = WAITS[Math.min(this.failures, WAITS.length - 1)];
      this.failures += 1;
      this.sendSoon(wait);
    }

    stopFor(state) {
      this.isStopped = true;
      this.say(WORDS[state] ? state : "ended");
    }

    rest() {
      clearTimeout(this.timer);
      this.timer = null;
      this.keepCopy({ dirty: false });
      this.say(this.savedAt ? "saved" : "idle");
    }

    say(state) {
      if (!this.status || this.state === state && state !== "saved") return;
      const before = this.state;
      this.state = state;
      const words = state === "saved" ? `Saved ${clock.format(this.savedAt)}` : WORDS[state];
      this.status.hidden = false;
      this.status.dataset.state = state;
      this.status.replaceChildren(words);
      if (state === "saved") this.status.append(this.moment());
      if (state === "login") this.status.append(" ", this.loginLink());
      // Read aloud: trouble, and the first time that all is well; not every second's saving.
      const isQuiet = ["saving", "idle", "sending"].includes(state) || (state === "saved" && before !== "saving");
      if (!isQuiet && !(state === "saved" && this.hasAnnouncedSaved)) this.announce(words);
      if (state === "saved") this.hasAnnouncedSaved = true;
    }

    moment() {
      const time = document.createElement("time");
      time.dateTime = this.savedAt.toISOString();
      time.hidden = true;
      return time;
    }

    loginLink() {
      const link = document.createElement("a");
      link.href = location.href; // who is logged out is sent to log in, and back
      link.textContent = "Log in";
      return link;
    }

    announce(words) { if (this.news) this.news.textContent = words; }

    // The other draft beside one's own, and nothing is sent until the person has chosen.
    conflict(version, content) {
      this.isStopped = true;
      this.theirs = { version, content };
      this.say("other");
      if (!this.panel) return;
      const text = this.panel.querySelector("[data-draft-theirs]");
      text.replaceChildren(...Object.entries(content)
        .filter(([name, value]) => value !== contentOf(this.form)[name])
        .map(([, value]) => Object.assign(document.createElement("p"), { dir: "auto", textContent: value || "(empty)" })));
      this.panel.hidden = false;
    }

    take() {
      fill(this.form, this.theirs.content);
      this.settle();
      this.saved = stable(contentOf(this.form));
      this.savedAt ??= new Date();
      this.rest();
      this.announce("The form has the draft from the other window.");
    }

    mine() {
      this.settle();
      this.saved = stable(this.theirs.content);
      this.touch();
      this.sendSoon(0);
    }

    settle() {
      this.version = this.theirs.version;
      this.isStopped = false;
      this.sent = [];
      this.panel.hidden = true;
      (fields(this.form)[0] ?? this.form).focus();
    }

    submit(event) {
      if (event.defaultPrevented) return;
      this.touch();
      if (!navigator.onLine) { event.preventDefault(); this.say("unsent"); return; }
      this.takeToken(this.form);
      this.sendOff();
      if (this.isKept !== false) this.sayKept();
    }

    // To a server that knows nobody any more: after the log-in the text is in the form again.
    sayKept() {
      const field = this.form.elements.kept ?? this.form.appendChild(
        Object.assign(document.createElement("input"), { type: "hidden", name: "kept" }));
      field.value = "1";
    }

    // The page's token is old after a new log-in in another window; the cookie's is not.
    takeToken(form) {
      const token = cookie("csrftoken");
      if (token) form.elements.csrfmiddlewaretoken.value = token;
    }

    sendOff() {
      clearTimeout(this.timer);
      this.isSubmitting = true;
      this.keepCopy({ dirty: true, submitted: true });
      this.say("sending");
    }

    // The form was sent with htmx, and the page stays. Its answer brings a new form, or does not come.
    replaced(isTaken) {
      clearTimeout(this.timer);
      this.isStopped = this.isSubmitting = true;
      if (isTaken) forget(this.key);
    }

    resume() {
      this.isSubmitting = false;
      this.state = null;
      this.touch();
    }

    leave() {
      if (this.isStopped || this.isSubmitting || this.isSending || !this.isDirty()) return;
      const content = contentOf(this.form);
      const version = this.version + 1;
      this.sent.push({ version, content: stable(content) });
      this.keepCopy({ dirty: true });
      post(this.url, version, content, true)
        .then((response) => this.answer(response, version, content)).catch(() => {});
    }
  }

  const isJson = (response) => response.headers.get("Content-Type")?.includes("json");

  // Copies of work that is not on this page: drop those that arrived, send those that did not.
  async function tidy(owner, done, urlsHere) {
    for (const key of keptKeys(owner)) {
      const copy = kept(key);
      if (!copy || urlsHere.has(copy.url)) continue;
      const number = copy.url?.match(/\/(\d+)\/draft\/$/)?.[1];
      if (!copy.dirty || (copy.submitted && done.has(number))) { forget(key); continue; }
      if (Date.now() - copy.at < LEFT_ALONE) continue;
      try {
        const response = await post(copy.url, copy.version + 1, copy.content, false);
        if (response.ok || [403, 404, 409, 410].includes(response.status) && isJson(response)) forget(key);
      } catch { return; /* offline: the next page tries again */ }
    }
  }

  function sendWith(event) {
    const written = document.getElementById(event.target.dataset?.draftWith ?? "");
    if (!written?.draft || event.defaultPrevented) return;
    if (!navigator.onLine) { event.preventDefault(); written.draft.say("unsent"); return; }
    for (const [name, value] of Object.entries(contentOf(written))) {
      const field = event.target.elements[name] ?? event.target.appendChild(
        Object.assign(document.createElement("input"), { type: "hidden", name }));
      field.value = value;
    }
    written.draft.takeToken(event.target);
    written.draft.sendOff();
  }

  function start(root) {
    for (const form of root.querySelectorAll("form[data-draft]")) form.draft ??= new Draft(form);
  }

  document.addEventListener("submit", sendWith);

  // Forms that htmx sends: the same, but for the page, which stays.
  const written = (event) => {
    const form = event.detail.requestConfig?.elt ?? event.detail.elt;
    return form?.draft ?? document.getElementById(form?.dataset?.draftWith ?? "")?.draft;
  };
  document.addEventListener("htmx:configRequest", (event) => {
    const { elt, parameters } = event.detail;
    const token = cookie("csrftoken");
    if (token) parameters.csrfmiddlewaretoken = token;
    if (window.activeSeconds && "seconds" in parameters) parameters.seconds = window.activeSeconds();
    if (elt.dataset.draftWith && written(event)) Object.assign(parameters, contentOf(written(event).form));
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    const draft = written(event);
    if (!draft) return;
    draft.isSubmitting = false;
    draft.touch();
    if (navigator.onLine) draft.sendOff(); else draft.say("unsent");
  });
  for (const trouble of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
    document.addEventListener(trouble, (event) => written(event)?.resume());
  }
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, xhr, shouldSwap, pathInfo } = event.detail;
    const isTaken = xhr.getResponseHeader("HX-Trigger")?.includes("draft:taken");
    if (!shouldSwap) return;
    if (new URL(xhr.responseURL, location.href).pathname !== new URL(pathInfo.requestPath, location.href).pathname) {
      const draft = written(event); // what came is the log-in page
      if (draft) { draft.isSubmitting = false; draft.stopFor("login"); }
      return;
    }
    for (const form of target.querySelectorAll("form[data-draft]")) form.draft?.replaced(isTaken);
  });

  start(document);
  document.addEventListener("htmx:load", (event) => start(event.target.parentElement ?? document));
  for (const list of document.querySelectorAll("[data-drafts-owner]")) {
    const here = [...document.querySelectorAll("form[data-draft]")].map((form) => form.dataset.draft);
    tidy(list.dataset.draftsOwner, new Set(list.dataset.draftsDone.split(" ")), new Set(here));
  }

  // A page that the browser took out of its memory shows what was, not what is.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted && document.querySelector("form[data-draft]")) location.reload();
  });
})();
