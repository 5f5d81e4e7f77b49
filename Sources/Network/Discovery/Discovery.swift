/// Finds children on the local network, and lets a child be found. DNS-SD is one way; another one would conform as well.
public protocol Discovery: Sendable {
  /// Makes a child known until the returned object is stopped or let go. Returns at once, whatever the network does.
  ///
  /// `stateChanged` is called on a thread of the implementation's, one call at a time, only when the state is another
  /// than before. It must not block.
  func advertise(
    _ advertisement: Advertisement, stateChanged: @escaping @Sendable (AdvertisingState) -> Void
  ) -> any Advertising

  /// Who is there now, and again at each change, until the stream is let go. A reader that is slow gets the newest only.
  func browse() -> AsyncStream<Neighbourhood>
}

/// A child that is being made known.
public protocol Advertising: AnyObject, Sendable {
  /// Tells everybody whether a parent can be paired now. Does not wait for it.
  func setPairing(_ pairing: PairingWindow)

  /// Withdraws the child. Does not wait for it: a state that is being reported may still come. Idempotent.
  func stop()
}

/// What a child says of itself to everybody in the network. Nothing personal but the name that the family chose.
public struct Advertisement: Hashable, Sendable {
  /// Shown to parents; what does not fit in 63 bytes of UTF-8 is cut (RFC 6763 section 4.1.1).
  public var name: String
  /// 16 lower-case hexadecimal digits: the first 8 bytes of SHA-256 over the identity's public key.
  public var id: String
  /// The TCP port of HTTPS.
  public var port: UInt16
  /// Of the program.
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

/// Whether a child takes a new parent now.
public enum PairingWindow: String, Codable, Hashable, Sendable {
  case open, closed
}

/// How far making a child known has come.
public enum AdvertisingState: Hashable, Sendable {
  /// Parents find it under this name: another one than asked for if that was taken.
  case advertised(name: String)
  /// Nobody finds it now, for this reason. It is tried again by itself.
  case waiting(DiscoveryProblem)
}

/// Why the network can be neither asked nor told.
public enum DiscoveryProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// No Avahi daemon answers on this machine.
  case noAvahi
  /// Avahi answers with this error of dns_sd.h.
  case refused(code: Int32)

  /// One line: what is wrong, what to do.
  public var description: String {
    switch self {
    case .noAvahi: "Avahi does not answer. Install avahi-daemon and start it; it is used as soon as it is there."
    case .refused(let code): "Avahi refuses (error \(code)). `journalctl -u avahi-daemon` may say why."
    }
  }
}
