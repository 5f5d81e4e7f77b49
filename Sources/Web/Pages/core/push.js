import { fromBase64url } from "./bytes.js";
import { here } from "./away.js";
import { NoAnswer, within } from "./within.js";

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

/** For the browser's push service, and for a person whom the browser asks, ms. */
const patience = 20_000, questionPatience = 60_000;

const own = () => within(patience, worker().then((registration) => registration?.pushManager?.getSubscription()).then((one) => one ?? null));

const drop = async () => void await within(patience, own().then((subscription) => subscription?.unsubscribe()));

/** Whether the child pushes to this browser. @param {Control} control Throws ControlError. */
export const isPushed = async (control) => (await pushState(control)).isOn;

/**
 * Whether the child pushes to this browser, wants an e-mail address first, and what its push service refused last.
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

/** Cameras below paths of one proxy share the storage. */
const wantedKey = `cradle-push-wanted ${here}`;

/** Whether it was switched "on" or "off" here last; null: not known. */
function wanted() {
  try {
    return localStorage.getItem(wantedKey);
  } catch {
    return null;
  }
}

function keepWanted(value) {
  try {
    localStorage.setItem(wantedKey, value);
  } catch {
    // A window that keeps nothing keeps no subscription either.
  }
}

/** The attempt to subscribe that runs, or was successful; null: none, so a subscription that comes late is given back. */
let attempt = null;

/** @param {(what: "question"|"service") => void} waiting hears for whom it waits: the person whom the browser asks, or its push service */
async function subscribe(control, waiting) {
  const current = attempt = { isRunning: true };
  try {
    if (Notification.permission === "default") {
      waiting("question");
      // First of all, while the tap counts.
      const permission = await within(questionPatience, Notification.requestPermission());
      if (permission !== "granted") throw new DOMException(permission, "NotAllowedError");
    }
    const { publicKey, needsContact } = await control.request("push.key");
    waiting("service");
    const { pushManager } = await within(patience, navigator.serviceWorker.ready);
    const renewed = async () => {
      // One for an earlier key, or one that the push service has ended, is of no use.
      await (await pushManager.getSubscription())?.unsubscribe();
      return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: fromBase64url(publicKey) });
    };
    const giveBack = (subscription) => void (attempt ?? subscription.unsubscribe().catch(() => {}));
    const { endpoint, keys } = (await within(patience, renewed(), giveBack)).toJSON();
    const contact = needsContact && pushContact() ? { contact: `mailto:${pushContact()}` } : {};
    await control.request("push.subscribe", { endpoint, p256dh: keys.p256dh, auth: keys.auth, ...contact });
  } catch (error) {
    if (attempt === current) attempt = null;
    if (!(error instanceof NoAnswer)) await drop().catch(() => {});
    throw error;
  } finally {
    current.isRunning = false;
  }
}

/**
 * Pushes to this browser, which may ask its user first. After an error it is off, and an answer that comes late does not change that.
 * @param {Control} control
 * @param {(what: "question"|"service") => void} waiting see `subscribe`
 * @returns {Promise<void>} Throws ControlError, NoAnswer, or what the browser says.
 */
export async function startPush(control, waiting) {
  try {
    await subscribe(control, waiting);
    keepWanted("on");
  } catch (error) {
    keepWanted("off");
    throw error;
  }
}

/** The camera hears of it first: then it sends nothing more, whatever the push service does. @param {Control} control Throws ControlError. */
export async function stopPush(control, waiting) {
  await control.request("push.unsubscribe");
  waiting("service");
  await dropPush().catch(() => {});
}

/** This browser does not want any more; the child need not be reached. */
export async function dropPush() {
  attempt = null;
  keepWanted("off");
  await drop();
}

/** Subscribes again where the child or the push service has ended what this browser still wants. */
export async function renewPush(control) {
  if (!canPush() || Notification.permission !== "granted" || !control.capabilities.has("push.key")) return;
  const wants = wanted();
  if (attempt?.isRunning || wants === "off" || !(wants ?? await own()) || await isPushed(control)) return;
  await subscribe(control, () => {});
}
