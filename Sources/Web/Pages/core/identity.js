import { equal, fromHex, hex } from "./bytes.js";
import { sha256 } from "./digest.js";

const algorithm = { name: "ECDSA", namedCurve: "P-256" };
const signing = { name: "ECDSA", hash: "SHA-256" };

/** DER SubjectPublicKeyInfo of a point on P-256, up to its 65 bytes. RFC 5480 section 2. */
const spkiHead = fromHex("3059301306072a8648ce3d020106082a8648ce3d030107034200");

/** Bytes of an identity key's SPKI. */
export const spkiByteCount = 91;

/** The id of a node: 16 hexadecimal digits, the first 8 bytes of SHA-256 over its public key. interfaces/wire.md, "DNS-SD". */
export const nodeID = async (spki) => hex((await sha256(spki)).subarray(0, 8));

/**
 * A new key pair of this page. The private key cannot be read, not even by this page.
 * @returns {Promise<{id: string, publicKeySPKI: Uint8Array, privateKey: CryptoKey}>}
 */
export async function createIdentity() {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const publicKeySPKI = new Uint8Array(await crypto.subtle.exportKey("spki", publicKey));
  return { id: await nodeID(publicKeySPKI), publicKeySPKI, privateKey };
}

/** ECDSA on P-256 with SHA-256: r and s, 32 bytes each. RFC 7518 section 3.4. */
export const sign = async (identity, bytes) =>
  new Uint8Array(await crypto.subtle.sign(signing, identity.privateKey, bytes));

const imported = new Map();

/** The key of an SPKI; null if it is none on P-256 in its one canonical form. */
async function publicKey(spki) {
  if (spki?.length !== spkiByteCount || !equal(spki.subarray(0, spkiHead.length), spkiHead)) return null;
  const name = hex(spki);
  try {
    if (!imported.has(name)) {
      imported.set(name, await crypto.subtle.importKey("spki", spki, algorithm, false, ["verify"]));
    }
    return imported.get(name);
  } catch {
    return null;
  }
}

/** Whether `signature` over `bytes` was made with the private half of `spki`. False for a malformed key, too. */
export async function verify(spki, signature, bytes) {
  const key = await publicKey(spki);
  return key !== null && signature.length === 64 && crypto.subtle.verify(signing, key, signature, bytes);
}
