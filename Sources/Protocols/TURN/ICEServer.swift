public import Wire

/// A STUN or TURN server and the credentials for it, like a browser's RTCIceServer.
public struct ICEServer: Sendable, Hashable {
  /// 1...8 addresses of the same server.
  public var urls: [ICEServerURL]
  /// Given together with `credential`; required for TURN.
  public var username: String?
  public var credential: String?
  /// The meeting place that lends it; nil: a person has configured it.
  public var lender: LendingPlace?

  public init(urls: [ICEServerURL], username: String? = nil, credential: String? = nil) {
    self.urls = urls
    self.username = username
    self.credential = credential
  }

  /// When time-limited credentials end, in seconds of unix time: their username begins with it and a colon
  /// (draft-uberti-behave-turn-rest-00 section 2.2). Nil for others.
  public var expiresAt: Int64? {
    guard let username, let colon = username.firstIndex(of: ":"), let time = Int64(username[..<colon]),
      time > 1_000_000_000
    else { return nil }
    return time
  }
}

extension ICEServer {
  /// Nil if none of the addresses can be read.
  public init?(_ document: ICEServerDocument, lender: LendingPlace? = nil) {
    urls = document.urls.compactMap(ICEServerURL.init)
    username = document.username
    credential = document.credential
    self.lender = lender
    guard !urls.isEmpty else { return nil }
  }

  public var document: ICEServerDocument {
    ICEServerDocument(urls: urls.map(\.description), username: username, credential: credential)
  }
}

extension ICEServer: CustomStringConvertible {
  /// Without the credential.
  public var description: String { urls.map(\.description).joined(separator: " ") }
}

extension ICEServer {
  /// The same server for Binding requests alone, which need no credentials; nil if nothing is left of it.
  public var bindingOnly: ICEServer? {
    let urls = urls.compactMap(\.bindingOnly)
    guard !urls.isEmpty else { return nil }
    var server = ICEServer(urls: urls)
    server.lender = lender
    return server
  }
}

extension ICEServerURL {
  /// The same server for Binding requests alone; nil if its answers say nothing of a UDP socket.
  public var bindingOnly: ICEServerURL? {
    switch (scheme, transport) {
    case (.stun, _): self
    case (.turn, .udp): ICEServerURL("stun:\(host.contains(":") ? "[\(host)]" : host):\(port)")
    case (.turn, .tcp), (.stuns, _), (.turns, _): nil
    }
  }
}
