"use strict";
// Two columns of tokens and lines between them: who looks at whom, and how much.
(() => {
  const heedful = (window.heedful = window.heedful || {});
  const { make, shown, written } = heedful;
  const ROW = 22; // height of a token, in pixels; the same in attention.css
  const WIDE = 150; // between the columns
  const AT_REST = { each: 2, least: 0.15 }; // lines shown while nobody points
  const LEAST = 0.004; // a weaker line is not drawn

  class Lines {
    // `tell(row)` hears which token is pointed at, null for none.
    constructor(tell) {
      this.tell = tell;
      this.from = make("ol", { class: "from", role: "listbox", "aria-label": "Tokens that look" });
      this.to = make("ol", { class: "to", "aria-label": "Tokens that are looked at" });
      this.canvas = make("canvas", { "aria-hidden": "true" });
      this.element = make("div", { class: "heedful-lines" }, this.from, this.canvas, this.to);
      this.row = null;
      this.from.addEventListener("pointerover", (event) => this.over(event));
      this.from.addEventListener("focusin", (event) => this.over(event));
      this.from.addEventListener("keydown", (event) => this.pressed(event));
      this.to.addEventListener("pointerover", (event) => this.back(event));
      this.element.addEventListener("pointerleave", () => this.point(this.rest()));
    }

    show(sheet, rows, columns) {
      this.sheet = sheet;
      this.from.replaceChildren(...rows.map((name, place) => this.token(name, place)));
      this.to.replaceChildren(...columns.map((name) => make("li", { dir: "auto" }, shown(name))));
      this.row = this.rest();
      this.paint();
    }

    // The token that is pointed at while nobody points: one that is alone.
    rest() {
      return this.sheet.rows === 1 ? 0 : null;
    }

    // Another sheet between the same tokens.
    change(sheet) {
      this.sheet = sheet;
      this.paint();
    }

    token(name, place) {
      const tabindex = place === 0 ? "0" : "-1";
      return make("li", { role: "option", tabindex, dir: "auto", "aria-selected": "false" }, shown(name));
    }

    over(event) {
      const place = [...this.from.children].indexOf(event.target.closest("li"));
      if (place >= 0) this.point(place);
    }

    // Pointing at a token that is looked at: everyone who looks at it.
    back(event) {
      const place = [...this.to.children].indexOf(event.target.closest("li"));
      if (place < 0) return;
      this.clear();
      const pen = this.pen();
      for (let row = 0; row < this.sheet.rows; row += 1) this.line(pen, row, place);
    }

    pressed(event) {
      const last = this.sheet.rows - 1;
      const now = Math.max(0, [...this.from.children].indexOf(event.target));
      const places = { ArrowUp: Math.max(0, now - 1), ArrowDown: Math.min(last, now + 1), Home: 0, End: last };
      if (!(event.key in places)) return;
      event.preventDefault();
      event.stopPropagation();
      this.from.children[places[event.key]].focus();
    }

    point(row) {
      if (row === this.row) return;
      this.row = row;
      this.paint();
      this.tell(row);
    }

    clear() {
      for (const one of this.to.children) {
        one.style.removeProperty("--share");
        delete one.dataset.weight;
      }
      for (const one of this.from.children) one.setAttribute("aria-selected", "false");
    }

    pen() {
      const high = ROW * Math.max(this.sheet.rows, this.sheet.columns);
      const pen = heedful.sized(this.canvas, WIDE, high);
      pen.strokeStyle = heedful.ink("--heat-line");
      return pen;
    }

    paint() {
      this.clear();
      const pen = this.pen();
      if (this.row === null) {
        for (let row = 0; row < this.sheet.rows; row += 1) {
          for (const { place, weight } of heedful.strongest(this.sheet, row, AT_REST.each)) {
            if (weight >= AT_REST.least) this.line(pen, row, place);
          }
        }
        return;
      }
      const chosen = this.from.children[this.row];
      for (const one of this.from.children) one.tabIndex = one === chosen ? 0 : -1;
      chosen.setAttribute("aria-selected", "true");
      for (let place = 0; place < this.sheet.columns; place += 1) {
        const weight = this.line(pen, this.row, place);
        if (weight < LEAST) continue;
        this.to.children[place].style.setProperty("--share", weight.toFixed(3));
        this.to.children[place].dataset.weight = written(weight);
      }
    }

    line(pen, row, place) {
      const weight = this.sheet.values[row * this.sheet.columns + place];
      if (weight < LEAST) return weight;
      pen.globalAlpha = Math.min(1, 0.08 + 0.92 * weight);
      pen.lineWidth = 0.5 + 4 * weight;
      pen.beginPath();
      pen.moveTo(0, (row + 0.5) * ROW);
      pen.lineTo(WIDE, (place + 0.5) * ROW);
      pen.stroke();
      return weight;
    }
  }

  heedful.Lines = Lines;
})();
