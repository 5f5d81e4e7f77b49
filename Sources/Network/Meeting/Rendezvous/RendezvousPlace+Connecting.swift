internal import NIOCore
internal import Server
internal import Signaling
internal import Wire

extension RendezvousPlace {
  /// The host asks for signs of life by itself.
  static var hostLimits: WebSocketLimits {
    var limits = WebSocketLimits()
    limits.pingInterval = .hours(24)
    return limits
  }

  static var clientLimits: WebSocketLimits {
    var limits = WebSocketLimits()
    limits.pingInterval = .seconds(60)
    return limits
  }

  /// The server's name, as the proof of a host has it; nil if the URL cannot be read.
  var serverName: String? {
    guard let origin = (try? httpURL)?.origin else { return nil }
    return switch origin.host {
    case .name(let name): name.lowercased()
    case .address(let address): "\(address)"
    }
  }

  /// As WebSocketClient wants it: `https` for `wss`.
  fileprivate var httpURL: HTTPURL {
    get throws {
      let scheme = "wss://"
      let rest = url.hasPrefix(scheme) ? url.dropFirst(scheme.count) : url[...]
      return try HTTPURL("https://" + rest + (rest.contains("/") ? "" : "/signal"))
    }
  }
}

extension WebSocketClient {
  convenience init(_ place: RendezvousPlace, limits: WebSocketLimits, eventLoop: any EventLoop) throws {
    try self.init(
      url: place.httpURL, trust: place.keySHA256.map { .pinnedKey(sha256: $0) } ?? .system, limits: limits,
      timeout: .seconds(8), eventLoop: eventLoop)
  }
}

extension WebSocketClosure {
  /// For a person.
  var words: String {
    switch self {
    case .byPeer(_, let reason) where !reason.printable().isEmpty:
      "it has closed the connection, in its own words: “\(reason.printable())”"
    case .byPeer: "it has closed the connection"
    case .byUs: "the connection was given up"
    case .lost: "the connection is lost"
    }
  }
}
