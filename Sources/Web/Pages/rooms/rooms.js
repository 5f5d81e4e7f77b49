import { isFresh } from "../core/arrivals.js";
import { system } from "../screens/certificate.js";
import { h, labelled } from "../screens/dom.js";
import { icon } from "../screens/icons.js";
import { confirmed } from "../screens/sheet.js";
import { keepAwake } from "../screens/stage.js";
import { add, language, t } from "../texts/texts.js";
import { alarmList } from "./alarms.js";
import { Mix } from "./mix.js";
import texts from "./texts.js";
import { mostPictures, Tile } from "./tile.js";

add(texts[language] ?? texts.en);

/** The style sheet, until it has come. */
function loadStyle(tries = 0) {
  const link = h("link", { rel: "stylesheet", href: new URL(`./rooms.css${tries ? `?again=${tries}` : ""}`, import.meta.url).href });
  link.addEventListener("error", () => {
    link.remove();
    setTimeout(loadStyle, Math.min(1000 * 2 ** tries, 30_000), tries + 1);
  });
  document.head.append(link);
}

/**
 * Listens to all rooms at once but those that were left out: each has its own watcher and alarm. They are the list of rooms, or strips beside the
 * room that is shown large.
 */
export class Rooms {
  #app;
  /** By the child's id, as they were paired. @type {Map<string, Tile>} */
  #tiles = new Map();
  #list = h("ul", { class: "rooms-list" });
  #mix = new Mix();
  #ring;
  #listen = h("button", { class: "main listen-all" }, icon("sound"), t("hearing.tap"));
  #select;
  #help = h("p", { class: "dim" }, t("rooms.chosen.help"));
  /** The browser does not keep the screen on. */
  screenTurnsOff = false;

  constructor(app) {
    this.#app = app;
    loadStyle();
    // iPhones leave the volume to their buttons.
    const ways = ["all", "loudest", "chosen"].filter((way) => way !== "loudest" || system() !== "iphone");
    this.#select = h("select", { "data-setting": "roomSound", onchange: () => app.set("roomSound", this.#select.value) }, ways.map((way) => h("option", { value: way }, t(`rooms.${way}`))));
    this.sound = h("div", { class: "card" }, labelled(t("rooms.sound"), this.#select), this.#help);
    this.element = h("section", { class: "rooms" }, h("h1", { tabindex: "-1" }, t("children")), this.#listen, this.#list, this.sound,
      h("div", { class: "stack" }, h("button", { onclick: () => app.go("opening") }, t("open.again")), h("button", { onclick: () => app.go("settings") }, t("settings"))));
    this.#ring = alarmList(() => this.watched);
    keepAwake(this, new AbortController().signal);
    // The way back from a large room leads to the list.
    addEventListener("popstate", () => {
      if (!this.areSeveral || !app.watching || history.state) return;
      app.leave();
      app.goBack();
    });
  }

  /** @returns {Watching[]} of all rooms that are listened to */
  get watched() {
    return [...this.#tiles.values()].map(({ watching }) => watching).filter(Boolean);
  }

  get areSeveral() {
    return this.#tiles.size > 1;
  }

  /** @returns {Watching|undefined} */
  of = ({ id }) => this.#tiles.get(id)?.watching ?? undefined;

  /** These are the rooms from now on. */
  follow(children) {
    for (const [id, tile] of this.#tiles) {
      if (children.some((child) => child.id === id)) continue;
      tile.close();
      this.#mix.remove(id);
      this.#tiles.delete(id);
    }
    for (const child of children) {
      const tile = this.#tiles.get(child.id);
      if (!tile) this.#add(child);
      else if (Boolean(child.isLeftOut) === Boolean(tile.watching)) this.#set(tile, child.isLeftOut);
    }
    this.#announce();
    this.#changed();
  }

  /** The watching of the room that is to be shown large. */
  take(child) {
    const tile = this.#tiles.get(child.id) ?? this.#add(child, false);
    const { phase } = tile.watching?.watcher ?? {};
    tile.isLarge = true;
    if (!phase || phase === "refused" || phase === "stopped") this.#begin(tile, child, false);
    const { watcher } = tile.watching;
    watcher.isSmall = false;
    if (!tile.hasPicture) watcher.audioOnly = false;
    tile.update();
    if (tile.child.isLeftOut) this.#keep(tile, { isLeftOut: false });
    return tile.watching;
  }

  /** A room is not shown large any more. @returns {boolean} whether it goes on here */
  give(watching) {
    const tile = this.#tiles.get(watching.child.id);
    if (tile?.watching !== watching) return false;
    tile.isLarge = false;
    tile.place();
    this.#shrink(tile);
    return true;
  }

  /** Takes its place beside what is shown. @param {string|undefined} screen */
  arrange(screen) {
    const { element } = this;
    const isList = screen === "children";
    element.classList.toggle("screen", isList);
    element.classList.toggle("strips", !isList);
    element.hidden = !isList && (Boolean(screen) || !this.areSeveral);
    if (isList) return;
    delete element.dataset.screen;
    const root = document.getElementById("app");
    if (root.firstElementChild !== element) root.prepend(element);
  }

  #add(child, isSmall = true) {
    const { watching } = this.#app;
    const isLarge = watching?.child.id === child.id;
    const tile = new Tile(isLarge ? watching.child : child, {
      open: () => this.#open(tile), leave: () => this.#leave(tile), listen: () => this.#set(tile, false), mute: () => this.#mute(tile),
    });
    tile.isLarge = isLarge;
    tile.hasPicture = this.#tiles.size < mostPictures;
    this.#tiles.set(child.id, tile);
    this.#list.append(tile.element);
    if (isLarge) this.#watch(tile, watching);
    else if (!child.isLeftOut) this.#begin(tile, child, isSmall);
    return tile;
  }

  #open({ child }) {
    if (!history.state?.isRoom) history.pushState({ isRoom: true }, "");
    this.#app.watch(child);
  }

  #begin(tile, child, isSmall) {
    tile.watching?.stop();
    tile.child = child;
    this.#watch(tile, this.#app.listen(child, isSmall));
    if (isSmall) this.#shrink(tile);
  }

