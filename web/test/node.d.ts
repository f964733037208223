// What of Node the tests use; the page itself knows nothing of it.

declare module "node:test" {
  export function test(name: string, run: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
  interface Assert {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    throws(run: () => unknown, expected?: RegExp): void;
    match(actual: string, expected: RegExp): void;
  }
  const assert: Assert;
  export default assert;
}
