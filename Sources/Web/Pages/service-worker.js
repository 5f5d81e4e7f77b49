// Keeps the shell only, so that the page opens at once and says what is wrong even without the child. The server puts the
// version into the folder's name: this file changes with it, and the browser renews it.
const folder = "/page/0/";
const cacheName = `cradle-${folder}`;

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(caches.open(cacheName).then((cache) => cache.add(new Request("/", { cache: "reload" }))));
});

addEventListener("activate", (event) => {
  const old = async () => {
    for (const name of await caches.keys()) if (name.startsWith("cradle-") && name !== cacheName) await caches.delete(name);
    await clients.claim();
  };
  event.waitUntil(old());
});

/** The shell from the child, so that its version is right; from the cache when the child does not answer in time. */
async function shell(request) {
  const cache = await caches.open(cacheName);
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(3000) });
    if (response.ok && response.type === "basic") await cache.put("/", response.clone());
    return response;
  } catch (error) {
    return await cache.match("/") ?? Promise.reject(error);
  }
}

/** A file of this version never changes. */
async function file(request) {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(request);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname === "/" && request.mode === "navigate") event.respondWith(shell(request));
  else if (url.pathname.startsWith(folder)) event.respondWith(file(request));
});
