import { drawn } from "./dom.js";

// Drawn on 24 by 24, as strokes.
const shapes = {
  light: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.6 10.8c.6.5.9 1.2.9 2h5.4c0-.8.3-1.5.9-2A6 6 0 0 0 12 3z",
  music: "M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z",
  camera: "M4 8h3l2-3h6l2 3h3v11H4zM15 13a3 3 0 1 1-6 0 3 3 0 0 1 6 0z",
  privacy: "M4 4l16 16M4 8h3M10 5h5l2 3h3v9M4 8v11h13",
  switch: "M3 7h11v10H3zM14 11l7-4v10l-7-4",
  talk: "M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM5 11a7 7 0 0 0 14 0M12 18v3",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  sound: "M4 10v4h3l5 4V6L7 10zM15.5 9a4 4 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11",
  mute: "M4 10v4h3l5 4V6L7 10zM16 9.5l5 5M21 9.5l-5 5",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  back: "M15 5l-7 7 7 7",
  close: "M6 6l12 12M18 6L6 18",
  full: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  small: "M3 5h18v14H3zM12 12h6v4h-6z",
  move: "M7 7h10v10M17 7L7 17",
  people: "M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3 20a6 6 0 0 1 12 0M16 5.5a3 3 0 0 1 0 5.5M17 14.5a6 6 0 0 1 4 5.5",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 21h4",
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  stop: "M6 6h12v12H6z",
  next: "M6 5l9 7-9 7zM18 5v14",
  bars: "M5 20v-7M10 20V6M15 20v-9M20 20v-5",
  moon: "M20 14a8 8 0 1 1-9-11 6 6 0 0 0 9 11z",
  ear: "M7 10a5 5 0 0 1 10 0c0 3-3 4-3 7a3 3 0 0 1-5 2M10 10a2 2 0 0 1 4 0",
  film: "M4 5h16v14H4zM10 9l5 3-5 3z",
  add: "M12 5v14M5 12h14",
};

/** An icon beside a text, hidden from screen readers. @param {keyof shapes} name @returns {SVGElement} */
export const icon = (name) => drawn("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, drawn("path", { d: shapes[name] }));
