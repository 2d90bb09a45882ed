"use strict";

// The API's own description, written out. It comes from openapi.json and is shown as text.
(function () {
  function add(parent, tag, text) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  function kind(schema) {
    if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
    if (schema.$ref) return schema.$ref.split("/").pop();
    const bounds = [];
    for (const name of ["minimum", "maximum", "minItems", "maxItems", "maxLength"]) {
      if (schema[name] !== undefined) bounds.push(`${name} ${schema[name]}`);
    }
    const of = schema.items ? ` of ${kind(schema.items)}` : "";
    return `${schema.type || "anything"}${of}${bounds.length ? ` (${bounds.join(", ")})` : ""}`;
  }

  function fields(parent, schema) {
    const table = add(parent, "table");
    const body = add(table, "tbody");
    for (const [name, field] of Object.entries(schema.properties || {})) {
      const row = add(body, "tr");
      add(row, "th", name).scope = "row";
      add(row, "td", kind(field));
      add(row, "td", (schema.required || []).includes(name) ? "required" : "");
      add(row, "td", field.description || "");
    }
  }

  async function write() {
    const place = document.getElementById("doors");
    const found = await (await fetch("openapi.json")).json();
    for (const [path, methods] of Object.entries(found.paths)) {
      for (const [method, door] of Object.entries(methods)) {
        const section = add(place, "section");
        add(section, "h2", `${method.toUpperCase()} ${path}`);
        add(section, "p", door.description || door.summary || "");
        const asked = door.requestBody && door.requestBody.content["application/json"].schema;
        if (asked) fields(section, asked);
        const list = add(section, "ul");
        for (const [status, answer] of Object.entries(door.responses)) {
          add(list, "li", `${status}: ${answer.description || ""}`);
        }
      }
    }
    const shapes = add(place, "section");
    for (const [name, schema] of Object.entries((found.components || {}).schemas || {})) {
      add(shapes, "h2", name);
      add(shapes, "p", schema.description || "");
      fields(shapes, schema);
    }
  }

  write().catch((error) => add(document.getElementById("doors"), "p", String(error)));
})();
