internal import Signaling
internal import Wire

extension ChildConfiguration {
  /// An entry of `away.meetings`: a server on the Internet where parents meet the child.
  public struct Meeting: Sendable, Hashable {
    /// Each costs a connection, day and night.
    static let maximum = 4

    public enum Kind: Sendable, Hashable {
      /// `cradle-rendezvous`, with the SHA-256 of its key where no authority vouches for it.
      case rendezvous(url: String, keySHA256: [UInt8]?)
    }

    public struct Access: Sendable, Hashable {
      public var username: String
      public var password: ConfiguredValue
    }

    public var kind: Kind
    /// The child's own.
    public var access: Access?
    /// What parents are given; nil: the child's own.
    public var parents: Access?
  }

  static func meeting(_ node: YAMLNode, path: String, _ reader: ConfigurationReader) -> Meeting? {
    let kinds = ["rendezvous"]
    let keys = kinds + ["key-sha256"]
    guard let entry = reader.section(node, path: path, keys: keys) else { return nil }
    guard let kind = kinds.first(where: { entry.values[$0] != nil }) else {
      reader.report(node, path, "must have one of \(kinds.joined(separator: ", "))")
      return nil
    }
    let url = entry.text(kind, what: "a wss:// URL, such as wss://meet.example.org") { text in
      text.hasPrefix("wss://") && (try? HTTPURL("https://" + text.dropFirst("wss://".count))) != nil
    }
    let digest = entry.text("key-sha256", what: "64 hexadecimal digits") { Self.sha256($0) != nil }
    guard let url else { return nil }
    return Meeting(kind: .rendezvous(url: url, keySHA256: digest.flatMap(Self.sha256)))
  }

  private static func sha256(_ text: String) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == 64, text.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
