/// Finds children on the local network, and advertises a child there.
public protocol Discovery: Sendable {
  /// Advertises a child until the returned object is stopped or released. Returns immediately, whatever the network
  /// does.
  ///
  /// `stateChanged` is called on a thread of the implementation, one call at a time, only when the state changes. It
  /// must not block.
  func advertise(
    _ advertisement: Advertisement, stateChanged: @escaping @Sendable (AdvertisingState) -> Void
  ) -> any Advertising

  /// The children on the network, now and after each change, until the stream is released. A slow reader only gets the
  /// latest state.
  func browse() -> AsyncStream<Neighbourhood>
}

/// An advertised child.
public protocol Advertising: AnyObject, Sendable {
  /// Publishes whether a parent can be paired now. Returns without waiting.
  func setPairing(_ pairing: PairingWindow)

  /// Withdraws the child without waiting: one more state may still be reported. Idempotent.
  func stop()
}

/// What a child publishes on the network. The only personal data is the name that the family chose.
public struct Advertisement: Hashable, Sendable {
  /// Shown to parents; cut to 63 bytes of UTF-8 (RFC 6763 section 4.1.1).
  public var name: String
  /// 16 lower-case hexadecimal digits: the first 8 bytes of SHA-256 over the identity's public key.
  public var id: String
  /// The TCP port of HTTPS.
  public var port: UInt16
  /// Version of the program.
  public var version: String
  public var pairing: PairingWindow

  public init(name: String, id: String, port: UInt16, version: String, pairing: PairingWindow) {
    self.name = name
    self.id = id
    self.port = port
    self.version = version
    self.pairing = pairing
  }
}

/// Whether a child can be paired with a new parent now.
public enum PairingWindow: String, Codable, Hashable, Sendable {
  case open, closed
}

/// The state of an advertisement.
public enum AdvertisingState: Hashable, Sendable {
  /// Parents find it under this name, which differs from the requested one if that was taken.
  case advertised(name: String)
  /// Not visible to parents now, for this reason. It is retried.
  case waiting(DiscoveryProblem)
}

/// Why discovery does not work.
public enum DiscoveryProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// No Avahi daemon answers on this machine.
  case noAvahi
  /// Avahi reports this error code from dns_sd.h.
  case refused(code: Int32)

  /// One line: what is wrong, what to do.
  public var description: String {
    switch self {
    case .noAvahi: "Avahi does not answer. Install avahi-daemon and start it; it is used as soon as it is there."
    case .refused(let code): "Avahi refuses (error \(code)). `journalctl -u avahi-daemon` may say why."
    }
  }
}
