// A static host that sends no special header, and counts what it is asked for.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";

const KINDS = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** Serves `folder`; returns the address, the requests so far, and how to stop. */
export async function host(folder) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://host").pathname;
    requests.push(path);
    try {
      const name = path.endsWith("/") ? `${path}index.html` : path;
      const bytes = await readFile(join(folder, name));
      response.writeHead(200, { "content-type": KINDS[extname(name)] ?? "application/octet-stream" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const stop = () => { server.closeAllConnections(); server.close(); };
  return { address: `http://127.0.0.1:${server.address().port}/`, requests, stop };
}
