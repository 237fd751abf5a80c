// The tree page: the outline (nested links with role="tree") and the drawing are one tree.
// Focus, folding, and showing one branch alone happen in both at once. The drawing's boxes come
// from the server with their sizes; here they only move (same rule as trees/domain/layout.py).
"use strict";

(() => {
  const MARGIN = 16, ROW_GAP = 14, TURN = 22, SMALLEST_SCALE = 0.78, TURNS_LEFT_OPEN = 3;

  class TreeView {
    constructor(outline) {
      this.outline = outline;
      this.svg = document.querySelector("[data-drawing]");
      this.scroller = document.querySelector("[data-drawing-scroll]");
      this.tools = document.querySelector("[data-tree-tools]");
      this.status = document.querySelector("[data-tree-status]");
      this.panel = document.getElementById("node-panel");
      this.isolated = null;
      this.isRealSize = false;
      this.places = new Map();
      for (const item of outline.querySelectorAll("[role=treeitem]")) this.add(item);
      this.root = this.places.values().next().value;
      this.focused = this.selected() ?? this.root;
      if (outline.hasAttribute("data-opens-folded")) this.foldAfter(TURNS_LEFT_OPEN);
      this.reveal(this.focused);
      this.listen();
      this.tools.hidden = false;
      this.render();
      this.setFocused(this.focused);
    }

    add(item) {
      const name = item.dataset.slot;
      const box = this.svg.querySelector(`[data-box="${name}"]`);
      const rect = box.querySelector("rect");
      const parent = this.places.get(item.dataset.parent) ?? null;
      const place = {
        name, item, box, parent, children: [], isFolded: false,
        line: this.svg.querySelector(`[data-line="${name}"]`),
        x: Number(box.getAttribute("transform").match(/[\d.]+/)[0]),
        width: Number(rect.getAttribute("width")), height: Number(rect.getAttribute("height")),
      };
      parent?.children.push(place);
      this.places.set(name, place);
    }

    // What is shown ------------------------------------------------------------------------

    isWithin(place, branch) {
      for (let at = place; at; at = at.parent) if (at === branch) return true;
      return false;
    }

    isInBranch(place) {
      return !this.isolated || this.isWithin(place, this.isolated) || this.isWithin(this.isolated, place);
    }

    isShown(place) {
      if (!this.isInBranch(place)) return false;
      for (let at = place.parent; at; at = at.parent) if (at.isFolded) return false;
      return true;
    }

    shown() { return [...this.places.values()].filter((place) => this.isShown(place)); }

    shownChildren(place) {
      return place.isFolded ? [] : place.children.filter((child) => this.isInBranch(child));
    }

    countBelow(place) {
      return place.children.reduce((sum, child) => sum + 1 + this.countBelow(child), 0);
    }

    render() {
      const shown = new Set(this.shown());
      for (const place of this.places.values()) {
        const isShown = shown.has(place);
        place.item.parentElement.hidden = !this.isInBranch(place);
        place.box.toggleAttribute("hidden", !isShown);
        place.box.setAttribute("display", isShown ? "inline" : "none");
        place.line?.setAttribute("display", isShown ? "inline" : "none");
        if (place.children.length) this.renderFold(place);
      }
      this.layOut(shown);
      this.tools.querySelector("[data-tool=isolate]").setAttribute("aria-pressed", String(Boolean(this.isolated)));
    }

    renderFold(place) {
      place.item.setAttribute("aria-expanded", String(!place.isFolded));
      place.item.parentElement.querySelector(":scope > [role=group]").hidden = place.isFolded;
      place.box.classList.toggle("is-folded", place.isFolded);
      place.box.querySelector(".fold-count").textContent = `${this.countBelow(place)} below`;
    }

    layOut(shown) {
      const bands = new Map(), middles = new Map();
      const stacked = (places) => places.reduce((sum, one) => sum + bands.get(one), 0) +
        ROW_GAP * Math.max(places.length - 1, 0);
      for (const place of [...shown].reverse()) {
        bands.set(place, Math.max(place.height, stacked(this.shownChildren(place))));
      }
      const tops = new Map([[this.root, MARGIN]]);
      for (const place of shown) {
        const children = this.shownChildren(place);
        let top = tops.get(place) + (bands.get(place) - stacked(children)) / 2;
        for (const child of children) { tops.set(child, top); top += bands.get(child) + ROW_GAP; }
      }
      for (const place of [...shown].reverse()) {
        const below = this.shownChildren(place).map((child) => middles.get(child));
        const top = tops.get(place), band = bands.get(place), half = place.height / 2;
        const wanted = below.length ? below.reduce((sum, one) => sum + one, 0) / below.length : top + band / 2;
        middles.set(place, Math.max(top + half, Math.min(wanted, top + band - half)));
      }
      for (const place of shown) this.move(place, middles);
      this.resize(shown, middles);
    }

    move(place, middles) {
      const middle = Math.round(middles.get(place));
      place.box.setAttribute("transform", `translate(${place.x} ${Math.round(middle - place.height / 2)})`);
      if (!place.line) return;
      const from = place.parent.x + place.parent.width;
      place.line.querySelector("path").setAttribute(
        "d", `M${from} ${Math.round(middles.get(place.parent))}H${from + TURN}V${middle}H${place.x}`,
      );
      place.line.querySelector("text").setAttribute("y", String(middle + 4));
    }

    resize(shown, middles) {
      const folded = 90;  // room for "12 below"
      this.width = Math.max(...[...shown].map((one) => one.x + one.width + (one.isFolded ? folded : 0))) + MARGIN;
      this.height = Math.ceil(Math.max(...[...shown].map((one) => middles.get(one) + one.height / 2))) + MARGIN;
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      this.fit();
    }

    // As large as there is room for, never so small that it cannot be read: then it scrolls.
    fit() {
      const room = this.scroller.clientWidth / this.width;
      const scale = this.isRealSize ? 1 : Math.min(1, Math.max(room, SMALLEST_SCALE));
      this.svg.setAttribute("width", String(Math.floor(this.width * scale)));
      this.svg.setAttribute("height", String(Math.floor(this.height * scale)));
    }

    // Folding --------------------------------------------------------------------------------

    fold(place, isFolded) {
      if (!place.children.length || place.isFolded === isFolded) return;
      place.isFolded = isFolded;
      if (!this.isShown(this.focused)) this.setFocused(place);
      this.render();
      this.keepInView(place);
    }

    foldAfter(turns) {
      for (const place of this.places.values()) {
        place.isFolded = place.children.length > 0 && Number(place.item.ariaLevel) > turns;
      }
    }

    reveal(place) {
      if (this.isolated && !this.isInBranch(place)) this.isolated = null;
      for (let at = place.parent; at; at = at.parent) at.isFolded = false;
    }

    isolate() {
      this.isolated = this.isolated ? null : this.focused;
      this.render();
      this.keepInView(this.focused);
      this.say(this.isolated ? "Only this branch is shown." : "The whole tree is shown.");
    }

    nextOpen() {
      const all = [...this.places.values()];
      const start = all.indexOf(this.focused) + 1;
      const next = [...all.slice(start), ...all.slice(0, start)].find((one) => "open" in one.item.dataset);
      if (next) { this.reveal(next); this.render(); this.focus(next); }
    }

    // Focus, pointing, selecting ---------------------------------------------------------------

    setFocused(place) {
      this.focused = place;
      for (const other of this.places.values()) {
        other.item.tabIndex = other === place ? 0 : -1;
        other.box.classList.toggle("is-focused", other.item === document.activeElement);
      }
    }

    focus(place) {
      this.setFocused(place);
      place.item.focus({ preventScroll: true });
      this.keepInView(place);
    }

    // Scrolls the two containers, never the page.
    keepInView(place) {
      for (const [container, element] of [[this.outline, place.item], [this.scroller, place.box]]) {
        const outer = container.getBoundingClientRect(), inner = element.getBoundingClientRect();
        const edge = 24;
        if (inner.top < outer.top + edge) container.scrollTop -= outer.top + edge - inner.top;
        else if (inner.bottom > outer.bottom - edge) container.scrollTop += inner.bottom - outer.bottom + edge;
        if (inner.left < outer.left + edge) container.scrollLeft -= outer.left + edge - inner.left;
        else if (inner.right > outer.right - edge && container === this.scroller) container.scrollLeft += inner.right - outer.right + edge;
      }
    }

    point(place) {
      for (const mark of document.querySelectorAll("mark.source")) {
        mark.classList.toggle("is-pointed-at", Boolean(place) && mark.dataset.slots.split(" ").includes(place.name));
      }
      for (const other of this.places.values()) {
        other.box.classList.toggle("is-pointed-at", other === place);
        other.item.classList.toggle("is-pointed-at", other === place);
      }
    }

    selected() {
      return [...this.places.values()].find((one) => one.item.getAttribute("aria-selected") === "true");
    }

    // The item is a link that htmx takes over: a click on it brings its panel.
    select(place) {
      this.markSelected(place);
      if (window.htmx) place.item.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      else window.location.assign(place.item.href);
    }

    say(text) { this.status.textContent = text; }

    placeOf(element) {
      const found = element.closest?.("[data-slot], [data-box]");
      return found && this.places.get(found.dataset.slot ?? found.dataset.box);
    }

    // Events ------------------------------------------------------------------------------------

    listen() {
      this.outline.addEventListener("keydown", (event) => this.onKey(event));
      // Before htmx sees the click: the toggle folds and does not load the panel.
      this.outline.addEventListener("click", (event) => this.onOutlineClick(event), true);
      this.outline.addEventListener("focusin", (event) => {
        const place = this.placeOf(event.target);
        if (!place) return;
        this.setFocused(place);
        place.box.classList.add("is-focused");
        this.keepInView(place);
        this.point(place);
      });
      this.outline.addEventListener("focusout", () => this.focused.box.classList.remove("is-focused"));
      this.svg.addEventListener("click", (event) => this.onBoxClick(event));
      for (const area of [this.outline, this.svg]) {
        area.addEventListener("pointerover", (event) => this.point(this.placeOf(event.target) ?? null));
        area.addEventListener("pointerleave", () => this.point(null));
      }
      document.querySelector("[data-rule-text]").addEventListener("click", (event) => {
        const mark = event.target.closest("mark.source");
        const place = mark && this.places.get(mark.dataset.slots.split(" ")[0]);
        if (place) { this.reveal(place); this.render(); this.focus(place); }
      });
      this.panel.addEventListener("click", (event) => this.onPanelClick(event));
      this.tools.addEventListener("click", (event) => this.onTool(event.target.closest("[data-tool]")?.dataset.tool));
      new ResizeObserver(() => this.fit()).observe(this.scroller);
    }

    onTool(tool) {
      if (tool === "open") this.nextOpen();
      if (tool === "isolate") this.isolate();
      if (tool === "fold") { this.foldAfter(TURNS_LEFT_OPEN); this.settle(); }
      if (tool === "unfold") { this.foldAfter(Infinity); this.settle(); }
      if (tool === "size") {
        this.isRealSize = !this.isRealSize;
        this.tools.querySelector("[data-tool=size]").setAttribute("aria-pressed", String(this.isRealSize));
        this.fit();
      }
    }

    settle() {
      let place = this.focused;
      while (!this.isShown(place)) place = place.parent;
      this.setFocused(place);
      this.render();
      this.keepInView(place);
      this.say(`${this.shown().length} of ${this.places.size} places are shown.`);
    }

    onOutlineClick(event) {
      const place = this.placeOf(event.target);
      if (!place) return;
      if (event.target.closest(".outline-toggle")) {
        event.preventDefault();
        event.stopPropagation();
        this.focus(place);
        this.fold(place, !place.isFolded);
      } else if (event.isTrusted && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        this.markSelected(place);
      }
    }

    markSelected(place) {
      for (const other of this.places.values()) {
        other.item.setAttribute("aria-selected", String(other === place));
        other.box.classList.toggle("is-selected", other === place);
      }
    }

    onBoxClick(event) {
      const place = this.placeOf(event.target);
      if (!place || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.focus(place);
      if (event.target.closest("[data-fold]")) this.fold(place, !place.isFolded);
      else this.select(place);
    }

    onPanelClick(event) {
      const place = this.places.get(event.target.closest("[data-go]")?.dataset.go);
      if (!place || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.reveal(place);
      this.render();
      this.focus(place);
      this.select(place);
    }

    // The keys of the ARIA tree pattern.
    onKey(event) {
      const place = this.placeOf(event.target);
      if (!place || event.ctrlKey || event.altKey || event.metaKey) return;
      const shown = this.shown(), at = shown.indexOf(place);
      const moves = {
        ArrowDown: () => this.focus(shown[Math.min(at + 1, shown.length - 1)]),
        ArrowUp: () => this.focus(shown[Math.max(at - 1, 0)]),
        Home: () => this.focus(shown[0]),
        End: () => this.focus(shown[shown.length - 1]),
        ArrowRight: () => this.goIn(place),
        ArrowLeft: () => this.goOut(place),
        Enter: () => this.select(place),
        " ": () => this.select(place),
      };
      if (!moves[event.key]) return;
      event.preventDefault();
      moves[event.key]();
    }

    goIn(place) {
      if (place.isFolded) this.fold(place, false);
      else if (this.shownChildren(place).length) this.focus(this.shownChildren(place)[0]);
    }

    goOut(place) {
      if (place.children.length && !place.isFolded) this.fold(place, true);
      else if (place.parent) this.focus(place.parent);
    }
  }

  // On going back htmx brings the page in anew; the script is there already.
  function start() {
    const outline = document.querySelector("[data-outline]:not([data-started])");
    if (!outline) return;
    outline.dataset.started = "";
    new TreeView(outline);
  }

  document.addEventListener("htmx:load", start);
  start();
})();
