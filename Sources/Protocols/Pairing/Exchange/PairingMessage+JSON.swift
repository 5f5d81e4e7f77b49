internal import JSON
internal import Wire

/// The JSON of `POST /pair`, for both ends. Bytes are base64url without padding; each field has the exact size given by
/// `PairingSize`. Unknown members are skipped, so that later versions can add some.
///
/// | request | members | reply | members |
/// | --- | --- | --- | --- |
/// | `begin` | – | `parameters` | `salt`, `iterations` |
/// | `share` | `salt`, `share` | `share` | `session`, `share`, `confirmation` |
/// | `link` | `id`, `share` | `share` | `session`, `share`, `confirmation` |
/// | `finish` | `session`, `confirmation`, `sealed`, `confirms?` | `finished` | `sealed` |
/// | `confirm`, `cancel` | `session`, `proof` | `confirmed`, `cancelled` | – |
/// | `abandon` | `session` | – | always refused, with the number of tries left |
public enum PairingMessages {
  public static let contentType = "application/json"
  /// Limit for any request or reply; the largest has about 1.6 KiB.
  public static let maximumBytes = 4096

  // MARK: - Writing

  public static func encode(_ request: PairingRequest) -> [UInt8] {
    switch request {
    case .begin: object("begin", [:])
    case .share(let salt, let share): object("share", ["salt": salt, "share": share])
    case .link(let id, let share): object("link", ["id": id, "share": share])
    case .finish(let session, let confirmation, let sealed, let confirms):
      object(
        "finish", ["session": session, "confirmation": confirmation, "sealed": sealed],
        confirms ? ["confirms": .bool(true)] : [:])
    case .abandon(let session): object("abandon", ["session": session])
    case .verdict(let verdict, let session, let proof):
      object(verdict.rawValue, ["session": session, "proof": proof])
    }
  }

  public static func encode(_ reply: PairingReply) -> [UInt8] {
    switch reply {
    case .parameters(let salt, let iterations):
      object("parameters", ["salt": salt], ["iterations": .number(Double(iterations))])
    case .share(let session, let share, let confirmation):
      object("share", ["session": session, "share": share, "confirmation": confirmation])
    case .finished(let sealed): object("finished", ["sealed": sealed])
    case .settled(let verdict): object(verdict.done, [:])
    }
  }

  private static func object(_ step: String, _ bytes: [String: [UInt8]], _ others: [String: JSON] = [:]) -> [UInt8] {
    var members = others.merging(bytes.mapValues { .string(Base64URL.encode($0)) }) { $1 }
    members["step"] = .string(step)
    return Array(JSON.object(members).text.utf8)
  }

  // MARK: - Reading

  /// Parses a request's body. Throws `PairingRefusal.badMessage`.
  public static func request(_ body: [UInt8]) throws(PairingRefusal) -> PairingRequest {
    do throws(PairingFieldError) {
      let fields = try PairingFields(body)
      switch fields.step {
      case "begin": return .begin
      case "share":
        return .share(
          salt: try fields.bytes("salt", PairingSize.salt), share: try fields.bytes("share", PairingSize.share))
      case "link":
        return .link(
          id: try fields.bytes("id", PairingSize.linkID), share: try fields.bytes("share", PairingSize.share))
      case "finish":
        return .finish(
          session: try fields.bytes("session", PairingSize.session),
          confirmation: try fields.bytes("confirmation", PairingSize.confirmation),
          sealed: try fields.bytes("sealed", PairingSize.sealed), confirms: fields.isTrue("confirms"))
      case "abandon": return .abandon(session: try fields.bytes("session", PairingSize.session))
      case let step:
        guard let verdict = PairingVerdict(rawValue: step) else {
          throw PairingFieldError(rule: "the step is not known")
        }
        return .verdict(
          verdict, session: try fields.bytes("session", PairingSize.session),
          proof: try fields.bytes("proof", PairingSize.proof))
      }
    } catch {
      throw .badMessage(error.rule)
    }
  }

  /// Parses a reply's body. Throws `PairingFailure.badReply`.
  public static func reply(_ body: [UInt8]) throws(PairingFailure) -> PairingReply {
    do throws(PairingFieldError) {
      let fields = try PairingFields(body)
      switch fields.step {
      case "parameters":
        return .parameters(
          salt: try fields.bytes("salt", PairingSize.salt),
          iterations: try fields.number("iterations", PairingSize.iterations))
      case "share":
        return .share(
          session: try fields.bytes("session", PairingSize.session),
          share: try fields.bytes("share", PairingSize.share),
          confirmation: try fields.bytes("confirmation", PairingSize.confirmation))
      case "finished": return .finished(sealed: try fields.bytes("sealed", PairingSize.sealed))
      case let step:
        if let verdict = PairingVerdict.allCases.first(where: { $0.done == step }) { return .settled(verdict) }
        throw PairingFieldError(rule: "the step is not known")
      }
    } catch {
      throw .badReply(error.rule)
    }
  }
}

extension PairingVerdict {
  /// The step that answers it.
  fileprivate var done: String {
    switch self {
    case .confirm: "confirmed"
    case .cancel: "cancelled"
    }
  }
}

struct PairingFieldError: Error {
  /// The rule that was broken.
  let rule: String
}

/// The members of one message.
struct PairingFields {
  private let members: [String: JSON]

  init(_ body: [UInt8]) throws(PairingFieldError) {
    guard let members = (try? JSON(body, maximumBytes: PairingMessages.maximumBytes, maximumDepth: 4))?.object else {
      throw PairingFieldError(rule: "the body is not a JSON object of at most \(PairingMessages.maximumBytes) bytes")
    }
    self.members = members
  }

  /// Empty if missing.
  var step: String { string("step") ?? "" }

  func string(_ name: String) -> String? { members[name]?.string }

  func isTrue(_ name: String) -> Bool { members[name] == .bool(true) }

  func bytes(_ name: String, _ size: Int) throws(PairingFieldError) -> [UInt8] {
    try bytes(name, size...size)
  }

  func bytes(_ name: String, _ sizes: ClosedRange<Int>) throws(PairingFieldError) -> [UInt8] {
    guard let bytes = string(name).flatMap({ Base64URL.decode($0) }), sizes.contains(bytes.count) else {
      throw PairingFieldError(
        rule: "\(name) has \(sizes.upperBound) bytes\(sizes.count > 1 ? " at most" : ""), base64url")
    }
    return bytes
  }

  func number(_ name: String, _ range: ClosedRange<Int>) throws(PairingFieldError) -> Int {
    guard case .number(let value) = members[name], let number = Int(exactly: value), range.contains(number) else {
      throw PairingFieldError(rule: "\(name) is a whole number in \(range.lowerBound)...\(range.upperBound)")
    }
    return number
  }
}
