"use strict";
// The page itself: draws what its data holds, one sentence at a time.
(() => {
  const heedful = window.heedful;
  const { make } = heedful;
  const data = JSON.parse(document.getElementById("heedful-data").textContent);
  const find = (id) => document.getElementById(id);
  heedful.views = [];

  function show(item) {
    find("read").textContent = item.look.text.replaceAll("\t", "\n"); // two texts, a line each
    find("said").textContent = item.look.target;
    heedful.views = [heedful.drawAttention(find("attention"), item.look)];
    find("search").hidden = !item.tree;
    if (item.tree) heedful.drawBeams(find("beams"), item.tree);
  }

  function chooser() {
    const select = make("select", {});
    data.items.forEach((item, place) => select.append(make("option", { value: place }, item.name ?? item.look.text)));
    select.addEventListener("change", () => show(data.items[Number(select.value)]));
    return make("label", {}, data.items.some((item) => item.name) ? "Model " : "Sentence ", select);
  }

  heedful.drawThemeSwitch(find("theme"));
  if (data.items.length > 1) find("chooser").append(chooser());
  if (data.items.length) show(data.items[0]);
  for (const pair of data.pairs) {
    const place = make("div", { class: "heedful-scroll" });
    find("pairs").append(place);
    heedful.drawCoreference(place, pair);
  }
})();
