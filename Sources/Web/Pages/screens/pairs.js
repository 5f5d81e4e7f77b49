import { cleanName } from "../core/plain.js";
import { clock, duration, moment, t } from "../texts/texts.js";
import { drawn, h, labelled, setText } from "./dom.js";
import { copy, notice } from "./notices.js";
import { wordsCheck } from "./opening.js";
import { confirmed, openSheet } from "./sheet.js";

/** Modules of empty space around a QR code (ISO/IEC 18004, 9.1). */
const quiet = 4;
const hours = [8, 24, 7 * 24, 30 * 24];

/** Owners manage, guests come for a time, parents may the rest. */
const roleOf = ({ permissions, expiresAt }) => (permissions.includes("admin") ? "owner" : expiresAt ? "guest" : "parent");

/** Why this phone may not see who is paired, as a sentence; null if it may. */
export const pairsObstacle = (watching) => watching.obstacle({ permissions: ["admin"] });

/**
 * Who is paired, with revoking and inviting; only for `admin`, others see why not.
 * @param {Watching} watching
 * @param {(title: string, ...content: Node[]) => HTMLElement} card
 */
export function pairedPeople(watching, card) {
  const obstacle = pairsObstacle(watching);
  if (obstacle) return card(t("pairs"), h("p", { class: "dim" }, obstacle));
  const list = h("ul", { class: "list" });
  const own = watching.app.identity.id;
  async function load() {
    const reply = await watching.control.request("pairs.list").catch(() => null);
    // The connection may just have been another: an empty list would be a lie.
    if (!reply) return void setTimeout(() => list.isConnected && load(), 2000);
    const { pairs = [] } = reply;
    list.replaceChildren(...pairs.map((told) => ({ ...told, name: cleanName(told.name, "?") })).map((pair) => h("li", {},
      h("div", {}, h("b", {}, pair.name), pair.id === own && ` (${t("you")})`, " ", h("small", {}, [t(`pairs.${roleOf(pair)}`), pair.expiresAt && t("until", { when: moment(pair.expiresAt * 1000) }),
        pair.lastSeenAt && t("children.seen", { when: moment(pair.lastSeenAt * 1000) })].filter(Boolean).join(" · ")),
      h("details", {}, h("summary", {}, t("pairs.may")), h("small", {}, pair.permissions.map((name) => t(`may.${name}`)).join(", ")),
        roleOf(pair) === "parent" && h("button", { onclick: (event) => widen(pair, event.currentTarget) }, t("pairs.raise")))),
      pair.id !== own && h("button", { class: "danger", onclick: (event) => revoke(pair, event.currentTarget) }, t("revoke"), h("span", { class: "unseen" }, ` ${pair.name}`)))));
  }
  async function revoke(pair, button) {
    if (!await confirmed(t("revoke"), t("revoke.sure", { name: pair.name }), t("revoke"))) return;
    if (await watching.order(button, "pair.remove", { id: pair.id })) load();
  }
  async function show(button, title, help, parameters) {
    const reply = await watching.order(button, "pairing.open", parameters);
    if (reply?.pairing) showLink(watching, title, help, reply.pairing, () => {
      watching.control.request("pairing.close").catch(() => {});
      load();
    });
  }
  // A device that pairs again gets what the link adds.
  const widen = (pair, button) => show(button, t("pairs.raise"), t("pairs.raise.help", { name: pair.name }), { admin: true });
  const open = h("button", { onclick: (event) => show(event.currentTarget, t("pairs.add"), t("pairs.add.help"), {}) }, t("pairs.add"));
  load();
  return card(t("pairs"), list, open, h("button", { "data-do": "invite", onclick: () => invite(watching, load) }, t("invite")));
}

function invite(watching, load) {
  const name = h("input", { maxlength: "60", autocomplete: "off" });
  const time = h("select", {}, hours.map((value) => h("option", { value: value * 3600 }, duration(value * 3600))));
  const check = (right) => h("label", { class: "check" }, h("input", { type: "checkbox", value: right }), t(`may.${right}`));
  const rights = h("div", {}, [check("talk"), check("control")]);
  const form = h("form", { class: "stack", onsubmit: async (event) => {
    event.preventDefault();
    const allow = ["view", "listen", ...[...rights.querySelectorAll(":checked")].map((box) => box.value)];
    const reply = await watching.order(button, "invite.create", { name: name.value.trim() || t("guest"), seconds: Number(time.value), allow });
    if (!reply?.invite) return;
    showLink(watching, t("invite"), t("invite.help", { when: moment(reply.invite.expiresAt * 1000) }), reply.invite, load);
  } }, labelled(t("invite.name"), name), labelled(t("invite.time"), time), h("fieldset", {}, h("legend", {}, t("invite.may")), rights));
  const button = h("button", { class: "main" }, t("invite.make"));
  form.append(button);
  openSheet(t("invite"), [form], { name: "invite" });
}

/** @param {string[]} rows "0" and "1" (dark), without quiet zone */
function drawQR(rows, label) {
  const size = rows.length + 2 * quiet;
  const runs = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map((run) => `M${run.index + quiet} ${y + quiet}h${run[0].length}v1h-${run[0].length}z`));
  return drawn("svg", { viewBox: `0 0 ${size} ${size}`, class: "qr", role: "img", "aria-label": label, "shape-rendering": "crispEdges" }, drawn("path", { d: runs.join("") }));
}

/**
 * A link as QR code and text, to be shown, shared or copied; with the code of a pairing window and how long it stays open.
 * When somebody has used it: who, and the four words that are on that screen now.
 */
function showLink(watching, title, help, { link, code, expiresAt, qr }, onclose) {
  const share = () => navigator.share({ title, url: link }).catch(() => {});
  const left = h("p", { class: "dim" });
  const show = () => setText(left, t("pairs.open", { time: clock(expiresAt - Date.now() / 1000) }));
  if (code) show();
  const tick = code && setInterval(show, 1000);
  const text = h("input", { readonly: true, "aria-label": t("open.link.label"), onfocus: () => text.select() });
  text.value = link;
  const content = h("div", { class: "stack" }, [h("p", {}, help), qr?.length ? drawQR(qr, t("qr")) : null, code && h("p", { class: "code" }, code), code && left, text,
    h("div", { class: "row" }, h("button", { class: "grow", onclick: () => copy(link) }, t("copy")), navigator.share && h("button", { class: "grow", onclick: share }, t("share")))]
    .filter(Boolean));
  const ending = new AbortController();
  const sheet = openSheet(title, [content], { name: "link", onclose: () => {
    ending.abort();
    clearInterval(tick);
    onclose();
  } });
  watching.addEventListener("event", ({ detail: { kind, id } }) => kind === "paired" && joined(id), { signal: ending.signal });

  async function joined(id) {
    const { pairs = [] } = await watching.control.request("pairs.list").catch(() => ({}));
    const pair = pairs.find((one) => one.id === id);
    if (!pair || !sheet.open) return;
    clearInterval(tick);
    const differ = async () => {
      if (!await watching.order(null, "pair.remove", { id })) return;
      sheet.close();
      notice(t("cancelled"));
    };
    content.replaceChildren(h("p", { class: "big", role: "status", "data-joined": id }, `✓ ${t("pairs.joined", { name: cleanName(pair.name, "?") })}`),
      typeof pair.words === "string" ? wordsCheck(pair.words.split(" ").slice(0, 4), differ) : "", h("button", { class: "main", onclick: () => sheet.close() }, t("done")));
  }
}
