// Bundles the page into crates/serve/src/page, from where the service embeds it; with `--tests`, the tests into
// built-tests. The same sources give the same bytes: nothing of the machine or the day goes in.

import { build } from "esbuild";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const target = path.resolve(here, "../crates/serve/src/page");
const shared = { bundle: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  const folder = path.join(here, "built-tests");
  await rm(folder, { recursive: true, force: true });
  const tests = (await readdir(path.join(here, "test"))).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...shared,
    absWorkingDir: here,
    entryPoints: tests.map((name) => path.join("test", name)),
    platform: "node",
    outdir: folder,
    outExtension: { ".js": ".mjs" },
  });
} else {
  await mkdir(target, { recursive: true });
  await build({
    ...shared,
    absWorkingDir: here,
    entryPoints: [{ in: "src/main.ts", out: "page" }, { in: "src/page.css", out: "page" }],
    minify: true,
    outdir: target,
  });
  await copyFile(path.join(here, "src/index.html"), path.join(target, "index.html"));
}
