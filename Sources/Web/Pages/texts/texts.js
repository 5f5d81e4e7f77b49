/** The page's languages: of each table the line `own`. */
export const languages = JSON.parse(document.getElementById("languages")?.textContent ?? "{}");

const key = "cradle-language";

/** The language that was set by hand, or "" for the browser's. In localStorage: it is needed before the first word. */
export function chosenLanguage() {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** Keeps the choice ("" for the browser's) and loads the page again. */
export function chooseLanguage(name) {
  try {
    if (name) localStorage.setItem(key, name);
    else localStorage.removeItem(key);
  } catch { /* Without storage it is the browser's. */ }
  location.reload();
}

/** The first of the wanted languages that there is a table for. */
export function pickLanguage(wanted) {
  for (const name of wanted) {
    const short = String(name).toLowerCase().split("-")[0];
    if (short in languages) return short;
  }
  return "en";
}

/** Short name of the language in use, such as "de". */
export const language = pickLanguage([chosenLanguage(), ...(navigator.languages ?? [])]);

const table = flat((await import(`./${language}.js`)).default);
const plural = new Intl.PluralRules(language);

document.documentElement.lang = language;

/** For times and numbers: 20:45 or 8:45 PM. */
const locale = localeFor(language, navigator.languages ?? []);

/** The first of the wanted locales that is in this language, else the language in the region of the first. */
export function localeFor(language, wanted) {
  const region = /-([A-Z]{2}|\d{3})\b/.exec(wanted[0]);
  return wanted.find((name) => name.startsWith(`${language}-`)) ?? language + (region?.[0] ?? "");
}

/** A table's groups as keys with dots; `_` is the group's own text. Objects with `other` are plural texts. */
export function flat(group, prefix = "") {
  return Object.assign({}, ...Object.entries(group).map(([name, value]) => {
    const key = name === "_" ? prefix.slice(0, -1) : prefix + name;
    return typeof value === "string" || "other" in value && !("_" in value) && "one other few".includes(Object.keys(value)[0]) ? { [key]: value } : flat(value, `${key}.`);
  }));
}

/**
 * The text of a key, with `{name}` replaced by `values.name`. A plural text is an object by CLDR category; `values.n` chooses.
 * A key that is missing is shown itself.
 */
export function t(key, values = {}) {
  let text = table[key] ?? key;
  if (typeof text === "object") text = text[plural.select(values.n)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** Adds texts, as those of a table. */
export const add = (texts) => Object.assign(table, flat(texts));

/** Whether there is a text of this key. */
export const has = (key) => key in table;

/** `m:ss` or `h:mm:ss`. */
export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value) => String(value).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

const unit = (value, name, digits = 0) => new Intl.NumberFormat(locale,
  { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits }).format(value);

/** A length in the largest unit that fits: "12 sec", "3 min", "2 hr". */
export function duration(seconds) {
  if (seconds < 60) return unit(Math.round(seconds), "second");
  if (seconds < 3600) return unit(Math.floor(seconds / 60), "minute");
  if (seconds < 86400) return unit(Math.floor(seconds / 3600), "hour");
  return unit(Math.floor(seconds / 86400), "day");
}

/** "0.2 sec" */
export const tenths = (seconds) => unit(seconds, "second", 1);

/** "80%" */
export const percent = (value) => new Intl.NumberFormat(locale, { style: "percent" }).format(value / 100);

/** Time of day. @param {number} milliseconds since 1970 */
export const timeOfDay = (milliseconds) => new Intl.DateTimeFormat(locale, { timeStyle: "short" }).format(new Date(milliseconds));

/** Time of day, with the date when it was another day. @param {number} milliseconds since 1970 */
export function moment(milliseconds) {
  const date = new Date(milliseconds);
  const today = date.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(locale, today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" }).format(date);
}
