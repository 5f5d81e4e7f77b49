import { has, t } from "../texts/texts.js";

/**
 * A failed order in the page's language, by its code; the child's own words in small print.
 * @param {Error & {code?: string}} error
 * @param {Record<string, string>} own keys of other texts, by code
 * @returns {[string, string|undefined]}
 */
export function problemText(error, own = {}) {
  const key = own[error?.code] ?? `error.${error?.code}`;
  return has(key) ? [t(key), error.message] : [t("error.other"), error?.message ?? String(error)];
}

/**
 * A failed pairing (`PairingError`) as a sentence that says what to do next.
 * @param {Error & {reason?: string, triesLeft?: number, retryAfterSeconds?: number}} error
 * @returns {string}
 */
export function pairingProblemText(error) {
  const key = `pairing.${error?.reason}`;
  const own = ["failed", "already-paired"].includes(error?.reason) ? ` (${error.message})` : "";
  const text = has(key) ? t(key) + own : `${t("pairing.other")} ${error?.message ?? ""}`;
  const left = error?.triesLeft ? ` ${t("pairing.left", { n: error.triesLeft })}` : "";
  const wait = error?.retryAfterSeconds ? ` ${t("pairing.wait", { n: Math.ceil(error.retryAfterSeconds) })}` : "";
  return text + left + wait;
}
