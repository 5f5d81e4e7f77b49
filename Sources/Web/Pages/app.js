import { here } from "./core/away.js";
import { dropPush, renewPush } from "./core/push.js";
import { open, requestPersistence } from "./core/store.js";
import { language, languages, t } from "./texts/texts.js";
import { h } from "./screens/dom.js";
import { later } from "./screens/loader.js";
import { notice } from "./screens/notices.js";
import { followPush } from "./screens/pushed.js";
import { closeSheets } from "./screens/sheet.js";
import { watchScreen } from "./screens/watch.js";
import { Watching } from "./screens/watching.js";

/** Refusals after which trying again is of no use. */
const finalRefusals = new Set(["not-paired", "expired", "token", "forged", "newer", "not-acceptable", "no-webrtc"]);
/** `name`: empty until somebody was asked for it. */
const defaults = { name: "", loudDb: null, flash: true, vibrate: true, pictureRings: true, microphoneRings: true, startsLoud: false, steadySound: false, boost: 1, knowsLock: false, roomSound: "all" };

/** Between two tries to get a file that does not come, ms. */
const longestWait = 60_000;

/** The rest of the page is fetched after the first picture, or after this time, so that it is there when the camera is not. */
const laterMilliseconds = 10_000;

/** Holds what the screens share, and shows one of them; what is watched goes on behind it. */
class App {
  settings = { ...defaults };
  /** Of the child that is shown large. */
  watching = null;
  /** Of all; null until there are several, or the list of them was opened. @type {Rooms|null} */
  rooms = null;
  hasChildren = false;
  /** Whether the browser trusts the certificate; null: not known. */
  isTrusted = null;
  #root = document.getElementById("app");
  #screen = null;
  #watch = null;
  #forgotten = new Set();
  /** Counts what was to be shown: a screen that comes late is not. */
  #turn = 0;

  async start() {
    // A link's secret does not stay in the address bar or the history.
    const hash = location.hash;
    if (hash) history.replaceState(null, "", location.pathname);
    this.store = await open();
    // Without a child to watch the first screen is one of those.
    if (hash.startsWith("#pair=") || (await this.store.children()).length === 0) await later();
    this.#root.replaceChildren();
    [this.identity, this.settings] = await Promise.all([this.store.identity(), this.#readSettings()]);
    this.store.onchange = () => this.#storeChanged();
    addEventListener("popstate", () => this.#show(history.state?.screen ?? null));
    addEventListener("hashchange", async () => {
      const link = (await later()).parseLink(location.hash);
      history.replaceState(null, "", location.pathname);
      if (link) this.pair(link);
    });
    addEventListener("pagehide", () => this.#each((watching) => watching.keepStill()));
    const link = hash.startsWith("#pair=") ? (await later()).parseLink(hash) : null;
    if (link) await this.pair(link);
    else if (hash.startsWith("#pair=")) this.#show("opening", { problem: t("pairing.wrong-link") });
    else await this.#showFirst();
    // The page works without; what they wait for or fail at is no reason to take the picture away.
    this.#register();
    followPush(this);
    setTimeout(() => later().catch(() => {}), laterMilliseconds);
  }

  async #showFirst() {
    const children = await this.#follow();
    this.hasChildren = children.length > 0;
    if (children.length === 1) this.watch(children[0]);
    else this.#show(children.length ? "children" : "opening");
  }

  /** Of several children all are listened to. */
  async #follow() {
    const children = await this.store.children();
    if (this.rooms || children.length > 1) await this.#openRooms();
    return children;
  }

  async #openRooms() {
    for (let tries = 0; !this.rooms; tries += 1) {
      try {
        const { Rooms } = await import(`./rooms/rooms.js${tries ? `?again=${tries}` : ""}`);
        this.rooms ??= new Rooms(this);
      } catch {
        notice(languages[language].loading[2]);
        await new Promise((done) => setTimeout(done, Math.min(1000 * 2 ** tries, longestWait)));
        // Of what it imports browsers keep that it did not come.
        if (tries > 1 && !this.watching) location.reload();
      }
    }
    this.rooms.follow(await this.store.children());
  }

  #each(action) {
    for (const watching of this.rooms?.watched ?? [this.watching].filter(Boolean)) action(watching);
  }

