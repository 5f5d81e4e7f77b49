/// A point of P-256 other than the identity, known to be on the curve: only `P256Group` creates them.
public struct P256Point: Hashable, Sendable {
  /// Uncompressed: 4, then 32 bytes of x, then 32 bytes of y. SEC 1 section 2.3.3.
  public let bytes: [UInt8]

  /// For implementations of `P256Group`, with bytes that they have checked or computed.
  public init(checkedBytes: [UInt8]) {
    precondition(checkedBytes.count == Self.byteCount, "an uncompressed point of P-256")
    bytes = checkedBytes
  }

  public static let byteCount = 65
}

/// A number modulo the order n of P-256.
public struct P256Scalar: Hashable, Sendable {
  /// Big-endian, below n.
  public let bytes: [UInt8]

  /// For implementations of `P256Group`, with bytes that they have reduced.
  public init(reducedBytes: [UInt8]) {
    precondition(reducedBytes.count == Self.byteCount, "a number of 32 bytes")
    bytes = reducedBytes
  }

  public static let byteCount = 32
}

/// Arithmetic in the group of NIST P-256 (cofactor 1), passed in by the shell so that no core links a crypto library.
/// Scalars are secret: implementations are constant-time as far as their library allows.
public protocol P256Group: Sendable {
  /// Nil unless the bytes are an uncompressed point on the curve. The identity has no such encoding and is refused,
  /// too.
  func point(_ bytes: [UInt8]) -> P256Point?
  /// Big-endian bytes of any length up to 64, modulo n.
  func scalar(reducing bytes: [UInt8]) -> P256Scalar
  /// `scalar` times the generator; nil for the identity.
  func multiplyGenerator(by scalar: P256Scalar) -> P256Point?
  /// `scalar` times `point`; nil for the identity.
  func multiply(_ point: P256Point, by scalar: P256Scalar) -> P256Point?
  /// Nil for the identity.
  func add(_ left: P256Point, _ right: P256Point) -> P256Point?
  /// The additive inverse of `point`.
  func negate(_ point: P256Point) -> P256Point
}

extension P256Group {
  /// Uniform up to a bias of 2^-128: 48 random bytes, reduced.
  func randomScalar(using random: inout any RandomNumberGenerator & Sendable) -> P256Scalar {
    scalar(reducing: randomBytes(48, using: &random))
  }
}

func randomBytes(_ count: Int, using random: inout any RandomNumberGenerator & Sendable) -> [UInt8] {
  (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
}
