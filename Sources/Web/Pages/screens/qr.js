/** Modules of empty space around a QR code (ISO/IEC 18004, 9.1). */
const quiet = 4;
const space = "http://www.w3.org/2000/svg";

/**
 * @param {string[]} rows "0" and "1" (dark), without quiet zone
 * @param {string} label
 * @returns {SVGElement}
 */
export function drawQR(rows, label) {
  const size = rows.length + 2 * quiet;
  const svg = document.createElementNS(space, "svg");
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${size} ${size}`, class: "qr", role: "img", "aria-label": label, "shape-rendering": "crispEdges" })) {
    svg.setAttribute(name, value);
  }
  const path = document.createElementNS(space, "path");
  const runs = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map((run) => `M${run.index + quiet} ${y + quiet}h${run[0].length}v1h-${run[0].length}z`));
  path.setAttribute("d", runs.join(""));
  svg.append(path);
  return svg;
}
