internal import COpenSSL
internal import Pairing
internal import SecureTransport

/// The P-256 group over OpenSSL. Multiplies by one scalar at a time, which OpenSSL does in constant time, unlike sums
/// of several products.
struct P256Arithmetic: P256Group {
  func point(_ bytes: [UInt8]) -> P256Point? {
    // The other encodings of SEC 1 section 2.3.4, including the identity, are not used here.
    guard bytes.count == P256Point.byteCount, bytes[0] == 4 else { return nil }
    let curve = Curve()
    return curve.load(bytes).flatMap { curve.take($0) }
  }

  func scalar(reducing bytes: [UInt8]) -> P256Scalar {
    let curve = Curve()
    let number = Number(bytes)
    precondition(BN_nnmod(number.pointer, number.pointer, curve.order, curve.context) == 1, "the order is not zero")
    return P256Scalar(reducedBytes: number.bytes(P256Scalar.byteCount))
  }

  func multiplyGenerator(by scalar: P256Scalar) -> P256Point? {
    let curve = Curve()
    let number = Number(scalar.bytes)
    let result = curve.newPoint()
    guard EC_POINT_mul(curve.group, result, number.pointer, nil, nil, curve.context) == 1 else {
      return curve.discard(result)
    }
    return curve.take(result)
  }

  func multiply(_ point: P256Point, by scalar: P256Scalar) -> P256Point? {
    let curve = Curve()
    let number = Number(scalar.bytes)
    guard let result = curve.load(point.bytes) else { return nil }
    guard EC_POINT_mul(curve.group, result, nil, result, number.pointer, curve.context) == 1 else {
      return curve.discard(result)
    }
    return curve.take(result)
  }

  func add(_ left: P256Point, _ right: P256Point) -> P256Point? {
    let curve = Curve()
    guard let result = curve.load(left.bytes) else { return nil }
    guard let other = curve.load(right.bytes) else { return curve.discard(result) }
    defer { EC_POINT_clear_free(other) }
    guard EC_POINT_add(curve.group, result, result, other, curve.context) == 1 else { return curve.discard(result) }
    return curve.take(result)
  }

  func negate(_ point: P256Point) -> P256Point {
    let curve = Curve()
    guard let result = curve.load(point.bytes), EC_POINT_invert(curve.group, result, curve.context) == 1,
      let negative = curve.take(result)
    else { preconditionFailure("a point on the curve has a negative there") }
    return negative
  }
}

/// Owns the curve's parameters and the scratch memory of a computation.
private struct Curve: ~Copyable {
  let group: OpaquePointer
  let context: OpaquePointer

  init() {
    guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), let context = BN_CTX_new() else {
      preconditionFailure("OpenSSL knows P-256")
    }
    self.group = group
    self.context = context
  }

  deinit {
    BN_CTX_free(context)
    EC_GROUP_free(group)
  }

  var order: OpaquePointer? { EC_GROUP_get0_order(group) }

  /// The caller owns the point.
  func newPoint() -> OpaquePointer {
    guard let point = EC_POINT_new(group) else { preconditionFailure("memory for a point") }
    return point
  }

  /// The caller owns the point. Nil, with OpenSSL's error queue cleared, if the bytes are not a point on the curve.
  func load(_ bytes: [UInt8]) -> OpaquePointer? {
    let point = newPoint()
    guard EC_POINT_oct2point(group, point, bytes, bytes.count, context) == 1,
      EC_POINT_is_on_curve(group, point, context) == 1
    else {
      EC_POINT_clear_free(point)
      OpenSSLQueue.clear()
      return nil
    }
    return point
  }

  /// Frees the point and returns its encoding, or nil if it is the identity.
  func take(_ point: OpaquePointer) -> P256Point? {
    defer { EC_POINT_clear_free(point) }
    guard EC_POINT_is_at_infinity(group, point) == 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: P256Point.byteCount)
    guard EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, context) == bytes.count
    else {
      OpenSSLQueue.clear()
      return nil
    }
    return P256Point(checkedBytes: bytes)
  }

  /// Frees the point after a failure.
  func discard(_ point: OpaquePointer) -> P256Point? {
    EC_POINT_clear_free(point)
    OpenSSLQueue.clear()
    return nil
  }
}

/// Owns a secret number: wiped when freed, and flagged so that OpenSSL takes its slower constant-time paths.
private struct Number: ~Copyable {
  let pointer: OpaquePointer

  init(_ bytes: [UInt8]) {
    guard let pointer = BN_bin2bn(bytes, Int32(bytes.count), nil) else {
      preconditionFailure("memory for a number")
    }
    BN_set_flags(pointer, BN_FLG_CONSTTIME)
    self.pointer = pointer
  }

  deinit {
    BN_clear_free(pointer)
  }

  /// Big-endian, padded with zeros.
  func bytes(_ count: Int) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: count)
    precondition(BN_bn2binpad(pointer, &result, Int32(count)) == Int32(count), "the number fits")
    return result
  }
}
