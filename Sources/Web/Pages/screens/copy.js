import { within } from "../core/within.js";
import { t } from "../texts/texts.js";
import { notice } from "./notices.js";

/** For the browser, ms. */
const patience = 5000;

/** Copies a text, and says whether that worked. @param {string} text */
export const copy = (text) => within(patience, navigator.clipboard.writeText(text)).then(() => notice(t("copied")), () => notice(t("error.other")));
