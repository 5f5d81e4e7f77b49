public import Control
public import FoundationEssentials

/// `cradle-child token add`
public struct TokenAdd: DaemonCommand {
  public typealias Reply = TokenAdded

  public static let name = "token.add"
  public static let parameters: [ControlParameter] = [
    .text("name", bytes: anyText, missing: "is missing"), .texts("allow", missing: "is missing"),
    .whole("seconds", in: .min ... .max), .flag("rtsp"),
  ]

  public var name: String
  public var allow: [String]
  /// Its lifetime; nil: until it is revoked.
  public var seconds: Int?
  /// RTSP players may use it; nil: no.
  public var rtsp: Bool?

  public init(name: String, allow: [String], seconds: Int?, rtsp: Bool? = nil) {
    self.rtsp = rtsp
    self.name = name
    self.allow = allow
    self.seconds = seconds
  }
}

/// `token add --json`.
public struct TokenAdded: ControlReply {
  public var name: String
  /// Shown only once; only its hash is stored.
  public var token: String
  public var allow: [String]
  /// Nil: never.
  public var expiresAt: Date?
}
