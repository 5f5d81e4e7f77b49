import { createIdentity } from "./identity.js";

// What this browser keeps: its key, the paired children, settings. IndexedDB, because it alone keeps keys that no script
// can read (W3C Web Cryptography API, "Security considerations for developers").

const databaseName = "cradle";
const stores = ["keys", "children", "settings"];
const marker = "cradle-paired";

/** How long IndexedDB may take to open before the page goes on without, ms. Some private windows never answer. */
const patience = 3000;

const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** The three tables in memory, for windows that keep nothing. */
class Memory {
  #tables = new Map(stores.map((name) => [name, new Map()]));
  get = async (table, key) => this.#tables.get(table).get(key);
  all = async (table) => [...this.#tables.get(table).values()];
  put = async (table, key, value) => void this.#tables.get(table).set(key, value);
  remove = async (table, key) => void this.#tables.get(table).delete(key);
  // No other transaction can come between.
  add = async (table, key, value) => {
    if (!this.#tables.get(table).has(key)) await this.put(table, key, value);
    return this.get(table, key);
  };
}

class Database {
  #database;

  constructor(database) {
    this.#database = database;
    database.onversionchange = () => database.close();
  }

  static async open() {
    const request = indexedDB.open(databaseName, 1);
    request.onupgradeneeded = () => {
      for (const name of stores) request.result.createObjectStore(name);
    };
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error("no answer")), patience)));
    try {
      return new Database(await Promise.race([done(request), late]));
    } finally {
      clearTimeout(timer);
    }
  }

  #in(table, mode, use) {
    const transaction = this.#database.transaction(table, mode, { durability: "strict" });
    const result = use(transaction.objectStore(table));
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(result.result);
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
  }

  get = (table, key) => this.#in(table, "readonly", (store) => store.get(key));
  all = (table) => this.#in(table, "readonly", (store) => store.getAll());
  put = (table, key, value) => this.#in(table, "readwrite", (store) => store.put(value, key));
  remove = (table, key) => this.#in(table, "readwrite", (store) => store.delete(key));

  /** Writes `value` unless there is one already, in one transaction: two tabs agree. The value that is there then. */
  async add(table, key, value) {
    const result = {};
    await this.#in(table, "readwrite", (store) => {
      const before = store.get(key);
      before.onsuccess = () => {
        result.value = before.result ?? value;
        if (before.result === undefined) store.put(value, key);
      };
      return before;
    });
    return result.value;
  }
}

/** What this page knows. All methods are asynchronous. */
export class Store {
  #tables;
  #channel = null;
  /** False in a private window that keeps nothing. */
  isLasting;
  /** This browser had paired before, but its children are gone: its storage was cleared. */
  hasLostPairs = false;
  /** Called after another tab has changed something. */
  onchange = () => {};

  /** Only `open` makes stores. */
  constructor(tables, isLasting) {
    this.#tables = tables;
    this.isLasting = isLasting;
    if (typeof BroadcastChannel !== "function") return;
    this.#channel = new BroadcastChannel(databaseName);
    this.#channel.onmessage = () => this.onchange();
  }

  /** This page's key, made on first use. */
  async identity() {
    const known = await this.#tables.get("keys", "identity");
    return known ?? this.#tables.add("keys", "identity", await createIdentity());
  }

  /** All children, the oldest pairing first. */
  async children() {
    return (await this.#tables.all("children")).sort((one, other) => one.pairedAt - other.pairedAt);
  }

  /** @returns {Promise<Child|null>} */
  child = async (id) => (await this.#tables.get("children", id)) ?? null;

  async saveChild(child) {
    await this.#tables.put("children", child.id, child);
    await this.#changed(true);
  }

  /** The child has told its name, this page's permissions and its ways from elsewhere. One that was forgotten meanwhile stays so. */
  async noteHello({ id, name, permissions, away, origins }) {
    const stored = await this.child(id);
    const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
    if (!stored || isSame([stored.name, stored.permissions, stored.away, stored.origins], [name, permissions, away, origins])) return;
    await this.saveChild({ ...stored, name, permissions, away, origins });
  }

  async removeChild(id) {
    await this.#tables.remove("children", id);
    await this.#changed(true);
  }

  async setting(name, fallback) {
    return (await this.#tables.get("settings", name)) ?? fallback;
  }

  async setSetting(name, value) {
    await this.#tables.put("settings", name, value);
    await this.#changed(false);
  }

  async #changed(children) {
    if (children) writeMarker((await this.#tables.all("children")).length);
    this.#channel?.postMessage("changed");
  }
}

// The marker may outlive the database: Safari deletes what scripts wrote after seven days without a visit, all at once,
// but people and other browsers clear the two separately.
function writeMarker(count) {
  try {
    localStorage.setItem(marker, String(count));
  } catch {
    // No storage at all.
  }
}

function readMarker() {
  try {
    return Number(localStorage.getItem(marker)) || 0;
  } catch {
    return 0;
  }
}

/** Opens what this browser keeps; in memory if it keeps nothing. Never throws. */
export async function open() {
  let store;
  try {
    store = new Store(await Database.open(), true);
    // Some private windows open a database but refuse keys in it.
    await store.identity();
  } catch {
    store = new Store(new Memory(), false);
  }
  store.hasLostPairs = readMarker() > 0 && (await store.children()).length === 0;
  return store;
}

/** Asks the browser not to clear this page's storage by itself. WHATWG Storage, "Persistence permission". */
export async function requestPersistence() {
  try {
    return (await navigator.storage?.persist?.()) ?? false;
  } catch {
    return false;
  }
}
