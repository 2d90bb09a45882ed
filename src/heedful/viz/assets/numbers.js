"use strict";
// Weights as they are packed in a page, and what is made of them: means, words, the strongest few.
// A sheet is { rows, columns, values }: a matrix of weights, row by row.
(() => {
  const heedful = (window.heedful = window.heedful || {});
  const unpacked = new WeakMap(); // what holds packed weights -> the weights, once asked for

  // Two bytes a weight, lowest first.
  function unpack(text) {
    const bytes = atob(text);
    const array = new Uint8Array(bytes.length);
    for (let i = 0; i < bytes.length; i += 1) array[i] = bytes.charCodeAt(i);
    const pairs = new DataView(array.buffer);
    const found = new Uint16Array(array.length / 2);
    for (let i = 0; i < found.length; i += 1) found[i] = pairs.getUint16(2 * i, true);
    return found;
  }

  function once(holder, key, text) {
    if (!unpacked.has(holder)) unpacked.set(holder, new Map());
    const known = unpacked.get(holder);
    if (!known.has(key)) known.set(key, unpack(text));
    return known.get(key);
  }

  function sheet(rows, columns) {
    return { rows, columns, values: new Float32Array(rows * columns) };
  }

  // Adds one head of a layer to a sheet.
  function add(made, packed, head, scale) {
    const size = made.rows * made.columns;
    for (let i = 0; i < size; i += 1) made.values[i] += packed[head * size + i] / scale;
  }

  function headsOf(layer, head) {
    if (head !== "mean") return [head];
    return Array.from({ length: layer.heads }, (_, number) => number);
  }

  // The weights of one kind of attention: a layer or "mean"; a head, "mean" or "rollout".
  function weights(look, attention, layer, head) {
    const made = sheet(attention.queries.tokens.length, attention.keys.tokens.length);
    if (head === "rollout") {
      const number = layer === "mean" ? attention.rollout.length - 1 : layer;
      const packed = once(attention, number, attention.rollout[number]);
      add(made, packed, 0, look.scale);
      return made;
    }
    const layers = layer === "mean" ? attention.layers : [attention.layers[layer]];
    for (const one of layers) {
      const packed = once(one, "weights", one.weights);
      const heads = headsOf(one, head);
      for (const number of heads) add(made, packed, number, look.scale * heads.length * layers.length);
    }
    return made;
  }

  // Between words: summed over the tokens of a key, averaged over the tokens of a query.
  function joinWords(tokens, queries, keys) {
    const made = sheet(queries.joined.length, keys.joined.length);
    const size = new Float32Array(made.rows);
    for (const word of queries.words) size[word] += 1;
    for (let i = 0; i < tokens.rows; i += 1) {
      const row = queries.words[i];
      for (let j = 0; j < tokens.columns; j += 1) {
        const at = row * made.columns + keys.words[j];
        made.values[at] += tokens.values[i * tokens.columns + j] / size[row];
      }
    }
    return made;
  }

  function fromLists(lists) {
    const made = sheet(lists.length, lists.length ? lists[0].length : 0);
    made.values.set(lists.flat());
    return made;
  }

  function highest(made) {
    let most = 0;
    for (const value of made.values) if (value > most) most = value;
    return most;
  }

  // The places with the largest weights of a row, largest first.
  function strongest(made, row, count) {
    const start = row * made.columns;
    const places = Array.from({ length: made.columns }, (_, place) => place);
    places.sort((a, b) => made.values[start + b] - made.values[start + a] || a - b);
    return places.slice(0, count).map((place) => ({ place, weight: made.values[start + place] }));
  }

  function written(weight) {
    return weight.toFixed(3);
  }

  // An element with its attributes and children; a string becomes text, never HTML.
  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  // A token for a person: without the space before it.
  function shown(token) {
    return token.trim() || "␣";
  }

  Object.assign(heedful, {
    fromLists, highest, joinWords, make, shown, strongest, weights, written,
  });
})();
