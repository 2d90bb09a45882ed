"use strict";
// Two sentences that differ in one word: what one word looks at in each, head by head.
(() => {
  const heedful = (window.heedful = window.heedful || {});
  const { make, shown, written } = heedful;
  const FIRST = 8; // heads shown before more are asked for

  // A sentence whose words are as dark as they are looked at.
  function sentence(side, weights) {
    const line = make("p", { dir: "auto" });
    side.words.forEach((word, place) => {
      const looks = place === side.place ? " looks" : "";
      const made = make("span", { class: `word${looks}`, title: written(weights[place]) }, shown(word));
      made.style.setProperty("--share", weights[place].toFixed(3));
      line.append(made, " ");
    });
    return line;
  }

  // The two words that a sentence's word looks at most, for who cannot see the shades.
  function said(side, weights) {
    const places = weights.map((_, place) => place).sort((a, b) => weights[b] - weights[a]);
    const named = places.slice(0, 2).map((place) => `${shown(side.words[place])} ${written(weights[place])}`);
    return make("p", { class: "heedful-hint" }, `${shown(side.words[side.place])} looks at: ${named.join(", ")}`);
  }

  function headRow(pair, head) {
    const [one, other] = pair.sides;
    const title = `layer ${head.layer + 1}, head ${head.head + 1}: ${written(head.change)} of the weight moved`;
    return make("section", { "aria-label": title }, make("h4", {}, title),
      make("div", { class: "heedful-pair" }, sentence(one, head.weights[0]), sentence(other, head.weights[1]),
        said(one, head.weights[0]), said(other, head.weights[1])));
  }

  // Draws a pair into an element: the heads that change most come first.
  heedful.drawCoreference = (element, pair) => {
    const [one, other] = pair.sides;
    const intro = make("div", { class: "heedful-pair" });
    for (const side of [one, other]) {
      intro.append(make("p", { dir: "auto" }, make("b", {}, side.text)));
    }
    for (const side of [one, other]) intro.append(make("p", { dir: "auto" }, side.target));
    const rest = pair.heads.slice(FIRST);
    const place = make("section", { class: "heedful-coreference", "aria-label": "Two sentences" }, intro,
      ...pair.heads.slice(0, FIRST).map((head) => headRow(pair, head)));
    if (rest.length) {
      const more = make("button", { type: "button" }, `Show the other ${rest.length} heads`);
      more.addEventListener("click", () => more.replaceWith(...rest.map((head) => headRow(pair, head))));
      place.append(more);
    }
    element.replaceChildren(place);
  };
})();
