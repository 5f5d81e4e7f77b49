import { moment, t } from "../texts/texts.js";
import { notice } from "./notices.js";

/** Says to who watches that a drill begins, or how it ended. */
export function tellDrills(watching, signal) {
  let known;
  watching.addEventListener("update", () => {
    const { drill } = watching.state;
    const now = drill && `${drill.number} ${drill.state}`;
    const isNew = known !== undefined && now && now !== known;
    if (watching.control.hello) known = now ?? "";
    if (isNew) notice(drill.state === "running" ? t("proofs.begins") : `${t("proofs.drill")}: ${t(`proofs.state.${drill.state}`, { when: moment(drill.time * 1000) })}`);
  }, { signal });
}
