import { fromBase64url } from "./bytes.js";

// Alarms that come through the browser's push service while the page is closed. The service worker shows them.

const cacheName = "cradle-push";
const tag = "cradle-alarm:";

/** Whether this browser can do it at all. */
export const canPush = () => "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;

const worker = () => navigator.serviceWorker?.getRegistration();

/** Leaves the worker its words. @param {Object<string, string>} words by kind of event, and `lang` */
export async function keepWords(words) {
  const cache = await globalThis.caches?.open(cacheName);
  await cache?.put("push-words", new Response(JSON.stringify(words)));
}

/** What the worker knows of this browser's alarms: the one that was tapped, else the newest that is shown; null: none. */
export async function pushedAlarm() {
  const cache = await globalThis.caches?.open(cacheName);
  const opened = await cache?.match("push-opened");
  if (opened) {
    await cache.delete("push-opened");
    return opened.json();
  }
  const shown = await notifications();
  return shown.map(({ data }) => data).filter(({ kind }) => kind !== "test").sort((one, other) => other.time - one.time)[0] ?? null;
}

async function notifications() {
  const registration = await worker();
  return (await registration?.getNotifications?.() ?? []).filter((one) => one.tag.startsWith(tag));
}

/** Somebody has seen them. */
export async function closePushed() {
  for (const one of await notifications()) one.close();
}

const own = async () => (await worker())?.pushManager?.getSubscription() ?? null;

/** Whether the child pushes to this browser. @param {Control} control Throws ControlError. */
export const isPushed = async (control) => (await pushState(control)).isOn;

/**
 * Whether the child pushes to this browser, wants to be told an e-mail address first, and what its push service refused last.
 * @param {Control} control Throws ControlError.
 */
export async function pushState(control) {
  const subscription = await own();
  const { endpoint, needsContact, problem } = await control.request("push.key");
  return { isOn: Boolean(subscription) && endpoint === subscription.endpoint, needsContact: Boolean(needsContact), problem };
}

const contactKey = "cradle-push-contact";

/** The e-mail address that was given last, for push services; "" without one. */
export function pushContact() {
  try {
    return localStorage.getItem(contactKey) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} address */
export function keepContact(address) {
  try {
    localStorage.setItem(contactKey, address);
  } catch {
    // A window that keeps nothing asks again.
  }
}

/** The browser may ask its user first. @param {Control} control Throws ControlError, or what the browser says. */
export async function startPush(control) {
  const { publicKey, needsContact } = await control.request("push.key");
  const { pushManager } = await navigator.serviceWorker.ready;
  // One for an earlier key, or one that the push service has ended, is of no use.
  await (await pushManager.getSubscription())?.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: fromBase64url(publicKey) });
  const { endpoint, keys } = subscription.toJSON();
  try {
    const contact = needsContact && pushContact() ? { contact: `mailto:${pushContact()}` } : {};
    await control.request("push.subscribe", { endpoint, p256dh: keys.p256dh, auth: keys.auth, ...contact });
  } catch (error) {
    await subscription.unsubscribe();
    throw error;
  }
}

/** @param {Control} control Throws ControlError. */
export async function stopPush(control) {
  await (await own())?.unsubscribe();
  await control.request("push.unsubscribe");
}

/** This browser does not want any more; the child need not be reached. */
export const dropPush = async () => void await (await own())?.unsubscribe();

/** Subscribes again where the child or the push service has ended what this browser still wants. */
export async function renewPush(control) {
  if (!canPush() || Notification.permission !== "granted" || !control.capabilities.has("push.key")) return;
  if (await own() && !await isPushed(control)) await startPush(control);
}
