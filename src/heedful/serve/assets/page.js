"use strict";

// The page of a server: what is typed is translated, labelled or continued while one watches.
// Whatever comes from the server is shown as text, never as markup.
(function () {
  const AGAIN = 2000; // milliseconds until a lost server is looked for again
  const PAUSE = 400; // after the last key, until what is typed is decoded

  // What each task is called: on its button, above what is typed (and in it, while it is empty),
  // above what is said, and above what else could be said.
  const WORDS = {
    translate: ["Translate", "Text", "A text to translate", "Translation", "Other translations"],
    classify: ["Classify", "Text", "A text to label", "Label", "Other labels"],
    continue: ["Continue", "Beginning", "How it begins", "Continued", "Other continuations"],
    answer: ["Answer", "Symbols", "Numbers with spaces between: 1 0 1", "Answer", "Other answers"],
  };

  const $ = (id) => document.getElementById(id);
  const models = new Map();
  let running = null; // what can stop the decoding that is under way
  let beginning = null; // what can stop the asking for models that is under way
  let latest = null; // the text and settings that are shown
  let typing = 0;
  let searching = 0;

  class Refused extends Error {
    constructor(status, reason) {
      super(reason);
      this.status = status;
    }
  }

  // ---- asking

  async function ask(path, body, signal) {
    const headers = { "Content-Type": "application/json" };
    const token = sessionStorage.getItem("token");
    if (token) headers.Authorization = `Bearer ${token}`;
    const options = { headers, signal, cache: "no-store" };
    if (body !== undefined) Object.assign(options, { method: "POST", body: JSON.stringify(body) });
    const answer = await fetch(path, options);
    if (answer.ok) return answer;
    let reason = answer.statusText;
    try {
      reason = (await answer.json()).detail || reason;
    } catch (error) {
      // not JSON: the status says what there is to say
    }
    throw new Refused(answer.status, reason);
  }

  async function* lines(answer) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      for (const part of parts) if (part) yield JSON.parse(part);
    }
  }

  // ---- saying what is wrong

  function tell(text) {
    $("notice").textContent = text;
    $("notice").hidden = !text;
  }

  function failed(error, again) {
    if (error.name === "AbortError") return;
    if (error instanceof Refused) {
      $("entry").hidden = error.status !== 401;
      tell(error.message);
      if (error.status === 401) $("token").focus();
      return;
    }
    tell("The server does not answer. This page looks for it every two seconds.");
    document.body.dataset.server = "lost";
    clearTimeout(searching);
    searching = setTimeout(() => look_for_server(again), AGAIN);
  }

  async function look_for_server(again) {
    try {
      await ask("health");
      document.body.dataset.server = "there";
      tell("");
      await begin();
      if (again) again();
    } catch (error) {
      failed(error, again);
    }
  }

  // ---- the models

  // An earlier try that is still under way counts no more: it had another token, or none.
  async function begin() {
    if (beginning) beginning.abort();
    beginning = new AbortController();
    const found = await (await ask("models", undefined, beginning.signal)).json();
    const before = $("model").value;
    models.clear();
    $("model").replaceChildren();
    for (const model of found.models) {
      models.set(model.name, model);
      $("model").append(new Option(model.name, model.name));
    }
    if (models.has(before)) $("model").value = before;
    else chosen();
    $("entry").hidden = true;
    document.body.dataset.server = "there";
    tell("");
  }

  function chosen() {
    const model = models.get($("model").value);
    if (!model) return;
    call(WORDS[model.task]);
    $("second-text").hidden = model.texts < 2;
    $("beam").value = model.beam;
    $("alpha").value = model.alpha;
    $("to").replaceChildren(...model.languages.map((name) => new Option(name, name)));
    $("to-choice").hidden = !model.languages.length;
    for (const id of ["see-attention"]) $(id).hidden = !model.attends;
  }

  function call([task, text, example, said, others]) {
    document.title = `heedful: ${task.toLowerCase()}`;
    $("decode").textContent = task;
    $("text-label").textContent = text;
    $("text").placeholder = example;
    $("said-label").textContent = said;
    $("others-title").textContent = others;
  }

  // ---- decoding

  // Two texts have a tab between them.
  function given() {
    const second = $("second-text").hidden ? "" : $("second").value;
    return second ? `${$("text").value}\t${second}` : $("text").value;
  }

  function settings() {
    const number = (id) => ($(id).value === "" ? undefined : Number($(id).value));
    return {
      model: $("model").value || undefined,
      to: $("to-choice").hidden ? undefined : $("to").value,
      beam: number("beam"),
      alpha: number("alpha"),
      nbest: number("nbest"),
    };
  }

  async function decode() {
    clearTimeout(typing);
    if (running) running.abort();
    const mine = (running = new AbortController());
    const asked = { text: given(), ...settings() };
    const said = $("said");
    fold();
    said.dataset.state = "growing";
    try {
      const answer = await ask("translate/stream", asked, mine.signal);
      let ended = false;
      for await (const line of lines(answer)) {
        if (mine !== running) return;
        if (line.error !== undefined) throw new Refused(0, line.error);
        if (line.partial !== undefined) said.textContent = line.partial;
        if (line.translation !== undefined) {
          show(line.translation);
          ended = true;
        }
      }
      if (!ended) throw new TypeError("the answer broke off");
      latest = asked;
      tell("");
      said.dataset.state = "done";
      for (const id of ["see-attention", "see-beams"]) $(id).disabled = !asked.text.trim();
    } catch (error) {
      if (mine === running) {
        said.dataset.state = "failed";
        failed(error, decode);
      }
    }
  }

  function show(translation) {
    $("said").textContent = translation.text;
    const score = translation.score;
    $("score").textContent = score === null ? "" : `score ${score.toFixed(3)}`;
    const others = (translation.nbest || []).slice(1);
    $("nbest-list").replaceChildren(
      ...others.map((one) => {
        const item = document.createElement("li");
        const text = document.createElement("span");
        const number = document.createElement("span");
        text.dir = "auto";
        text.textContent = one.text;
        number.className = "number";
        number.textContent = one.score.toFixed(3);
        item.append(text, number);
        return item;
      }),
    );
    $("others").hidden = !others.length;
  }

  // ---- looking inside

  function fold() {
    latest = null;
    for (const id of ["attention", "beams"]) {
      $(id).hidden = true;
      $(id).replaceChildren();
      $(`see-${id}`).disabled = true;
      $(`see-${id}`).setAttribute("aria-expanded", "false");
    }
  }

  async function see(id, body, draw) {
    const button = $(`see-${id}`);
    const place = $(id);
    if (button.getAttribute("aria-expanded") === "true") {
      place.hidden = true;
      button.setAttribute("aria-expanded", "false");
      return;
    }
    const about = latest;
    button.setAttribute("aria-expanded", "true");
    try {
      if (!place.hasChildNodes()) {
        const found = await (await ask(id, body(about))).json();
        if (about !== latest) return;
        place.hidden = false;
        draw(place, found);
      }
      place.hidden = false;
      tell("");
    } catch (error) {
      button.setAttribute("aria-expanded", "false");
      failed(error);
    }
  }

  // What goes on with a text has it in what it said, and reads that alone.
  function passage(text, model) {
    const said = $("said").textContent || undefined;
    return models.get(model).task === "continue" ? { text: said || text } : { text, target: said };
  }

  const see_attention = () =>
    see(
      "attention",
      ({ text, model, to }) => ({ ...passage(text, model), model, to }),
      (place, found) => window.heedful.drawAttention(place, found),
    );

  const see_beams = () =>
    see(
      "beams",
      ({ text, model, to, beam, alpha }) => ({ text, model, to, beam, alpha }),
      (place, found) => window.heedful.drawBeams(place, found),
    );

  // ---- the page

  function typed() {
    clearTimeout(typing);
    typing = setTimeout(decode, PAUSE);
  }

  for (const id of ["text", "second"]) {
    $(id).addEventListener("input", typed);
    $(id).addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) decode();
    });
  }
  $("decode").addEventListener("click", decode);
  $("model").addEventListener("change", () => {
    chosen();
    if ($("text").value) decode();
  });
  for (const id of ["to", "beam", "alpha", "nbest"]) {
    $(id).addEventListener("change", () => $("text").value && decode());
  }
  $("see-attention").addEventListener("click", see_attention);
  $("see-beams").addEventListener("click", see_beams);
  $("enter").addEventListener("click", () => {
    sessionStorage.setItem("token", $("token").value);
    begin().catch((error) => failed(error));
  });
  $("token").addEventListener("keydown", (event) => event.key === "Enter" && $("enter").click());

  begin().catch((error) => failed(error));
})();
