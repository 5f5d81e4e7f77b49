import { concat, equal, fromHex, number, random, utf8 } from "./bytes.js";
import { hkdf, hmac, sha256 } from "./digest.js";
import * as p256 from "./p256.js";

// SPAKE2+ with P256-SHA256-HKDF-SHA256-HMAC-SHA256, the prover's side. RFC 9383.

// The constants of section 4, uncompressed.
const mBytes = fromHex(
  "04886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f" +
    "5ff355163e43ce224e0b0e65ff02ac8e5c7be09419c785e0ca547d55a12e2d20",
);
const nBytes = fromHex(
  "04d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49" +
    "07d60aa6bfade45008a636337f5168c64d9bd36034808cd564490b1e656edbe7",
);
const M = p256.decode(mBytes);
const N = p256.decode(nBytes);

/** Why a run ended without a key: "invalid-share" or "wrong-confirmation". */
export class SPAKE2PlusError extends Error {
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

// Section 3.3: lengths are little-endian numbers of 8 bytes.
const framed = (parts) => concat(...parts.flatMap((part) => [number(part.length, 8).reverse(), part]));

/**
 * The input to the key derivation function. Section 3.2.
 * @param {Uint8Array} password
 * @param {{context: Uint8Array, prover: Uint8Array, verifier: Uint8Array}} names
 */
export const passwordInput = (password, names) => framed([password, names.prover, names.verifier]);

/** w0 and w1 from the 80 bytes that the key derivation function gives. Section 3.2. */
export const secrets = (halves) => ({
  w0: p256.scalar(halves.subarray(0, 40)),
  w1: p256.scalar(halves.subarray(40)),
});

/** The keys of a run. Section 3.4. All points are encoded. */
export async function keySchedule(names, { shareP, shareV, z, v, w0 }) {
  const transcript = framed([
    names.context, names.prover, names.verifier, mBytes, nBytes, shareP, shareV, z, v, number(w0, 32),
  ]);
  const main = await sha256(transcript);
  const confirmation = await hkdf(main, { info: utf8("ConfirmationKeys"), count: 64 });
  return {
    confirmProver: confirmation.slice(0, 32),
    confirmVerifier: confirmation.slice(32),
    shared: await hkdf(main, { info: utf8("SharedKey"), count: 32 }),
  };
}

/** One run of the prover, who knows the password. */
export class Prover {
  #names;
  #secrets;
  #x;
  /** For the verifier, 65 bytes. */
  share;

  /**
   * @param {{context: Uint8Array, prover: Uint8Array, verifier: Uint8Array}} names
   * @param {{w0: bigint, w1: bigint}} secrets
   * @param {bigint} x the secret of this run; for test vectors only
   */
  constructor(names, secrets, x = p256.scalar(random(48))) {
    this.#names = names;
    this.#secrets = secrets;
    this.#x = x;
    const share = p256.add(p256.multiply(p256.G, x), p256.multiply(M, secrets.w0));
    if (!share) throw new SPAKE2PlusError("invalid-share");
    this.share = p256.encode(share);
  }

  /**
   * Checks that the verifier knows the password. Once only: a second answer to the same share would be a second guess.
   * @param {Uint8Array} shareV 65 bytes
   * @param {Uint8Array} confirmation 32 bytes
   * @returns {Promise<{confirmation: Uint8Array, sharedKey: Uint8Array}>} throws SPAKE2PlusError
   */
  async receive(shareV, confirmation) {
    const x = this.#x;
    this.#x = null;
    const { w0, w1 } = this.#secrets;
    const theirs = x === null ? null : p256.decode(shareV);
    const y = theirs && p256.add(theirs, p256.negate(p256.multiply(N, w0)));
    const z = y && p256.multiply(y, x);
    const v = y && p256.multiply(y, w1);
    if (!z || !v) throw new SPAKE2PlusError("invalid-share");
    const keys = await keySchedule(this.#names, {
      shareP: this.share, shareV, z: p256.encode(z), v: p256.encode(v), w0,
    });
    // Section 3.4: each side authenticates the other's share.
    if (!equal(await hmac(keys.confirmVerifier, this.share), confirmation)) {
      throw new SPAKE2PlusError("wrong-confirmation");
    }
    return { confirmation: await hmac(keys.confirmProver, shareV), sharedKey: keys.shared };
  }
}
