const empty = new Uint8Array();

/** SHA-256, 32 bytes. */
export const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

/** HMAC with SHA-256, 32 bytes. RFC 2104. */
export async function hmac(key, message) {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, message));
}

/** HKDF with SHA-256, extract and expand. RFC 5869. */
export async function hkdf(secret, { salt = empty, info, count }) {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, count * 8));
}

/** PBKDF2 with HMAC-SHA256. RFC 8018 section 5.2. */
export async function pbkdf2(password, { salt, iterations, count }) {
  const key = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"]);
  return new Uint8Array(
    await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations }, key, count * 8),
  );
}

// Every key seals one message only, so the nonce may be zero.
const gcm = (about) => ({ name: "AES-GCM", iv: new Uint8Array(12), additionalData: about, tagLength: 128 });

const gcmKey = (key, use) => crypto.subtle.importKey("raw", key, "AES-GCM", false, [use]);

/** AES-128-GCM with an all-zero nonce; the tag of 16 bytes follows the ciphertext. NIST SP 800-38D. */
export async function sealBytes(plaintext, key, about) {
  return new Uint8Array(await crypto.subtle.encrypt(gcm(about), await gcmKey(key, "encrypt"), plaintext));
}

/** The plaintext of `sealBytes`; null if the tag does not fit. */
export async function openBytes(sealed, key, about) {
  try {
    return new Uint8Array(await crypto.subtle.decrypt(gcm(about), await gcmKey(key, "decrypt"), sealed));
  } catch {
    return null;
  }
}

