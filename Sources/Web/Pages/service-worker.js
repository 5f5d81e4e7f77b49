// Keeps the whole page, so that it opens away from home, and says what is wrong, where the child does not answer: what it runs
// comes from the child alone. The server puts the version into the folder's name: this file changes with it, and the browser
// renews it.
const version = "/page/0/";
// Where the page is: not at the root where a proxy adds a path.
const base = new URL("./", location).pathname;
const folder = base.slice(0, -1) + version;
const cacheName = `cradle-${folder}`;
// What page and worker leave each other: core/push.js.
const pushCache = "cradle-push";
/** At home the shell takes a fraction of this; elsewhere there may be nobody at the child's address who even refuses, ms. */
const patience = 500;
/** To keep the page, 2 to 16 s apart. Then the browser tries again the next time that the page is opened. */
const mostTries = 5;

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(keepAll());
});

/** Files that came are in the browser's cache; lost ones are fetched again. */
async function keepAll() {
  for (let tries = 1; ; tries += 1) {
    try {
      return await keep();
    } catch (error) {
      if (tries === mostTries) throw error;
      await new Promise((done) => setTimeout(done, 1000 * 2 ** tries));
    }
  }
}

/** The shell names every file. */
async function keep() {
  const shell = await fetch(new Request("./", { cache: "reload" }));
  if (!shell.ok) throw new Error(`status ${shell.status}`);
  const named = (await shell.clone().text()).match(/\.\/page\/[0-9a-f]+\/[\w./-]+/g);
  const files = new Set(named);
  const cache = await caches.open(cacheName);
  // They never change, and the page has just loaded nearly all of them.
  await cache.addAll([...files].map((file) => new Request(file, { cache: "force-cache" })));
  await cache.put("./", shell);
}

addEventListener("activate", (event) => {
  const begin = async () => {
    // Others behind the same proxy have theirs.
    for (const name of await caches.keys()) if (name.startsWith(`cradle-${base}page/`) && name !== cacheName) await caches.delete(name);
    // The request need not wait for this worker to start.
    await registration.navigationPreload?.enable();
    await clients.claim();
  };
  event.waitUntil(begin());
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== location.origin) return;
  if (request.mode === "navigate" && pathname === base) event.respondWith(shell(event));
  else if (pathname.startsWith(folder)) event.respondWith(kept(request).then((file) => file ?? fetch(request)));
});

const kept = async (request) => (await caches.open(cacheName)).match(request, { ignoreSearch: true, ignoreVary: true });

/** The child's, which may be newer, if it comes soon; else the one that is kept. */
async function shell(event) {
  const fresh = (async () => await event.preloadResponse ?? fetch(event.request))();
  const late = new Promise((done) => setTimeout(done, patience));
  const soon = await Promise.race([fresh, late]).catch(() => null);
  return soon?.ok ? soon : await kept("./") ?? fresh;
}

// A pushed alarm. It stays until somebody has acknowledged it on the page, and sounds again for a minute: browsers give a
// worker not much more.
const soundAgain = { every: 10_000, times: 6 };

addEventListener("push", (event) => event.waitUntil(show(event.data)));

async function show(data) {
  let alarm = {};
  try {
    alarm = data.json() ?? {};
  } catch {
    // A browser demands that something is shown.
  }
  const isTest = alarm.kind === "test";
  const words = await read("push-words") ?? {};
  const title = [alarm.child, words[alarm.kind] ?? alarm.text].filter(Boolean).join(": ") || "Cradle";
  const time = (Number(alarm.time) || 0) * 1000 || Date.now();
  const options = {
    body: [words[alarm.kind] && alarm.id, alarm.detail, new Date(time).toLocaleTimeString(words.lang, { timeStyle: "short" })].filter(Boolean).join(" · "),
    tag: `cradle-alarm:${alarm.kind}:${alarm.id ?? ""}`, renotify: true, requireInteraction: !isTest, vibrate: [500, 250, 500, 250, 500],
    timestamp: time, icon: `${folder}icons/cradle-192.png`, badge: `${folder}icons/cradle-192.png`, lang: words.lang ?? "", data: { ...alarm, title },
  };
  await registration.showNotification(title, options);
  for (let round = 0; round < soundAgain.times && !isTest; round += 1) {
    await new Promise((done) => setTimeout(done, soundAgain.every));
    const [shown] = await registration.getNotifications({ tag: options.tag });
    // Acknowledged, swept away, or a newer one.
    if (!shown || shown.data?.time !== alarm.time) return;
    await registration.showNotification(title, options);
  }
}

// It is not closed by this: the page's big button does that.
addEventListener("notificationclick", (event) => {
  const open = async () => {
    const cache = await caches.open(pushCache);
    await cache.put("push-opened", new Response(JSON.stringify(event.notification.data)));
    const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
    const page = pages.find(({ url }) => new URL(url).pathname === base);
    if (!page) return clients.openWindow("./");
    page.postMessage("alarm");
    await page.focus();
  };
  event.waitUntil(open());
});

async function read(name) {
  const kept = await (await caches.open(pushCache)).match(name);
  return kept?.json();
}
