// Keeps the shell only, so that the page opens and says what is wrong even when the child does not answer. Its files are
// immutable, and the browser's own cache keeps them. The server puts the version into the folder's name: this file
// changes with it, and the browser renews it.
const cacheName = "cradle-/page/0/";

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(caches.open(cacheName).then((cache) => cache.add(new Request("/", { cache: "reload" }))));
});

addEventListener("activate", (event) => {
  const begin = async () => {
    for (const name of await caches.keys()) if (name !== cacheName) await caches.delete(name);
    // The request need not wait for this worker to start.
    await registration.navigationPreload?.enable();
    await clients.claim();
  };
  event.waitUntil(begin());
});

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode !== "navigate" || new URL(request.url).pathname !== "/") return;
  const shell = async () => {
    try {
      return await event.preloadResponse ?? await fetch(request, { signal: AbortSignal.timeout(5000) });
    } catch (error) {
      return await (await caches.open(cacheName)).match("/") ?? Promise.reject(error);
    }
  };
  event.respondWith(shell());
});