  #watch(tile, watching) {
    tile.show(watching, () => {
      tile.update();
      this.#changed();
    });
    watching?.addEventListener("level", () => this.#mixed(tile));
    if (watching && tile.child.isMuted) this.#choose(watching);
    this.#announce();
    this.#changed();
  }

  /** Buttons of headsets and lock screens are for all rooms. */
  #announce() {
    const session = navigator.mediaSession;
    const set = (action, isMuted) => session?.setActionHandler(action, () => {
      for (const { sound } of this.watched) {
        sound.muted = isMuted;
        if (!isMuted) sound.play();
      }
    });
    set("pause", true);
    set("play", false);
  }

  #shrink({ watching: { watcher }, hasPicture }) {
    watcher.isSmall = true;
    if (!hasPicture) watcher.audioOnly = true;
  }

  async #leave(tile) {
    const { name } = tile;
    if (await confirmed(t("rooms.leave"), t("rooms.leave.sure", { name }), t("rooms.leave"))) this.#set(tile, true);
  }

  #set(tile, isLeftOut) {
    if (isLeftOut && tile.watching) {
      if (this.#app.watching === tile.watching) return;
      tile.watching.stop();
      this.#mix.remove(tile.child.id);
      this.#watch(tile, null);
    } else if (!isLeftOut && !tile.watching) this.#begin(tile, tile.child, true);
    this.#keep(tile, { isLeftOut });
  }

  /** Where rooms are chosen the others stay muted; else that ends by itself. */
  #choose({ sound }) {
    if (this.#app.settings.roomSound === "chosen") sound.muteUntil(Infinity);
  }

  #mute(tile) {
    if (tile.watching.sound.muted) this.#choose(tile.watching);
    this.#keep(tile, { isMuted: tile.watching.sound.muted });
  }

  async #keep(tile, choice) {
    Object.assign(tile.child, choice);
    const { store } = this.#app;
    const stored = await store.child(tile.child.id);
    if (stored) await store.saveChild({ ...stored, ...choice });
  }

  #changed() {
    const { roomSound } = this.#app.settings;
    if (this.#select.value !== roomSound) this.#select.value = roomSound;
    this.#help.hidden = roomSound !== "chosen";
    this.sound.hidden = !this.areSeveral;
    this.#listen.hidden = !this.watched.some(({ sound }) => sound.verdict.reason === "tap");
    this.#ring();
  }

  #mixed({ child, watching }) {
    const now = performance.now();
    if (watching && isFresh(watching.watcher, Date.now()) && !watching.sound.muted) this.#mix.note(child.id, watching.control.level.levelDb, now);
    const shares = this.#app.settings.roomSound === "loudest" ? this.#mix.shares(now) : new Map();
    for (const [id, { watching: one }] of this.#tiles) if (one) one.sound.share = shares.get(id) ?? 1;
  }
}
