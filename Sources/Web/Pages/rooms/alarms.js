import { closePushed } from "../core/push.js";
import { h, setText } from "../screens/dom.js";
import { icon } from "../screens/icons.js";
import { showAlarm } from "../screens/sheet.js";
import { clock, moment, t } from "../texts/texts.js";

/**
 * What rings, over everything: each alarm once, with the names of its rooms and a button. An alarm of another kind is another line.
 * @param {() => Watching[]} watched
 * @returns {() => void} to be called when anything may have changed
 */
export function alarmList(watched) {
  const list = h("ul");
  const dialog = h("dialog", { class: "alarm several", role: "alertdialog", "aria-label": t("rooms.alarms"), "aria-describedby": "ringing" }, list);
  list.id = "ringing";
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  // Before the keys of the picture.
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "a" || !dialog.open) return;
    event.stopPropagation();
    list.querySelector("button").click();
  }, { capture: true });
  document.body.append(dialog);
  /** By kind: its line, and the rooms in it. */
  const lines = new Map();

  function line(kind) {
    const parts = { rooms: h("p", { class: "names" }), head: h("h2"), body: h("p"), since: h("p", { class: "since" }), drill: h("p", {}, t("proofs.now")), button: h("button", { class: "acknowledge" }) };
    const { button, ...told } = parts;
    const made = { ...parts, watched: [], element: h("li", { "data-kind": kind }, h("div", { class: "what" }, icon("bell"), Object.values(told)), button) };
    button.addEventListener("click", () => {
      for (const { sound, monitor } of made.watched) {
        if (isBlocked(sound, kind)) sound.play();
        monitor.acknowledge();
      }
      closePushed();
      update();
    });
    return made;
  }

  function update() {
    const ringing = watched().filter(({ monitor: { alarm } }) => alarm && alarm.level !== "notice" && !alarm.acknowledged).sort((a, b) => a.monitor.alarm.since - b.monitor.alarm.since);
    const kinds = [...new Set(ringing.map(({ monitor }) => monitor.alarm.kind))];
    for (const [kind, { element }] of lines) {
      if (kinds.includes(kind)) continue;
      element.remove();
      lines.delete(kind);
    }
    for (const kind of kinds) {
      if (!lines.has(kind)) lines.set(kind, line(kind));
      const one = lines.get(kind);
      if (!one.element.isConnected) list.append(one.element);
      show(one, kind, ringing.filter(({ monitor }) => monitor.alarm.kind === kind));
    }
    if (kinds.length) dialog.dataset.kind = kinds[0];
    if (kinds.length && !dialog.open) showAlarm(dialog);
    else if (!kinds.length && dialog.open) dialog.close();
  }

  function show(one, kind, rooms) {
    one.watched = rooms;
    const isStopped = rooms.some(({ sound }) => isBlocked(sound, kind));
    const { since } = rooms[0].monitor.alarm;
    setText(one.rooms, rooms.map(({ name }) => name).join(", "));
    setText(one.head, t(`alarm.${kind}`));
    setText(one.body, t(kind === "own-sound" && !isStopped ? "hearing.made-up" : `alarm.${kind}.help`));
    setText(one.since, t("alarm.since", { time: moment(since), age: clock((Date.now() - since) / 1000) }));
    setText(one.button, t(isStopped ? "alarm.unmute" : "alarm.acknowledge"));
    one.drill.hidden = !rooms.some(({ state }) => state.drill?.state === "running");
  }
  return update;
}

/** The browser stopped the sound: the button starts it again. */
const isBlocked = (sound, kind) => kind === "own-sound" && sound.isBlocked;
