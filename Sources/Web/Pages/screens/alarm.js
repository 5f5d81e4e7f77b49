import { closePushed } from "../core/push.js";
import { clock, moment, t } from "../texts/texts.js";
import { h, newID, setText } from "./dom.js";
import { icon } from "./icons.js";
import { showAlarm } from "./sheet.js";

/**
 * The alarm over everything: what is wrong, since when, one big button. What is acknowledged, or only a notice, stays as a
 * line above the status.
 * @param {Watching} watching
 * @returns {{banner: HTMLElement, acknowledge: () => boolean, close: () => void}} `acknowledge` tells whether there was anything to
 */
export function alarmOverlay(watching) {
  const { monitor } = watching;
  const banner = h("div", { class: "banner", role: "status", hidden: true });
  const [title, text] = [newID(), newID()];
  const head = h("h2", { id: title });
  const body = h("p", { id: text });
  const since = h("p", { class: "since" });
  const drill = h("p", { hidden: true }, t("proofs.now"));
  const button = h("button", { class: "acknowledge", onclick: () => {
    if (isStopped()) watching.sound.play();
    acknowledge();
  } });
  const dialog = h("dialog", { class: "alarm", role: "alertdialog", "aria-labelledby": title, "aria-describedby": text },
    h("div", { class: "what" }, icon("bell"), head, body, since, drill), button);
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  document.body.append(dialog);
  watching.addEventListener("update", update);
  update();

  /** The browser stopped the sound: the button starts it again. */
  function isStopped() {
    return monitor.alarm?.kind === "own-sound" && watching.sound.isBlocked;
  }

  function acknowledge() {
    const isRinging = dialog.open;
    monitor.acknowledge();
    closePushed();
    update();
    return isRinging;
  }

  function update() {
    const { alarm } = monitor;
    const rings = !watching.app.rooms && Boolean(alarm) && alarm.level !== "notice" && !alarm.acknowledged;
    if (alarm) {
      const seconds = (Date.now() - alarm.since) / 1000;
      dialog.dataset.since = alarm.since;
      dialog.dataset.kind = alarm.kind;
      setText(head, t(`alarm.${alarm.kind}`));
      setText(body, t(alarm.kind === "own-sound" && !isStopped() ? "hearing.made-up" : `alarm.${alarm.kind}.help`));
      setText(button, t(isStopped() ? "alarm.unmute" : "alarm.acknowledge"));
      setText(since, t("alarm.since", { time: moment(alarm.since), age: clock(seconds) }));
      setText(banner, `${head.textContent} · ${moment(alarm.since)}`);
    }
    drill.hidden = watching.state.drill?.state !== "running";
    banner.hidden = !alarm;
    banner.classList.toggle("mild", alarm?.level === "notice");
    if (rings && !dialog.open) showAlarm(dialog);
    else if (!rings && dialog.open) dialog.close();
  }
  return { banner, acknowledge, close: () => dialog.remove() };
}