  async #readSettings() {
    const names = Object.keys(defaults);
    const values = await Promise.all(names.map((name) => this.store.setting(name, defaults[name])));
    const settings = Object.fromEntries(names.map((name, index) => [name, values[index]]));
    return settings;
  }

  /** Keeps a setting; alarms and sound follow at once. */
  async set(name, value) {
    this.settings[name] = value;
    this.#each((watching) => watching.followSettings());
    await this.store.setSetting(name, value);
  }

  alarmLimits() {
    return { picture: this.settings.pictureRings, microphone: this.settings.microphoneRings, ringAtLoudness: this.settings.startsLoud ? 1 : 0 };
  }

  // Another tab may have added or removed a child, or changed a setting.
  async #storeChanged() {
    const [children, settings] = await Promise.all([this.store.children(), this.#readSettings()]);
    const isFirst = !this.hasChildren && children.length > 0;
    this.hasChildren = children.length > 0;
    const isChanged = Object.keys(settings).some((name) => settings[name] !== this.settings[name]);
    Object.assign(this.settings, settings);
    this.#each((watching) => watching.followSettings());
    if (this.watching && !children.some(({ id }) => id === this.watching.child.id)) {
      // Its last picture is not kept: that would bring it back.
      this.#forgotten.add(this.watching.child.id);
      this.leave();
      history.replaceState(null, "");
      return this.#showFirst();
    }
    const screen = this.#screen?.dataset.screen;
    const isTyping = document.hasFocus() && document.activeElement?.matches("input:not([type=checkbox])");
    if (screen === "settings" && isChanged && !isTyping) this.#show("settings");
    await this.#follow();
    if (!this.watching && (screen === "children" && children.length < 2 || screen === "opening" && isFirst)) await this.#showFirst();
  }

  /**
   * Pairs; asks first where this phone is paired with that child.
   * @param {{origin: string, secret?: string, code?: string}} way
   * @param {(text: string, unreached?: string) => void} [say] shows a problem in place
   */
  async pair(way, say) {
    const known = (await this.store.children()).find(({ origin, token }) => origin === way.origin && !token);
    if (!known) return this.#pair(way, say);
    const { againScreen } = await later();
    this.#replace(againScreen({ child: known, watch: () => {
      this.watch(known, { isHidden: true });
      this.#enter();
    }, pair: () => this.#pair(way) }), "again");
  }

  async #pair(way, say) {
    const { nameScreen, pairingScreen, runPairing, wordsScreen } = await later();
    if (!this.settings.name) await new Promise((done) => this.#replace(nameScreen(this, done), "name"));
    if (!say) this.#replace(pairingScreen(), "pairing");
    const result = await runPairing(this, way);
    if (result.problem) {
      if (say) return say(result.problem, result.unreached);
      return this.#show("opening", result);
    }
    const { child, settle } = result;
    const before = await this.store.child(child.id);
    await this.store.saveChild(before ? { ...child, still: before.still, lastSeenAt: before.lastSeenAt } : child);
    await this.store.removeChild(`token:${child.origin}`);
    this.#forgotten.delete(child.id);
    this.hasChildren = true;
    await this.#follow();
    requestPersistence();
    // The picture comes while the words are compared.
    this.watch(child, { isHidden: true });
    this.#replace(wordsScreen(result, { match: () => {
      settle("confirm").catch(() => {});
      this.#enter();
    }, differ: () => this.#cancel(child, settle), note: !this.store.isLasting && t("open.private") }), "words");
  }

  /** The words differ: the child is to remove this phone, and the page says whether it has. */
  async #cancel(child, settle) {
    const isRemoved = await settle("cancel").then(() => true, () => this.#unpair(child));
    await this.forget(child, { isTold: true });
    const { cancelledScreen } = await later();
    this.#replace(cancelledScreen(this, { child, isRemoved }), "cancelled");
  }

  /** Asks the child that is watched to remove this phone. @returns {Promise<boolean>} whether it has */
  async #unpair(child) {
    const watching = this.rooms?.of(child) ?? this.watching;
    if (watching?.child.id !== child.id || watching.watcher.phase !== "live" || child.token) return false;
    return watching.control.request("pair.remove").then(() => true, () => false);
  }

  async addToken(token) {
    const origin = here;
    const child = { id: `token:${origin}`, origin, name: "", publicKeySPKI: null, permissions: [], expiresAt: null, pairedAt: Date.now(), lastSeenAt: null, still: null, token };
    await this.store.saveChild(child);
    this.hasChildren = true;
    await this.#follow();
    this.watch(child);
    this.#enter();
  }

  // Inside a tap: sound and alarm may start.
  #enter() {
    this.watching?.play();
    history.replaceState(null, "");
    this.#show(null);
  }

  /** Shows this child large; the others go on. */
  watch(child, { isHidden = false } = {}) {
    if (this.watching && (this.watching.child.id !== child.id || this.watching.watcher.phase === "refused" || this.watching.watcher.phase === "stopped")) this.leave();
    // Paired again, its access may last longer.
    if (this.watching) this.watching.child.expiresAt = child.expiresAt;
    else {
      this.watching = this.rooms?.take(child) ?? this.listen(child);
      this.#watch = watchScreen(this.watching, this);
      this.#root.prepend(this.#watch.element);
      this.watching.video.addEventListener("loadeddata", () => later().catch(() => {}), { once: true });
    }
    if (isHidden) return;
    if (history.state?.screen) history.replaceState(null, "");
    this.#show(null);
    this.watching.sound.play();
  }

  /** Begins to watch a child. */
  listen(child, isSmall) {
    const watching = new Watching(child, this, isSmall);
    watching.addEventListener("update", () => watching === this.watching && this.#followRefusal());
    const { control, watcher } = watching;
    // Only the page's own child can push to it.
    if (child.origin === here && !child.token) watcher.addEventListener("hello", () => renewPush(control).catch(() => {}));
    return watching;
  }

  async #followRefusal() {
    const isRefused = () => this.watching?.watcher.phase === "refused" && finalRefusals.has(this.watching.watcher.refusal?.reason) && !this.#screen?.dataset.refused;
    if (!isRefused()) return;
    const { refusedScreen } = await later();
    if (isRefused()) this.#replace(refusedScreen(this, this.watching), "refused");
  }

  leave() {
    const { watching } = this;
    this.watching = null;
    this.#watch.close();
    if (!this.rooms?.give(watching)) watching.stop();
  }

  isForgotten(child) {
    return this.#forgotten.has(child.id);
  }

  /** Removes a child here, and (as far as it can be reached) this phone there. */
  async forget(child, { isTold = Boolean(child.token) } = {}) {
    this.#forgotten.add(child.id);
    isTold ||= this.watching?.child.id === child.id && this.watching.watcher.refusal?.reason === "not-paired";
    if (!isTold && !await this.#unpair(child)) notice(t("forget.left"));
    if (this.watching?.child.id === child.id) this.leave();
    if (child.origin === here) dropPush().catch(() => {});
    await this.store.removeChild(child.id);
    history.replaceState(null, "");
    await this.#showFirst();
  }

  /** Opens a screen; the browser's way back leads back. @param {"children"|"opening"|"settings"} screen */
  go(screen) {
    if (history.state?.screen) history.replaceState({ screen }, "");
    else history.pushState({ screen }, "");
    this.#show(screen);
  }

  /** To the picture, or to the list when nothing is watched. */
  goBack() {
    if (history.state?.screen) history.back();
    else this.#show(null);
  }

  async #show(screen, options) {
    closeSheets();
    if (screen === null && !this.watching) return this.#showFirst();
    const turn = (this.#turn += 1);
    const { openingScreen, settingsScreen } = screen === "settings" || screen === "opening" ? await later() : {};
    if (turn !== this.#turn) return;
    if (screen === "children") {
      await this.#openRooms();
      if (turn !== this.#turn) return;
      if (this.watching) this.leave();
      this.#replace(this.rooms.element, screen);
    }
    else if (screen === "settings") this.#replace(settingsScreen(this, this.watching), screen);
    else if (screen === "opening") this.#replace(openingScreen(this, options), screen);
    else {
      this.#replace(null);
      this.#followRefusal();
    }
  }

  #replace(element, name) {
    const hadScreen = Boolean(this.#screen);
    if (this.#screen !== element) this.#screen?.remove();
    this.#screen = element;
    this.#watch?.element.classList.toggle("behind", Boolean(element));
    if (element) {
      element.dataset.screen = name;
      this.#root.append(element);
      document.title = element.querySelector("h1").textContent;
      scrollTo(0, 0);
      element.querySelector("h1").focus();
    } else if (hadScreen) this.#watch.element.querySelector(".hearing").focus({ focusVisible: false });
    this.rooms?.arrange(name);
    this.watching?.update();
  }

  // Browsers refuse service workers on a certificate that was clicked through. The page works without.
  async #register() {
    if (!navigator.serviceWorker) return;
    const policy = window.trustedTypes?.createPolicy("cradle", { createScriptURL: (url) => url });
    const script = policy ? policy.createScriptURL("./service-worker.js") : "./service-worker.js";
    for (let refusals = 0, wait = 2000; refusals < 2; wait = Math.min(2 * wait, longestWait)) {
      try {
        await navigator.serviceWorker.register(script);
        this.isTrusted = true;
        return;
      } catch (error) {
        // Not every browser has a name of its own for it; a file that is lost while the network changes is no refusal.
        if (error.name === "SecurityError") refusals = 2;
        else if (await fetch("./service-worker.js", { cache: "no-store", signal: AbortSignal.timeout(wait) }).then(({ ok }) => ok, () => false)) refusals += 1;
        if (refusals < 2) await new Promise((done) => setTimeout(done, wait));
      }
    }
    this.isTrusted = false;
    if (await this.store.setting("toldOfCertificate", false)) return;
    notice(`${t("settings")} → ${t("certificate")}`, t("certificate.help"));
    await this.store.setSetting("toldOfCertificate", true);
  }
}

const app = new App();
app.start().catch((error) => {
  document.getElementById("app").replaceChildren(h("section", { class: "screen" }, h("h1", {}, "Cradle"), h("p", { class: "problem", role: "alert" }, t("start.failed")), h("small", {}, String(error))));
  throw error;
});
