"use strict";
// A look at a model: choose a kind, a layer and a head; see its lines, its heat map, all heads
// side by side, the alignment, and the same as tables.
(() => {
  const heedful = (window.heedful = window.heedful || {});
  const { make, shown, written } = heedful;
  const THUMBNAIL = 72; // side of a small picture, in pixels; the same in attention.css
  const NAMED = 3; // tokens that a table names for each token
  const SPOKEN = 5; // tokens that are spoken of one that is pointed at
  const LIKELY = 10; // labels that are named with their probabilities
  const KEYS =
    "Keys: ↑ ↓ from token to token, ← → from head to head, Page Up and Page Down from layer to " +
    "layer; in a heat map the arrows move from cell to cell.";
  let numbers = 0; // of the looks on this page, for ids

  // Names of the tokens in a picture; equal ones stay apart by their place.
  function names(side, words) {
    return (words ? side.joined : side.tokens).map(shown);
  }

  function option(value, text) {
    return make("option", { value: String(value) }, text);
  }

  // A weight table: for each token that looks, the few it looks at most.
  function strongestTable(caption, sheet, rows, columns) {
    const count = Math.min(NAMED, sheet.columns);
    const head = make("tr", {}, make("th", { scope: "col" }, "token"));
    for (let place = 1; place <= count; place += 1) {
      head.append(make("th", { scope: "col" }, `looks at, ${place}`), make("th", { scope: "col" }, "weight"));
    }
    const body = make("tbody");
    rows.forEach((name, row) => {
      const line = make("tr", {}, make("th", { scope: "row", dir: "auto" }, name));
      for (const { place, weight } of heedful.strongest(sheet, row, count)) {
        line.append(make("td", { dir: "auto" }, columns[place]), make("td", { class: "number" }, written(weight)));
      }
      body.append(line);
    });
    return make("table", {}, make("caption", {}, caption), make("thead", {}, head), body);
  }

  // What a classifier says: its likeliest labels.
  function labelTable({ labels, target }) {
    const head = make("tr", {}, make("th", { scope: "col" }, "label"), make("th", { scope: "col" }, "probability"));
    const body = make("tbody");
    for (const { name, probability } of labels.slice(0, LIKELY)) {
      const chosen = name === target ? { "aria-current": "true" } : {};
      body.append(make("tr", chosen, make("th", { scope: "row", dir: "auto" }, name),
        make("td", { class: "number" }, written(probability))));
    }
    const more = labels.length > LIKELY ? ` (${labels.length - LIKELY} more are less likely)` : "";
    const caption = make("caption", {}, `How likely each label is${more}`);
    return make("table", { class: "heedful-labels" }, caption, make("thead", {}, head), body);
  }

  // A table that is made when it is opened, and made anew when what it shows has changed.
  class Folded {
    constructor(title, build) {
      this.build = build;
      this.place = make("div", { class: "heedful-scroll" });
      this.element = make("details", { class: "heedful-table" }, make("summary", {}, title), this.place);
      this.element.addEventListener("toggle", () => this.refresh());
    }

    refresh() {
      this.place.replaceChildren(...(this.element.open ? [this.build()] : []));
    }
  }

  class View {
    constructor(element, look) {
      numbers += 1;
      Object.assign(this, { element, look, number: numbers, words: false });
      this.attention = look.attentions[look.attentions.length - 1];
      [this.layer, this.head] = [this.attention.layers.length - 1, "mean"];
      this.status = make("p", { class: "heedful-said", role: "status" });
      this.lines = new heedful.Lines((row) => this.pointed(row));
      this.heat = new heedful.HeatMap("Weights of the chosen head", (row, column) => this.cell(row, column));
      this.table = new Folded("The chosen head as a table", () => this.strongest());
      this.heads = make("div", { class: "heedful-heads heedful-scroll" });
      this.seen = new IntersectionObserver((entries) => this.appeared(entries), { rootMargin: "100px" });
      element.replaceChildren(...this.parts());
      this.fill();
      heedful.onColours(element, () => this.repaint());
    }

    parts() {
      const section = make("section", { class: "heedful-attention", "aria-label": "Attention" });
      if (this.look.labels.length) section.append(labelTable(this.look));
      const views = make("div", { class: "heedful-views" });
      views.append(make("div", { class: "heedful-scroll heedful-tall" }, this.lines.element), this.heat.element);
      section.append(this.controls(), this.status, views, make("p", { class: "heedful-hint" }, KEYS));
      section.append(this.table.element, make("h3", {}, "Heads side by side"), this.heads);
      section.addEventListener("keydown", (event) => this.pressed(event));
      const alignment = this.alignment();
      return alignment ? [section, alignment] : [section];
    }

    controls() {
      this.kinds = make("select", {});
      for (const one of this.look.attentions) this.kinds.append(option(one.kind, one.title));
      this.layers = make("select", {});
      this.choices = make("select", {});
      this.joined = make("input", { type: "checkbox" });
      this.kinds.addEventListener("change", () => this.show(this.kinds.value));
      this.layers.addEventListener("change", () => this.choose(place(this.layers.value), this.head));
      this.choices.addEventListener("change", () => this.choose(this.layer, place(this.choices.value)));
      this.joined.addEventListener("change", () => this.join(this.joined.checked));
      const label = (text, control) => make("label", {}, `${text} `, control);
      return make("div", { class: "heedful-controls", role: "group", "aria-label": "What is shown" },
        label("Kind", this.kinds), label("Layer", this.layers), label("Head", this.choices),
        make("label", {}, this.joined, " whole words"));
    }

    // Shows another kind of attention.
    show(kind, layer = this.layer, head = this.head) {
      this.attention = this.look.attentions.find((one) => one.kind === kind);
      const last = this.attention.layers.length - 1;
      this.layer = layer === "mean" ? layer : Math.min(layer, last);
      this.head = this.known(head) ? head : "mean";
      this.fill();
    }

    known(head) {
      if (head === "rollout") return this.attention.rollout.length > 0;
      const layers = this.layer === "mean" ? this.attention.layers : [this.attention.layers[this.layer]];
      return head === "mean" || layers.every((layer) => head < layer.heads);
    }

    choose(layer, head) {
      this.layer = layer;
      this.head = this.known(head) ? head : "mean";
      this.refresh();
    }

    join(words) {
      this.words = words;
      this.fill();
    }

    // Everything anew: the tokens are others.
    fill() {
      const { queries, keys } = this.attention;
      this.rows = names(queries, this.words);
      this.columns = names(keys, this.words);
      this.kinds.value = this.attention.kind;
      this.joined.checked = this.words;
      const layers = this.attention.layers.map((layer, number) => option(number, String(number + 1)));
      this.layers.replaceChildren(...layers, option("mean", "mean of all"));
      this.lines.show(this.chosen(), this.rows, this.columns);
      this.lay();
      this.refresh();
    }

    // What is chosen, between tokens or between words.
    chosen(layer = this.layer, head = this.head) {
      const found = heedful.weights(this.look, this.attention, layer, head);
      return this.words ? heedful.joinWords(found, this.attention.queries, this.attention.keys) : found;
    }

    // The chosen layer and head anew; the tokens stay.
    refresh() {
      const some = this.layer === "mean" ? this.attention.layers[0] : this.attention.layers[this.layer];
      const heads = Array.from({ length: some.heads }, (_, head) => option(head, String(head + 1)));
      const rollout = this.attention.rollout.length ? [option("rollout", "rollout")] : [];
      this.choices.replaceChildren(option("mean", "mean"), ...rollout, ...heads);
      this.choices.value = String(this.head);
      this.layers.value = String(this.layer);
      this.sheet = this.chosen();
      this.lines.change(this.sheet);
      this.heat.show(this.sheet, this.rows, this.columns);
      if (this.lines.row !== null) this.heat.point(this.lines.row);
      for (const button of this.heads.querySelectorAll("button")) {
        const here = button.dataset.layer === String(this.layer) && button.dataset.head === String(this.head);
        button.setAttribute("aria-pressed", String(here));
      }
      this.table.refresh();
      this.say(this.lines.row);
    }

    repaint() {
      this.lines.paint();
      this.heat.paint();
      if (this.aligned) this.aligned.paint();
      const printing = "printing" in document.documentElement.dataset;
      for (const button of this.heads.querySelectorAll("button")) {
        if (printing || button.dataset.drawn) this.thumbnail(button);
      }
    }

    pointed(row) {
      this.heat.point(row);
      this.say(row);
    }

    cell(row, column) {
      this.lines.row = row;
      this.lines.paint();
      const weight = this.sheet.values[row * this.sheet.columns + column];
      this.status.textContent = `${this.rows[row]} looks at ${this.columns[column]}: ${written(weight)}`;
    }

    title() {
      const layer = this.layer === "mean" ? "all layers" : `layer ${this.layer + 1}`;
      const head = typeof this.head === "number" ? `head ${this.head + 1}` : this.head;
      return `${this.attention.title}, ${layer}, ${head}`;
    }

    say(row) {
      let said = `${this.title()}.`;
      if (row !== null) {
        const found = heedful.strongest(this.sheet, row, SPOKEN);
        const parts = found.map(({ place: at, weight }) => `${this.columns[at]} ${written(weight)}`);
        said += ` ${this.rows[row]} looks at: ${parts.join(", ")}`;
      }
      if (this.attention.pooled) said += " Keys are joined tokens, so there is no rollout.";
      this.status.textContent = said;
    }

    pressed(event) {
      if (event.target.closest("select, input, canvas, summary")) return;
      const layers = this.attention.layers.length;
      const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const climb = { PageUp: -1, PageDown: 1 }[event.key];
      if (turn) this.choose(this.layer, this.beside(turn));
      else if (climb) this.choose(((this.layer === "mean" ? 0 : this.layer) + climb + layers) % layers, this.head);
      else return;
      event.preventDefault();
    }

    // The head to the left or to the right, round and round.
    beside(turn) {
      const all = [...this.choices.options].map((one) => place(one.value));
      return all[(all.indexOf(this.head) + turn + all.length) % all.length];
    }

    strongest() {
      return strongestTable(this.title(), this.sheet, this.rows, this.columns);
    }

    // The table of small pictures: a row a layer, a column a head.
    lay() {
      this.seen.disconnect();
      const { layers, rollout } = this.attention;
      const most = Math.max(...layers.map((layer) => layer.heads));
      const columns = ["mean", ...(rollout.length ? ["rollout"] : []), ...Array(most).keys()];
      const called = (head) => (typeof head === "number" ? `head ${head + 1}` : head);
      const head = make("tr", {}, make("td"));
      for (const one of columns) head.append(make("th", { scope: "col" }, called(one)));
      const body = make("tbody");
      layers.forEach((layer, number) => {
        const line = make("tr", {}, make("th", { scope: "row", title: layer.name }, `layer ${number + 1}`));
        for (const one of columns) {
          const there = typeof one !== "number" || one < layer.heads;
          line.append(make("td", {}, ...(there ? [this.button(number, one, called(one))] : [])));
        }
        body.append(line);
      });
      this.heads.replaceChildren(make("table", { "aria-label": "Heads side by side" }, make("thead", {}, head), body));
    }

    button(layer, head, called) {
      const made = make("button", { type: "button", "aria-label": `layer ${layer + 1}, ${called}` }, make("canvas"));
      Object.assign(made.dataset, { layer, head });
      made.addEventListener("click", () => this.choose(layer, head));
      this.seen.observe(made);
      return made;
    }

    // Small pictures are painted when they come into sight.
    appeared(entries) {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        this.seen.unobserve(target);
        this.thumbnail(target);
      }
    }

    thumbnail(button) {
      const sheet = this.chosen(Number(button.dataset.layer), place(button.dataset.head));
      heedful.thumbnail(button.firstElementChild, sheet, THUMBNAIL);
      button.dataset.drawn = "yes";
    }

    // Words said down, words read across, as in Bahdanau, Cho and Bengio's figures.
    alignment() {
      const found = this.look.alignment;
      if (!found) return null;
      const sheet = heedful.fromLists(found.weights);
      const [rows, columns] = [found.rows.map(shown), found.columns.map(shown)];
      const said = make("p", { class: "heedful-said", role: "status" });
      this.aligned = new heedful.HeatMap("Alignment of words", (row, column) => {
        const weight = sheet.values[row * sheet.columns + column];
        said.textContent = `${rows[row]} is aligned to ${columns[column]}: ${written(weight)}`;
      });
      this.aligned.show(sheet, rows, columns);
      const caption = "Words said, and the words read that they are aligned to most";
      const table = new Folded("The alignment as a table", () => strongestTable(caption, sheet, rows, columns));
      const title = make("h3", { id: `heedful-alignment-${this.number}` }, "Alignment");
      const note = "Words said down, words read across: the mean of all heads and layers.";
      return make("section", { class: "heedful-alignment", "aria-labelledby": title.id },
        title, make("p", { class: "heedful-hint" }, note), said, this.aligned.element, table.element);
    }

    // The weights as numbers: [rows][columns] of a kind, a layer and a head.
    weights(kind, layer, head) {
      const attention = this.look.attentions.find((one) => one.kind === kind);
      const found = heedful.weights(this.look, attention, layer, head);
      return Array.from({ length: found.rows }, (_, row) =>
        Array.from(found.values.subarray(row * found.columns, (row + 1) * found.columns)));
    }
  }

  // The value of an option: a number, or a word.
  function place(value) {
    return /^\d+$/.test(value) ? Number(value) : value;
  }

  // Draws a look into an element, in place of what is there.
  heedful.drawAttention = (element, look) => new View(element, look);
})();
