// Screens that no first picture needs, and pairing: see loader.js.
export { parseLink } from "../core/pairing.js";
export { openNight } from "./night.js";
export { againScreen, cancelledScreen, nameScreen, openingScreen, pairingScreen, refusedScreen, runPairing, wordsScreen } from "./opening.js";
export { openProofs } from "./proofs.js";
export { openRecordings } from "./recordings.js";
export { settingsScreen } from "./settings.js";
