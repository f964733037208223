// Shows an OpenAPI document: a section for each operation, a table for each schema. Texts become text nodes, never
// markup.
"use strict";

function element(name, content, className) {
  const made = document.createElement(name);
  if (className) made.className = className;
  for (const part of [content ?? []].flat()) made.append(part);
  return made;
}

function nameOf(reference) {
  return reference.split("/").pop();
}

// A schema in a few words; those that have a name link to their table.
function kind(schema) {
  if (!schema) return [""];
  if (schema.$ref) {
    const link = element("a", nameOf(schema.$ref));
    link.href = "#" + nameOf(schema.$ref);
    return [link];
  }
  for (const several of [schema.oneOf, schema.anyOf, schema.allOf]) {
    if (several) return several.flatMap((one, at) => (at ? [" or ", ...kind(one)] : kind(one)));
  }
  const type = [schema.type ?? "any"].flat().filter((one) => one !== "null").join(" or ");
  if (type === "array") return ["list of ", ...kind(schema.items)];
  return [schema.enum ? schema.enum.map((one) => JSON.stringify(one)).join(" or ") : type];
}

function row(name, schema, required, text) {
  const cells = [element("code", name), element("span", kind(schema)), required ? "required" : "", text ?? ""];
  return element("tr", cells.map((cell) => element("td", cell)));
}

function table(title, rows) {
  const made = element("table", [element("caption", title), ...rows]);
  return made;
}

// The properties of a schema, those of its parts among them.
function properties(schema, schemas) {
  const own = Object.entries(schema.properties ?? {}).map(([name, one]) =>
    row(name, one, schema.required?.includes(name), one.description));
  const parts = (schema.allOf ?? []).flatMap((part) =>
    properties(part.$ref ? schemas[nameOf(part.$ref)] ?? {} : part, schemas));
  return [...parts, ...own];
}

function operation(path, method, described) {
  const head = element("h2", [element("span", method.toUpperCase(), "method"), " " + path]);
  const parts = [head, element("p", described.summary ?? "")];
  if (described.description) parts.push(element("p", described.description));
  const parameters = described.parameters ?? [];
  if (parameters.length) {
    parts.push(table("In the address", parameters.map((one) =>
      row(one.name, one.schema, one.required, one.description))));
  }
  const bodies = Object.entries(described.requestBody?.content ?? {});
  for (const [type, body] of bodies) parts.push(element("p", ["Body: " + type + ", ", ...kind(body.schema)]));
  parts.push(table("Answers", Object.entries(described.responses ?? {}).map(([status, answer]) => {
    const schema = Object.values(answer.content ?? {})[0]?.schema;
    return row(status, schema, false, answer.description);
  })));
  return element("section", parts);
}

function show(found) {
  const schemas = found.components?.schemas ?? {};
  const sections = Object.entries(found.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => operation(path, method, described)));
  const tables = Object.entries(schemas).map(([name, schema]) => {
    const rows = properties(schema, schemas);
    const parts = [element("h2", name), element("p", schema.description ?? "")];
    parts.push(rows.length ? table("Keys", rows) : element("p", kind(schema)));
    const section = element("section", parts);
    section.id = name;
    return section;
  });
  document.getElementById("operations").replaceChildren(...sections, ...tables);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

fetch("/openapi.json")
  .then((answer) => answer.json())
  .then(show)
  .catch((error) => {
    document.getElementById("operations").replaceChildren(element("p", "openapi.json cannot be read: " + error));
  });
