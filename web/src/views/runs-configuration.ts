// What is different between the configurations of runs.

/**
 * The keys of a configuration with the text of their values: `train.steps` and `400`. Only what is compared is read: tables,
 * keys, and values that may stand on several lines while their brackets are open.
 */
export function keysOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const lines = text.split(/\r?\n/);
  let table = "";
  for (let place = 0; place < lines.length; place += 1) {
    const line = bare(lines[place] ?? "");
    const head = /^\[+\s*([^\]]+?)\s*\]+$/.exec(line);
    if (head) {
      table = `${head[1] ?? ""}.`;
      // Tables of a list have the same name, and a number each.
      if (line.startsWith("[[")) {
        let number = 1;
        while ([...found.keys()].some((key) => key.startsWith(`${head[1] ?? ""}.${number}.`))) number += 1;
        table = `${head[1] ?? ""}.${number}.`;
      }
      continue;
    }
    const equals = line.indexOf("=");
    if (equals < 1) continue;
    let value = line.slice(equals + 1).trim();
    while (depth(value) > 0 && place + 1 < lines.length) value += ` ${bare(lines[(place += 1)] ?? "")}`;
    put(found, table + line.slice(0, equals).trim().replaceAll('"', ""), spaced(value));
  }
  return found;
}

/** Keeps a value; those of a table in one line by their own keys, and numbers however they are written. */
function put(found: Map<string, string>, key: string, value: string): void {
  if (!/^\{.*\}$/.test(value)) {
    const number = /^[+-]?[\d_]+(\.[\d_]+)?([eE][+-]?\d+)?$/.test(value) ? Number(value.replaceAll("_", "")) : NaN;
    found.set(key, Number.isFinite(number) ? String(number) : value);
    return;
  }
  let from = 1;
  for (let place = 1; place < value.length; place += 1) {
    if (place < value.length - 1 && (value.charAt(place) !== "," || depth(value.slice(1, place)) !== 0)) continue;
    const part = value.slice(from, place);
    const equals = part.indexOf("=");
    if (equals > 0) put(found, `${key}.${part.slice(0, equals).trim()}`, part.slice(equals + 1).trim());
    from = place + 1;
  }
}

/** A line without its comment. */
function bare(line: string): string {
  let quote = "";
  for (let place = 0; place < line.length; place += 1) {
    const letter = line.charAt(place);
    if (quote) {
      if (letter === "\\" && quote === '"') place += 1;
      else if (letter === quote) quote = "";
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === "#") return line.slice(0, place).trim();
  }
  return line.trim();
}

/** How many brackets are open at the end of a value. */
function depth(value: string): number {
  const outside = value.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "");
  return (outside.match(/[[{]/g)?.length ?? 0) - (outside.match(/[\]}]/g)?.length ?? 0);
}

/** A value with the same spaces however it was written; what stands in quotes stays. */
function spaced(value: string): string {
  const parts = value.split(/("(?:[^"\\]|\\.)*"|'[^']*')/);
  return parts.map((part, place) => (place % 2 === 1 ? part
    : part.replace(/\s+/g, " ").replace(/,? ?([\]}])/g, "$1").replace(/([[{]) /g, "$1"))).join("");
}

export interface Differing {
  readonly key: string;
  /** The value in each configuration; nothing where it does not say. */
  readonly values: readonly (string | null)[];
}

/** The keys that are not the same everywhere, by name. */
export function differing(configurations: readonly string[]): Differing[] {
  const all = configurations.map(keysOf);
  const keys = [...new Set(all.flatMap((one) => [...one.keys()]))].sort();
  return keys.map((key) => ({ key, values: all.map((one) => one.get(key) ?? null) }))
    .filter(({ values }) => values.some((value) => value !== values[0]));
}
