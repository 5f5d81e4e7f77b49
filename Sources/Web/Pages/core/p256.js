import { concat, number, toNumber } from "./bytes.js";

// NIST P-256, SEC 2 section 2.4.2. Browsers have ECDSA and ECDH but no addition of points, which SPAKE2+ needs. BigInt
// takes a time that depends on its numbers; a pairing uses each secret number once, and nobody beside this page can
// measure it.
const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** The order of the group: scalars are numbers modulo n. */
export const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The generator. Points are {x, y}, null is the identity. */
export const G = Object.freeze({
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
});

const mod = (value) => ((value % p) + p) % p;

function power(base, exponent) {
  let result = 1n;
  for (let square = mod(base); exponent > 0n; exponent >>= 1n, square = mod(square * square)) {
    if (exponent & 1n) result = mod(result * square);
  }
  return result;
}

// Jacobian coordinates: x = X / Z^2, y = Y / Z^3; Z is 0 for the identity. hyperelliptic.org, "Explicit-Formulas
// Database", dbl-2001-b and add-2007-bl.
const identity = { X: 1n, Y: 1n, Z: 0n };

function double({ X, Y, Z }) {
  if (Z === 0n) return identity;
  const delta = mod(Z * Z);
  const gamma = mod(Y * Y);
  const beta = mod(X * gamma);
  const alpha = mod(3n * (X - delta) * (X + delta));
  const x = mod(alpha * alpha - 8n * beta);
  return {
    X: x,
    Y: mod(alpha * (4n * beta - x) - 8n * gamma * gamma),
    Z: mod((Y + Z) * (Y + Z) - gamma - delta),
  };
}

function sum(one, other) {
  if (one.Z === 0n) return other;
  if (other.Z === 0n) return one;
  const squareOne = mod(one.Z * one.Z);
  const squareOther = mod(other.Z * other.Z);
  const u1 = mod(one.X * squareOther);
  const u2 = mod(other.X * squareOne);
  const s1 = mod(one.Y * other.Z * squareOther);
  const s2 = mod(other.Y * one.Z * squareOne);
  const h = mod(u2 - u1);
  const r = mod(s2 - s1);
  if (h === 0n) return r === 0n ? double(one) : identity;
  const hh = mod(h * h);
  const hhh = mod(h * hh);
  const v = mod(u1 * hh);
  const x = mod(r * r - hhh - 2n * v);
  return { X: x, Y: mod(r * (v - x) - s1 * hhh), Z: mod(h * one.Z * other.Z) };
}

const jacobian = (point) => (point ? { X: point.x, Y: point.y, Z: 1n } : identity);

function affine({ X, Y, Z }) {
  if (Z === 0n) return null;
  const inverse = power(Z, p - 2n);
  const square = mod(inverse * inverse);
  return { x: mod(X * square), y: mod(Y * square * inverse) };
}

/** The sum of two points. */
export const add = (one, other) => affine(sum(jacobian(one), jacobian(other)));

/** The inverse of a point. */
export const negate = (point) => (point ? { x: point.x, y: mod(-point.y) } : null);

/** `scalar` times `point`. */
export function multiply(point, scalar) {
  const base = jacobian(point);
  let result = identity;
  for (const digit of scalar.toString(2)) {
    result = double(result);
    if (digit === "1") result = sum(result, base);
  }
  return affine(result);
}

/** Uncompressed: 4, x, y; 65 bytes. SEC 1 section 2.3.3. The identity has no such form. */
export const encode = (point) => concat([4], number(point.x, 32), number(point.y, 32));

/** The point of 65 bytes; null unless it is on the curve. */
export function decode(bytes) {
  if (bytes?.length !== 65 || bytes[0] !== 4) return null;
  const x = toNumber(bytes.subarray(1, 33));
  const y = toNumber(bytes.subarray(33));
  if (x >= p || y >= p || mod(y * y) !== mod(x * x * x - 3n * x + b)) return null;
  return { x, y };
}

/** The number in big-endian bytes, modulo n. */
export const scalar = (bytes) => toNumber(bytes) % n;
