// Answers from the copy of the first visit, so that the page works offline, and adds the headers that
// shared memory needs, so that any static host will do.
const VERSION = "/*version*/";
const FILES = ["./", "./index.html", "./page.js", "./storage.js", "./worker.js", "./pliant_web.js", "./pliant_web_bg.wasm"];

addEventListener("install", event => {
  skipWaiting();
  event.waitUntil(caches.open(VERSION).then(cache => cache.addAll(FILES)));
});

addEventListener("activate", event => {
  const old = caches.keys().then(names => Promise.all(names.filter(name => name !== VERSION).map(name => caches.delete(name))));
  event.waitUntil(Promise.all([old, clients.claim()]));
});

addEventListener("fetch", event => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(answer(event.request));
});

async function answer(request) {
  const kept = await (await caches.open(VERSION)).match(request, { ignoreSearch: true });
  const response = kept ?? await fetch(request);
  if (response.status === 0) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
