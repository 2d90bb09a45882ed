"use strict";
// A piano roll that plays: notes as boxes, a line that moves, and arcs from a note to those that
// were looked at for it. A note is [start, end, key, loudness, given]; a look is [note, weight].
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const NAMES = ["C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B"];
  const A_SECOND = 60; // units of the picture
  const A_KEY = 6;
  const MEAN = "mean";

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function draw(name, attributes) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }

  const keyName = (key) => `${NAMES[key % 12]}${Math.floor(key / 12) - 1}`;
  const noteName = (note) => `${keyName(note[2])} at ${note[0].toFixed(2)} s`;

  // The looks of a note in one head, or their mean over the heads of a layer.
  function looksOf(layer, head, number) {
    if (head !== MEAN) return layer.heads[head][number];
    const sums = new Map();
    for (const looks of layer.heads) {
      for (const [other, weight] of looks[number]) {
        sums.set(other, (sums.get(other) || 0) + weight / layer.heads.length);
      }
    }
    return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 6);
  }

  class Roll {
    constructor(section, piece) {
      this.piece = piece;
      this.said = section.querySelector(".said");
      const keys = piece.notes.map((note) => note[2]);
      this.high = Math.max(...keys) + 2;
      this.low = Math.min(...keys) - 2;
      this.width = (piece.seconds + 0.2) * A_SECOND;
      this.height = (this.high - this.low + 1) * A_KEY;
      this.boxes = [];
      this.chosen = null;
      this.audio = null;
      section.querySelector(".roll").append(this.picture());
      this.controls(section.querySelector(".controls"));
    }

    x(seconds) {
      return seconds * A_SECOND;
    }

    y(key) {
      return (this.high - key) * A_KEY;
    }

    picture() {
      const svg = draw("svg", {
        viewBox: `0 0 ${this.width} ${this.height}`,
        width: this.width,
        role: "img",
        "aria-label": "piano roll",
        preserveAspectRatio: "none",
      });
      for (let key = this.low; key <= this.high; key += 1) {
        if (NAMES[((key % 12) + 12) % 12].length > 1) {
          svg.append(
            draw("rect", { class: "key", x: 0, y: this.y(key), width: this.width, height: A_KEY }),
          );
        }
      }
      this.piece.notes.forEach((note, number) => {
        const box = draw("rect", {
          class: note[4] ? "note given" : "note",
          x: this.x(note[0]),
          y: this.y(note[2]),
          width: Math.max(1.5, this.x(note[1] - note[0]) - 0.5),
          height: A_KEY - 0.5,
          "fill-opacity": 0.4 + (0.6 * note[3]) / 127,
        });
        box.addEventListener("click", () => this.choose(number));
        this.boxes.push(box);
        svg.append(box);
      });
      this.arcs = draw("g", {});
      this.now = draw("line", { class: "now", x1: 0, x2: 0, y1: 0, y2: this.height });
      svg.append(this.arcs, this.now);
      return svg;
    }

    controls(place) {
      this.button = make("button", { type: "button" }, "Play");
      this.button.addEventListener("click", () => (this.audio ? this.stop() : this.play()));
      place.append(this.button);
      this.slider = make("input", {
        type: "range",
        min: 0,
        max: this.piece.notes.length - 1,
        value: 0,
      });
      this.slider.addEventListener("input", () => this.choose(Number(this.slider.value)));
      place.append(make("label", {}, "Note ", this.slider));
      if (!this.piece.layers.length) return;
      this.layer = make("select", {});
      this.piece.layers.forEach((layer, i) => {
        const of = layer.kind === "cross" ? ", to the melody" : "";
        this.layer.append(make("option", { value: i }, `layer ${layer.number}${of}`));
      });
      this.layer.value = String(this.piece.layers.length - 1);
      this.head = make("select", {}, make("option", { value: MEAN }, "all heads"));
      this.piece.layers[0].heads.forEach((_, i) => {
        this.head.append(make("option", { value: i }, `head ${i + 1}`));
      });
      for (const select of [this.layer, this.head]) {
        select.addEventListener("change", () => this.chosen !== null && this.choose(this.chosen));
      }
      place.append(make("label", {}, "Attention of ", this.layer), this.head);
    }

    // Marks a note, and draws an arc to each note it looked at.
    choose(number) {
      for (const box of this.boxes) box.classList.remove("chosen", "looked");
      this.chosen = number;
      this.slider.value = String(number);
      this.boxes[number].classList.add("chosen");
      this.arcs.replaceChildren();
      const notes = this.piece.notes;
      const heard = [];
      for (const [other, weight] of this.looks(number)) {
        this.boxes[other].classList.add("looked");
        this.arcs.append(this.arc(notes[number], notes[other], weight));
        heard.push(`${noteName(notes[other])} (${Math.round(100 * weight)} %)`);
      }
      const looked = heard.length ? `: looks at ${heard.join(", ")}` : "";
      this.said.textContent = `Note ${number + 1}, ${noteName(notes[number])}${looked}`;
    }

    looks(number) {
      if (!this.layer) return [];
      const head = this.head.value === MEAN ? MEAN : Number(this.head.value);
      return looksOf(this.piece.layers[Number(this.layer.value)], head, number);
    }

    arc(note, other, weight) {
      const [x1, y1] = [this.x(note[0]), this.y(note[2]) + A_KEY / 2];
      const [x2, y2] = [this.x(other[0]), this.y(other[2]) + A_KEY / 2];
      const top = Math.max(0, Math.min(y1, y2) - 12 - Math.abs(x1 - x2) / 8);
      return draw("path", {
        class: "arc",
        d: `M ${x1} ${y1} Q ${(x1 + x2) / 2} ${top} ${x2} ${y2}`,
        "stroke-width": 0.5 + 4 * weight,
        "stroke-opacity": Math.min(1, 0.25 + weight),
      });
    }

    // Sound: two waves a note, that die away.
    play() {
      const audio = new AudioContext();
      const whole = audio.createDynamicsCompressor();
      whole.connect(audio.destination);
      const begin = audio.currentTime + 0.1;
      for (const [start, end, key, loud] of this.piece.notes) {
        const gain = audio.createGain();
        const [from, to] = [begin + start, begin + Math.max(end, start + 0.05)];
        const level = 0.25 * (loud / 127) ** 1.5;
        gain.gain.setValueAtTime(0, from);
        gain.gain.linearRampToValueAtTime(level, from + 0.005);
        gain.gain.setTargetAtTime(0, from + 0.005, 0.6);
        gain.gain.setTargetAtTime(0, to, 0.05);
        gain.connect(whole);
        ["triangle", "sine"].forEach((type, octave) => {
          const wave = audio.createOscillator();
          wave.type = type;
          wave.frequency.value = 440 * 2 ** ((key - 69) / 12) * (octave + 1);
          wave.connect(gain);
          wave.start(from);
          wave.stop(to + 0.4);
        });
      }
      this.audio = audio;
      this.button.textContent = "Stop";
      const follow = () => {
        if (this.audio !== audio) return;
        this.show(audio.currentTime - begin);
        if (audio.currentTime - begin > this.piece.seconds + 0.5) this.stop();
        else requestAnimationFrame(follow);
      };
      follow();
    }

    // Where the music is: the line, and the note that began last.
    show(seconds) {
      const x = this.x(Math.max(0, seconds));
      this.now.setAttribute("x1", x);
      this.now.setAttribute("x2", x);
      let latest = null;
      this.piece.notes.forEach((note, number) => {
        if (note[0] <= seconds) latest = number;
      });
      if (latest !== null && latest !== this.chosen) this.choose(latest);
    }

    stop() {
      this.audio.close();
      this.audio = null;
      this.button.textContent = "Play";
    }
  }

  const { pieces } = JSON.parse(document.getElementById("heedful-data").textContent);
  document.querySelectorAll(".piece").forEach((section, i) => new Roll(section, pieces[i]));
})();
