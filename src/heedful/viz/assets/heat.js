"use strict";
// Sheets as heat maps: one canvas each, however many the cells are.
(() => {
  const heedful = (window.heedful = window.heedful || {});
  const { make } = heedful;
  const WIDEST = 640; // of the cells of a heat map, in pixels
  const CELL = { least: 3, most: 30, named: 11 }; // names stand beside cells of `named` or more
  heedful.painted = 0; // cells painted since the page was opened

  // The cells of a sheet as a picture, a pixel a cell: 0 is paper, `most` is ink.
  function picture(sheet, most) {
    const low = heedful.colour("--heat-low");
    const high = heedful.colour("--heat-high");
    const image = new ImageData(sheet.columns, sheet.rows);
    const scale = most > 0 ? 1 / most : 0;
    for (let i = 0; i < sheet.values.length; i += 1) {
      const share = Math.min(1, sheet.values[i] * scale);
      for (let c = 0; c < 3; c += 1) image.data[4 * i + c] = low[c] + share * (high[c] - low[c]);
      image.data[4 * i + 3] = 255;
    }
    heedful.painted += sheet.values.length;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [sheet.columns, sheet.rows];
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }

  // A canvas of so many CSS pixels, sharp on any screen.
  function sized(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.imageSmoothingEnabled = false;
    return pen;
  }

  // A small picture without names.
  function thumbnail(canvas, sheet, side) {
    const pen = sized(canvas, side, side);
    pen.imageSmoothingEnabled = sheet.rows > side || sheet.columns > side;
    pen.drawImage(picture(sheet, heedful.highest(sheet)), 0, 0, side, side);
  }

  function ink(name) {
    return `rgb(${heedful.colour(name).join(" ")})`;
  }

  // A heat map with names, a cursor and a voice. `tell(row, column)` hears where the cursor is.
  class HeatMap {
    constructor(label, tell) {
      this.tell = tell;
      this.canvas = make("canvas", {
        tabindex: "0",
        role: "application",
        "aria-roledescription": "heat map",
        "aria-label": `${label}. Arrow keys move from cell to cell.`,
      });
      this.legend = make("p", { class: "heedful-legend" });
      this.element = make("div", { class: "heedful-heat" }, this.canvas, this.legend);
      this.cursor = null;
      this.canvas.addEventListener("pointermove", (event) => this.pointed(event));
      this.canvas.addEventListener("keydown", (event) => this.pressed(event));
    }

    show(sheet, rows, columns) {
      Object.assign(this, { sheet, rows, columns });
      this.cursor = null;
      const cell = Math.floor(WIDEST / Math.max(1, sheet.rows, sheet.columns));
      this.cell = Math.max(CELL.least, Math.min(CELL.most, cell));
      this.named = this.cell >= CELL.named;
      this.paint();
    }

    paint() {
      if (!this.sheet) return;
      const most = heedful.highest(this.sheet);
      this.cells = picture(this.sheet, most);
      this.legend.textContent = `No colour is 0, full colour ${heedful.written(most)}. Rows look at columns.`;
      this.draw();
    }

    // What is painted, the names and the cursor.
    draw() {
      const { cell, sheet } = this;
      const pen = sized(this.canvas, 1, 1);
      pen.font = this.font();
      this.left = this.named ? this.widest(pen, this.rows) + 8 : 0;
      this.top = this.named ? this.widest(pen, this.columns) + 8 : 0;
      const [wide, high] = [sheet.columns * cell, sheet.rows * cell];
      const fresh = sized(this.canvas, this.left + wide + 1, this.top + high + 1);
      fresh.drawImage(this.cells, this.left, this.top, wide, high);
      fresh.strokeStyle = ink("--heat-edge");
      fresh.strokeRect(this.left + 0.5, this.top + 0.5, wide, high);
      if (this.named) this.names(fresh);
      if (this.cursor) this.mark(fresh);
    }

    font() {
      return `${Math.min(13, this.cell)}px system-ui, sans-serif`;
    }

    widest(pen, names) {
      return Math.min(140, Math.max(0, ...names.map((name) => pen.measureText(name).width)));
    }

    names(pen) {
      pen.font = this.font();
      pen.fillStyle = ink("--heat-name");
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      this.rows.forEach((name, row) => {
        pen.fillText(name, this.left - 5, this.top + (row + 0.5) * this.cell, this.left - 5);
      });
      pen.textAlign = "left";
      this.columns.forEach((name, column) => {
        pen.save();
        pen.translate(this.left + (column + 0.5) * this.cell, this.top - 5);
        pen.rotate(-Math.PI / 2);
        pen.fillText(name, 0, 0, this.top - 5);
        pen.restore();
      });
    }

    mark(pen) {
      const { row, column } = this.cursor;
      const [x, y] = [this.left + column * this.cell, this.top + row * this.cell];
      pen.strokeStyle = ink("--heat-mark");
      pen.lineWidth = 2;
      pen.strokeRect(this.left, y, this.sheet.columns * this.cell, this.cell);
      if (column !== null) pen.strokeRect(x, y, this.cell, this.cell);
    }

    // Puts the cursor on a row, or on a cell of it, without telling anyone.
    point(row, column = null) {
      this.cursor = row === null ? null : { row, column };
      this.draw();
    }

    move(row, column) {
      const inside = row >= 0 && column >= 0 && row < this.sheet.rows && column < this.sheet.columns;
      const same = this.cursor && this.cursor.row === row && this.cursor.column === column;
      if (!inside || same) return;
      this.point(row, column);
      this.tell(row, column);
    }

    pointed(event) {
      const box = this.canvas.getBoundingClientRect();
      const scale = (this.left + this.sheet.columns * this.cell + 1) / box.width;
      const x = (event.clientX - box.left) * scale - this.left;
      const y = (event.clientY - box.top) * scale - this.top;
      this.move(Math.floor(y / this.cell), Math.floor(x / this.cell));
    }

    pressed(event) {
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const step = steps[event.key];
      if (!step) return;
      event.preventDefault();
      const at = this.cursor && this.cursor.column !== null ? this.cursor : null;
      if (at) this.move(at.row + step[0], at.column + step[1]);
      else this.move(this.cursor ? this.cursor.row : 0, 0);
    }
  }

  Object.assign(heedful, { HeatMap, ink, sized, thumbnail });
})();
