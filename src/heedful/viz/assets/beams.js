"use strict";
// The tree of a beam search: a column a step, likeliest first, and what became of each hypothesis.
(() => {
  const heedful = (window.heedful = window.heedful || {});
  const { make, shown } = heedful;
  const COLUMN = 132; // width of a step, in pixels; the same in attention.css
  const ROW = 26;
  const OVER = new Set(["best", "kept", "worse", "beaten", "cut"]);

  function score(node) {
    return (node.score ?? node.total).toFixed(2);
  }

  // The tokens of a node, from the first on.
  function path(tree, place) {
    const found = [];
    for (let at = place; at > 0; at = tree.nodes[at].parent) found.unshift(tree.nodes[at].token);
    return found.join("").trim();
  }

  class Beams {
    constructor(element, tree) {
      Object.assign(this, { element, tree });
      this.said = make("p", { class: "heedful-said", role: "status" });
      this.canvas = make("canvas", { "aria-hidden": "true" });
      this.columns = this.byStep();
      this.list = make("div", { class: "heedful-nodes", role: "group", "aria-label": "Hypotheses, step by step" });
      this.buttons = tree.nodes.map((node, place) => (place ? this.button(node, place) : null));
      const high = ROW * Math.max(1, ...this.columns.map((column) => column.length));
      this.list.style.height = `${high}px`;
      this.list.style.width = `${COLUMN * this.columns.length}px`;
      this.high = high;
      this.list.prepend(this.canvas);
      const title = `Beam ${tree.beam}, length penalty ${tree.alpha}. Numbers are log-probabilities; of ` +
        "those that ended, the score they are ranked by. Dotted ones fell off the beam.";
      element.replaceChildren(make("section", { class: "heedful-beams", "aria-label": "Beam search" },
        make("p", { class: "heedful-hint" }, title), this.said,
        make("div", { class: "heedful-scroll", tabindex: "0", role: "region", "aria-label": "The tree" }, this.list), this.table()));
      this.list.addEventListener("keydown", (event) => this.pressed(event));
      this.list.addEventListener("pointerover", (event) => this.over(event));
      this.list.addEventListener("focusin", (event) => this.over(event));
      this.paint();
      heedful.onColours(element, () => this.paint());
    }

    // The places of the nodes of each step, in the order the search had them.
    byStep() {
      const columns = [];
      this.tree.nodes.forEach((node, place) => {
        if (place) (columns[node.step - 1] ||= []).push(place);
      });
      return columns;
    }

    button(node, place) {
      const row = this.columns[node.step - 1].indexOf(place);
      const text = `${shown(node.token)} ${score(node)}`;
      const first = this.list.childElementCount === 0;
      const made = make("button", {
        type: "button", class: `fate-${node.fate}`, tabindex: first ? "0" : "-1", dir: "auto",
        "aria-label": `step ${node.step}, ${shown(node.token)}, ${score(node)}: ${node.why}`,
      }, text);
      made.style.left = `${(node.step - 1) * COLUMN}px`;
      made.style.top = `${row * ROW}px`;
      made.dataset.place = place;
      this.list.append(made);
      return made;
    }

    paint() {
      const pen = heedful.sized(this.canvas, COLUMN * this.columns.length, this.high);
      const [plain, best] = [heedful.ink("--heat-edge"), heedful.ink("--heat-mark")];
      const chosen = this.ancestors(this.tree.best[0] ?? 0);
      this.tree.nodes.forEach((node, place) => {
        if (node.parent < 1) return;
        const above = this.tree.nodes[node.parent];
        const on = chosen.has(place);
        pen.strokeStyle = on ? best : plain;
        pen.lineWidth = on ? 2 : 1;
        pen.beginPath();
        pen.moveTo(above.step * COLUMN - 22, this.middle(node.parent));
        pen.lineTo((node.step - 1) * COLUMN, this.middle(place));
        pen.stroke();
      });
    }

    middle(place) {
      const node = this.tree.nodes[place];
      return (this.columns[node.step - 1].indexOf(place) + 0.5) * ROW - 1;
    }

    ancestors(place) {
      const found = new Set();
      for (let at = place; at > 0; at = this.tree.nodes[at].parent) found.add(at);
      return found;
    }

    over(event) {
      const button = event.target.closest("button");
      if (!button) return;
      const place = Number(button.dataset.place);
      const node = this.tree.nodes[place];
      const ranked = node.score === null ? "" : `, score ${node.score.toFixed(4)}`;
      this.said.textContent = `${path(this.tree, place)}: log-probability ${node.total.toFixed(4)}${ranked}; ${node.why}`;
      if (event.type === "focusin") {
        for (const one of this.list.querySelectorAll("[tabindex='0']")) one.tabIndex = -1;
        button.tabIndex = 0;
      }
    }

    pressed(event) {
      const at = Number(event.target.dataset.place);
      const next = at ? this.beside(at, event.key) : undefined;
      if (!next) return;
      event.preventDefault();
      this.buttons[next].focus();
    }

    // Up and down among those of a step; left to the parent; right to the likeliest child.
    beside(at, key) {
      const node = this.tree.nodes[at];
      const column = this.columns[node.step - 1];
      const row = column.indexOf(at);
      if (key === "ArrowUp") return column[row - 1];
      if (key === "ArrowDown") return column[row + 1];
      if (key === "ArrowLeft") return node.parent;
      if (key === "ArrowRight") return (this.columns[node.step] || []).find((one) => this.tree.nodes[one].parent === at);
      return undefined;
    }

    // Those that came to an end, best first: a table for everyone.
    table() {
      const over = this.tree.nodes.map((node, place) => ({ node, place })).filter(({ node }) => OVER.has(node.fate));
      over.sort((a, b) => (b.node.score ?? -Infinity) - (a.node.score ?? -Infinity) || b.node.total - a.node.total);
      const head = make("tr");
      for (const name of ["hypothesis", "score", "log-probability", "what became of it"]) head.append(make("th", { scope: "col" }, name));
      const body = make("tbody");
      for (const { node, place } of over) {
        body.append(make("tr", {},
          make("th", { scope: "row", dir: "auto" }, path(this.tree, place)),
          make("td", { class: "number" }, node.score === null ? "–" : node.score.toFixed(4)),
          make("td", { class: "number" }, node.total.toFixed(4)),
          make("td", {}, node.why)));
      }
      const fell = this.tree.nodes.filter((node) => node.fate === "fell" || node.fate === "behind").length;
      const caption = `Hypotheses that ended or were growing at the end; ${fell} others fell off the beam.`;
      return make("div", { class: "heedful-scroll" }, make("table", {}, make("caption", {}, caption), make("thead", {}, head), body));
    }
  }

  // Draws the tree of a search into an element, in place of what is there.
  heedful.drawBeams = (element, tree) => new Beams(element, tree);
})();
