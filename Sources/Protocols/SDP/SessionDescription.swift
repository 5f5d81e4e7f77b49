/// A session description: RFC 8866 as RFC 9429 uses it. Session-level ICE, DTLS, direction and extension attributes are
/// copied into every media section without its own, and written there.
public struct SessionDescription: Hashable, Sendable {
  /// The `o=` line. RFC 8866 section 5.2.
  public struct Origin: Hashable, Sendable {
    public var username: String
    public var sessionID: UInt64
    /// Incremented with every change of the description.
    public var version: UInt64
    /// Net type, address type and address, as written.
    public var address: String

    public init(username: String = "-", sessionID: UInt64, version: UInt64, address: String = "IN IP4 127.0.0.1") {
      self.username = username
      self.sessionID = sessionID
      self.version = version
      self.address = address
    }
  }

  /// `a=group`. RFC 5888 section 5.
  public struct Group: Hashable, Sendable {
    public var semantics: String
    public var mids: [String]

    public init(semantics: String, mids: [String]) {
      self.semantics = semantics
      self.mids = mids
    }
  }

  public var origin: Origin
  /// The `s=` line.
  public var name: String
  /// The `b=` lines at session level: for all sections together.
  public var bandwidth = Bandwidth()
  public var groups: [Group]
  /// `a=ice-lite`: the writer only answers checks. RFC 8839 section 5.3.
  public var isICELite: Bool
  /// `a=extmap-allow-mixed` at session level. RFC 8285 section 6.
  public var allowsMixedExtensions: Bool
  /// The value of `a=msid-semantic`, trimmed.
  public var msidSemantic: String?
  /// Other session attributes, in order.
  public var attributes: [SDPAttribute]
  /// The `m=` sections, in order; the order identifies them between offer and answer (RFC 3264 section 6).
  public var media: [MediaDescription]

  public init(
    origin: Origin, name: String = "-", groups: [Group] = [], isICELite: Bool = false,
    allowsMixedExtensions: Bool = false, msidSemantic: String? = nil, attributes: [SDPAttribute] = [],
    media: [MediaDescription] = []
  ) {
    self.origin = origin
    self.name = name
    self.groups = groups
    self.isICELite = isICELite
    self.allowsMixedExtensions = allowsMixedExtensions
    self.msidSemantic = msidSemantic
    self.attributes = attributes
    self.media = media
  }

  /// The mids of the first BUNDLE group, the tagged section first (RFC 9143 section 7.2.1); nil without a group.
  public var bundle: [String]? { bundles.first }

  /// The mids of each BUNDLE group.
  var bundles: [[String]] { groups.filter { $0.semantics.uppercased() == "BUNDLE" }.map(\.mids) }

  /// The section with this `a=mid`.
  public func media(mid: String) -> MediaDescription? { media.first { $0.mid == mid } }
}

/// An attribute kept as received.
public struct SDPAttribute: Hashable, Sendable {
  public var name: String
  /// Nil for a property attribute (`a=name`).
  public var value: String?

  public init(name: String, value: String? = nil) {
    self.name = name
    self.value = value
  }
}
