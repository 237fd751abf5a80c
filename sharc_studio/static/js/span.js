// The words of the rule text that a question comes from, by mouse, touch or keyboard.
//
// The server writes <span data-at="12"> around each run of the rule text: where it begins in the
// source, in code points. The browser counts UTF-16 units, so that each way is translated here.
// The span goes as "12-40" in <input data-span>.
"use strict";

(() => {
  const rule = document.querySelector("[data-rule-text]");
  if (!rule) return;

  const find = (name) => document.querySelector(`[data-span${name}]`);
  const pointsIn = (text) => [...text].length;
  const unitsOf = (text, points) => [...text].slice(0, points).join("").length;
  const highlights = window.CSS?.highlights;

  const runs = [...rule.querySelectorAll("[data-at]")].map((element) => {
    const node = element.firstChild;
    const start = Number(element.dataset.at);
    return { node, start, end: start + pointsIn(node.data), block: element.closest("li, p, h3, h4, h5, h6, td, th, pre") };
  });
  const words = runs.flatMap((run) => wordsOf(run));

  function wordsOf(run) {
    const segmenter = new Intl.Segmenter(rule.lang || undefined, { granularity: "word" });
    return [...segmenter.segment(run.node.data)].filter((part) => part.isWordLike).map((part) => {
      const start = run.start + pointsIn(run.node.data.slice(0, part.index));
      return { start, end: start + pointsIn(part.segment), block: run.block };
    });
  }

  // From the browser's selection to the source, and back -----------------------------------------

  function spanOf(range) {
    const inside = runs.filter((run) => range.intersectsNode(run.node)).map((run) => {
      const text = run.node.data;
      const from = run.node === range.startContainer ? range.startOffset : 0;
      const to = run.node === range.endContainer ? range.endOffset : text.length;
      return { start: run.start + pointsIn(text.slice(0, from)), text: text.slice(from, to) };
    }).filter((piece) => piece.text.trim());
    if (!inside.length) return null;
    const [first, last] = [inside[0], inside.at(-1)];
    const start = first.start + pointsIn(first.text) - pointsIn(first.text.trimStart());
    return { start, end: last.start + pointsIn(last.text.trimEnd()) };
  }

  function rangeOf({ start, end }) {
    const first = runs.find((run) => run.end > start);
    const last = runs.findLast((run) => run.start < end);
    if (!first || !last) return null;
    const range = document.createRange();
    range.setStart(first.node, unitsOf(first.node.data, Math.max(0, start - first.start)));
    range.setEnd(last.node, unitsOf(last.node.data, Math.min(end, last.end) - last.start));
    return range.collapsed ? null : range;
  }

  const parse = (value) => {
    const found = /^(\d+)-(\d+)$/.exec(value ?? "");
    return found && { start: Number(found[1]), end: Number(found[2]) };
  };

  function mark(span) {
    const range = span && rangeOf(span);
    if (range) highlights?.set("source", new Highlight(range)); else highlights?.delete("source");
    return range ? range.toString().replace(/\s+/g, " ").trim() : "";
  }

  // What stands in the form ----------------------------------------------------------------------

  function show() {
    const field = find("");
    tellKey(Boolean(field));
    if (!field) { mark(null); return; }
    const text = mark(parse(field.value));
    find("-words").textContent = text;
    find("-chosen").hidden = !text;
    find("-none").hidden = Boolean(text);
  }

  // The rule text is there before the field is, and after it: the key works only with it.
  function tellKey(isWanted) {
    if (isWanted) Object.assign(rule.dataset, { key: "s", keyLabel: "Select the words it comes from" });
    else { delete rule.dataset.key; delete rule.dataset.keyLabel; }
  }

  function choose(span) {
    const field = find("");
    if (!field) return;
    field.value = span ? `${span.start}-${span.end}` : "";
    field.dispatchEvent(new Event("input", { bubbles: true })); // it is part of the draft
    show();
    find("-news").textContent = span ? `Your question comes from: ${find("-words").textContent}` : "No words are selected.";
  }

  const toQuestion = () => document.querySelector("[data-question]")?.focus({ preventScroll: true });

  // Mouse and touch ------------------------------------------------------------------------------

  let isDown = false;

  function take() {
    const selection = getSelection();
    if (isDown || !selection.rangeCount || selection.isCollapsed) return false;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(rule)) return false;
    const span = spanOf(range);
    const field = find("");
    if (!span || !field || field.value === `${span.start}-${span.end}`) return false;
    choose(span);
    return true;
  }

  rule.addEventListener("pointerdown", () => { isDown = true; });
  addEventListener("pointerup", (event) => {
    if (!isDown) return;
    isDown = false;
    // A double click has its selection only after this event.
    setTimeout(() => { if (take() && event.pointerType === "mouse") toQuestion(); });
  });
  addEventListener("pointercancel", () => { isDown = false; });
  let soon;
  document.addEventListener("selectionchange", () => { clearTimeout(soon); soon = setTimeout(take, 300); });

  // Keyboard: arrows go from word to word, with Shift they take more; Enter goes to the question --

  let at = 0;
  let anchor = 0;

  function move(to, isMore) {
    at = Math.max(0, Math.min(to, words.length - 1));
    if (!isMore) anchor = at;
    const [first, last] = [words[Math.min(at, anchor)], words[Math.max(at, anchor)]];
    choose({ start: first.start, end: last.end });
    rangeOf(words[at])?.startContainer.parentElement.scrollIntoView({ block: "nearest" });
  }

  function inNextBlock(step) {
    const block = words[at].block;
    let index = at;
    while (words[index] && words[index].block === block) index += step;
    return index;
  }

  function begin() {
    const chosen = parse(find("")?.value);
    anchor = Math.max(0, words.findIndex((word) => chosen && word.end > chosen.start));
    at = chosen ? Math.max(anchor, words.findLastIndex((word) => word.start < chosen.end)) : anchor;
  }

  rule.addEventListener("focus", begin);
  rule.addEventListener("click", (event) => { if (event.detail === 0) rule.focus(); }); // the key
  rule.addEventListener("keydown", (event) => {
    if (!find("") || !words.length || event.ctrlKey || event.altKey || event.metaKey) return;
    const isReversed = getComputedStyle(words[at].block ?? rule).direction === "rtl";
    const forward = isReversed ? "ArrowLeft" : "ArrowRight";
    const back = isReversed ? "ArrowRight" : "ArrowLeft";
    const isFresh = !find("").value;
    const steps = {
      [forward]: () => move(isFresh ? at : at + 1, event.shiftKey),
      [back]: () => move(isFresh ? at : at - 1, event.shiftKey),
      ArrowDown: () => move(isFresh ? at : inNextBlock(1), event.shiftKey),
      ArrowUp: () => move(isFresh ? at : inNextBlock(-1), event.shiftKey),
      Enter: toQuestion,
      Escape: toQuestion,
      Delete: () => choose(null),
    };
    if (!steps[event.key]) return;
    event.preventDefault();
    steps[event.key]();
  });

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-span-clear]")) return;
    getSelection().removeAllRanges();
    choose(null);
    toQuestion();
  });
  document.addEventListener("draft:filled", show);
  document.addEventListener("htmx:load", show);
  show();
})();
