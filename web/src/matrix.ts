// Tables of weights: a row for what looks, a column for what is looked at.

/** Numbers row after row. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

/** As the service sends it when it is asked for compact matrices: a byte for each value. */
export interface CompactMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly least: number;
  readonly scale: number;
  readonly values: string;
}

export type SentMatrix = CompactMatrix | readonly (readonly number[])[];

export function matrix(rows: number, columns: number): Matrix {
  return { rows, columns, values: new Float32Array(rows * columns) };
}

export function at(of: Matrix, row: number, column: number): number {
  return of.values[row * of.columns + column] ?? 0;
}

export function row(of: Matrix, index: number): Float32Array {
  return of.values.subarray(index * of.columns, (index + 1) * of.columns);
}

export function column(of: Matrix, index: number): Float32Array {
  return Float32Array.from({ length: of.rows }, (_, place) => at(of, place, index));
}

function isPlain(sent: SentMatrix): sent is readonly (readonly number[])[] {
  return Array.isArray(sent);
}

/** A matrix as it was sent, in either form. */
export function received(sent: SentMatrix): Matrix {
  if (isPlain(sent)) {
    const columns = sent[0]?.length ?? 0;
    const made = matrix(sent.length, columns);
    sent.forEach((values, place) => made.values.set(values.slice(0, columns), place * columns));
    return made;
  }
  const bytes = atob(sent.values);
  const made = matrix(sent.rows, sent.columns);
  if (bytes.length !== made.values.length) throw new Error("a matrix has another size than it says");
  for (let place = 0; place < bytes.length; place += 1) {
    made.values[place] = sent.least + (bytes.charCodeAt(place) / 255) * sent.scale;
  }
  return made;
}

/** The mean or the largest of several matrices of one size. */
export function together(all: readonly Matrix[], how: "mean" | "max"): Matrix {
  const first = all[0];
  if (!first) return matrix(0, 0);
  const made = matrix(first.rows, first.columns);
  for (let place = 0; place < made.values.length; place += 1) {
    let found = how === "mean" ? 0 : -Infinity;
    for (const one of all) {
      const value = one.values[place] ?? 0;
      found = how === "mean" ? found + value / all.length : Math.max(found, value);
    }
    made.values[place] = found;
  }
  return made;
}

/** Some rows and columns alone. */
export function part(of: Matrix, rows: readonly number[], columns: readonly number[]): Matrix {
  const made = matrix(rows.length, columns.length);
  rows.forEach((from, place) => columns.forEach((column, across) => {
    made.values[place * columns.length + across] = at(of, from, column);
  }));
  return made;
}

/** Rows that sum to 1 again; a row of nothing stays one. */
export function renormalised(of: Matrix): Matrix {
  const made = { ...of, values: of.values.slice() };
  for (let index = 0; index < of.rows; index += 1) {
    const values = row(made, index);
    const sum = values.reduce((total, value) => total + value, 0);
    if (sum > 0) values.forEach((value, place) => { values[place] = value / sum; });
  }
  return made;
}

/**
 * Groups of rows and columns become one each. What is looked at adds up; what looks is averaged, so that rows that
 * sum to 1 still do. `rows: "sum"` adds both, for what words depend on in nats.
 */
export function merged(
  of: Matrix,
  rows: readonly (readonly number[])[],
  columns: readonly (readonly number[])[],
  how: "mean" | "sum",
): Matrix {
  const made = matrix(rows.length, columns.length);
  rows.forEach((group, place) => columns.forEach((wide, across) => {
    let sum = 0;
    for (const from of group) for (const column of wide) sum += at(of, from, column);
    made.values[place * columns.length + across] = how === "mean" ? sum / Math.max(1, group.length) : sum;
  }));
  return made;
}

/** The largest size of a value. */
export function largest(of: Matrix | Float32Array): number {
  const values = of instanceof Float32Array ? of : of.values;
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** Where the largest value stands; nothing in an empty list. */
export function strongest(values: ArrayLike<number>): number | undefined {
  let best: number | undefined;
  for (let place = 0; place < values.length; place += 1) {
    if (best === undefined || (values[place] as number) > (values[best] as number)) best = place;
  }
  return best;
}

/** Places from the strongest down, at most so many. */
export function ranking(values: ArrayLike<number>, most: number): number[] {
  const places = Array.from({ length: values.length }, (_, place) => place);
  return places.sort((one, other) => (values[other] as number) - (values[one] as number)).slice(0, most);
}

/**
 * Kendall's τ-b of two lists: (concordant − discordant) / √((pairs − ties in x)(pairs − ties in y)). Nothing where one
 * of them is all alike.
 */
export function kendall(x: ArrayLike<number>, y: ArrayLike<number>): number | undefined {
  if (x.length !== y.length) return undefined;
  let [agree, ofX, ofY] = [0, 0, 0];
  for (let one = 0; one < x.length; one += 1) {
    for (let other = one + 1; other < x.length; other += 1) {
      const across = Math.sign((x[one] as number) - (x[other] as number));
      const along = Math.sign((y[one] as number) - (y[other] as number));
      agree += across * along;
      ofX += Math.abs(across);
      ofY += Math.abs(along);
    }
  }
  return ofX > 0 && ofY > 0 ? agree / Math.sqrt(ofX * ofY) : undefined;
}

/** Shannon's entropy of a distribution, in nats. */
export function entropy(values: ArrayLike<number>): number {
  let sum = 0;
  for (let place = 0; place < values.length; place += 1) {
    const value = values[place] as number;
    if (value > 0) sum -= value * Math.log(value);
  }
  return sum;
}
