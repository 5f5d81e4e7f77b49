import { plain } from "../core/plain.js";

/**
 * Makes an element. All text goes in as text nodes, never as markup, and only what is plain of it: some of it others wrote.
 * @param {string} tag
 * @param {Object} properties attributes; `on…` are listeners (functions); false, null and undefined are left out, true is an empty attribute
 * @param {...(Node|string|number|null|undefined|false|Array)} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : attribute(name, value));
  }
  element.append(...children.flat(2).filter((child) => child || child === 0).map((child) => child instanceof Node ? child : plain(child)));
  return element;
}

/** An SVG element. */
export function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Nobody reads `data-…`. */
const attribute = (name, value) => (name.startsWith("data-") ? String(value) : plain(value));

/** Sets text only when it differs, so that screen readers and layout rest. */
export function setText(element, text) {
  const shown = plain(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** Sets or (null, false) removes an attribute, only when it differs. */
export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== attribute(name, value)) element.setAttribute(name, attribute(name, value));
}

let number = 0;

/** A new id for `for`, `aria-labelledby` and the like. */
export const newID = () => `x${++number}`;

/** A field with its label. */
export function labelled(text, field) {
  field.id ||= newID();
  return h("div", { class: "field" }, h("label", { for: field.id }, text), field);
}

/** Times to choose from; `mark` shows which holds. */
export function times(title, minutes, text, choose) {
  const buttons = minutes.map((value) => h("button", { "data-minutes": value, onclick: ({ currentTarget }) => currentTarget.ariaDisabled || choose(value, currentTarget) }, text(value)));
  return { element: h("fieldset", {}, h("legend", {}, title), h("div", { class: "choices" }, buttons)), buttons,
    mark: (marked) => buttons.forEach((button, index) => setAttribute(button, "aria-pressed", String(minutes[index] === marked))) };
}

/**
 * A slider with its value beside it.
 * @param {{label: string, min: number, max: number, step?: number, text: (value: number) => string, oninput?: Function, onchange?: Function}} options
 * @returns {{element: HTMLElement, input: HTMLInputElement, set: (value: number) => void}} `set` does nothing while a finger holds the slider
 */
export function slider({ label, min, max, step = 1, text, oninput, onchange }) {
  const id = newID();
  const output = h("output", { for: id });
  const input = h("input", { id, type: "range", min, max, step });
  const show = () => {
    setText(output, text(Number(input.value)));
    setAttribute(input, "aria-valuetext", output.textContent);
  };
  let held = false;
  input.addEventListener("input", () => {
    held = true;
    show();
    oninput?.(Number(input.value));
  });
  input.addEventListener("change", () => {
    held = false;
    onchange?.(Number(input.value));
  });
  input.addEventListener("blur", () => (held = false));
  const set = (value) => {
    if (held || Number(input.value) === value && output.textContent) return;
    input.value = value;
    show();
  };
  return { element: h("div", { class: "slider" }, h("label", { for: id }, label), input, output), input, set };
}
