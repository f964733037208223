// For work on the page: serves the built files, and passes everything else on to a running `gatto serve`.
//
//   node serve.mjs http://127.0.0.1:5000 [PORT]      (then http://127.0.0.1:5173)

import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const service = new URL(process.argv[2] ?? "http://127.0.0.1:5000");
const port = Number(process.argv[3] ?? 5173);
const built = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../crates/serve/src/page");
const files = new Map([
  ["/", ["index.html", "text/html; charset=utf-8"]],
  ["/page.css", ["page.css", "text/css; charset=utf-8"]],
  ["/page.js", ["page.js", "text/javascript; charset=utf-8"]],
]);
// As the service sets it.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const server = http.createServer(async (request, response) => {
  const found = files.get(new URL(request.url, "http://page").pathname);
  if (found) {
    const headers = { "Content-Type": found[1], "Content-Security-Policy": policy, "Cache-Control": "no-store" };
    response.writeHead(200, headers).end(await readFile(path.join(built, found[0])));
    return;
  }
  const { pathname, search } = new URL(request.url, "http://page");
  const options = { method: request.method, headers: { ...request.headers, host: service.host } };
  const passed = http.request(new URL(pathname + search, service), options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on("error", () => response.headersSent ? response.destroy() : response.writeHead(502).end());
  response.on("close", () => passed.destroy());
  request.pipe(passed);
});
server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
