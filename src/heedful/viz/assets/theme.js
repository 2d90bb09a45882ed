"use strict";
// Light and dark: as the system says, or as the reader chooses. Canvases are painted anew.
(() => {
  const heedful = (window.heedful = window.heedful || {});
  const repaints = new Map(); // element -> what paints it anew
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const CHOICES = { auto: "as the system", light: "light", dark: "dark" };

  function repaintAll() {
    for (const [element, paint] of repaints) {
      if (element.isConnected) paint();
      else repaints.delete(element);
    }
  }

  // Calls `paint` whenever the colours of the page change; one for each element.
  function onColours(element, paint) {
    repaints.set(element, paint);
  }

  // The numbers of a colour that a custom property names: "8 48 107".
  function colour(name) {
    const text = getComputedStyle(document.documentElement).getPropertyValue(name);
    const found = text.trim().split(/\s+/).map(Number);
    return found.length === 3 && found.every(Number.isFinite) ? found : [128, 128, 128];
  }

  function choose(choice) {
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    repaintAll();
  }

  // A choice of light, dark or the system's, put into `element`.
  function drawThemeSwitch(element) {
    const select = heedful.make("select", {});
    for (const [value, name] of Object.entries(CHOICES)) {
      select.append(heedful.make("option", { value }, name));
    }
    select.addEventListener("change", () => choose(select.value));
    element.replaceChildren(heedful.make("label", { class: "heedful-theme" }, "Colours ", select));
  }

  dark.addEventListener("change", repaintAll);
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset.printing = "";
    repaintAll();
  });
  window.addEventListener("afterprint", () => {
    delete document.documentElement.dataset.printing;
    repaintAll();
  });
  Object.assign(heedful, { colour, drawThemeSwitch, onColours });
})();
