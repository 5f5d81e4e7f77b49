/** Longer than any text of the page. */
const longest = 1000;

/**
 * What others wrote (a camera, a server, a stranger who chose a name) as it may be shown: without control characters, characters that change
 * the direction or hide something (Unicode categories Cc, Cf, Cs, Co), line separators and piles of accents, and cut where it is too long. What
 * is neither text nor a number is left out.
 */
export function plain(text, most = longest) {
  // An object may have a toString that throws.
  const whole = ["string", "number", "boolean"].includes(typeof text) ? String(text) : "";
  if (whole.length <= most && /^[ -~]*$/.test(whole)) return whole;
  // Soft hyphens and joiners are part of words.
  const shown = whole.slice(0, 4 * most).replace(/[\n\t\u2028\u2029]/g, " ").replace(/[^\P{C}\p{Cn}\u00ad\u200c\u200d]/gu, "").replace(/(\p{M}{4})\p{M}+/gu, "$1");
  const letters = Array.from(shown);
  return letters.length > most || whole.length > 4 * most ? `${letters.slice(0, most - 1).join("")}…` : shown;
}

/** A name on one line, without what cannot be printed, at most 64 characters. */
export function cleanName(name, fallback) {
  const words = plain(name ?? "", 4 * longest).replace(/[^\P{C}\u200c\u200d\s]/gu, "").split(/\s+/u).filter(Boolean);
  return Array.from(words.join(" ")).slice(0, 64).join("").trim() || fallback;
}
