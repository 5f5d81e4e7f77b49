import Testing

@testable import Storage

/// The room servers of `away.meetings`.
@Suite struct RendezvousPlaceConfigurationTests {
  private static func parse(_ meetings: String) throws(ConfigurationErrors) -> [ChildConfiguration.Meeting] {
    try ChildConfiguration.parse(Array("name: Nursery\naway:\n  meetings: \(meetings)\n".utf8), file: "child.yaml")
      .away.meetings
  }

  private static func errors(_ meetings: String) -> [ConfigurationError] {
    do throws(ConfigurationErrors) {
      _ = try parse(meetings)
      return []
    } catch {
      return error.errors
    }
  }

  @Test func nobodyIsMetUnlessItStandsThere() throws {
    #expect(try ChildConfiguration.parse([], file: "child.yaml").away.meetings.isEmpty)
    #expect(try Self.parse("[]").isEmpty)
  }

  @Test func everyKeyIsRead() throws {
    let digest = (0..<32).map { UInt8($0 * 8) }
    let digits = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let meetings = try Self.parse(
      """

          - rendezvous: wss://meet.example.org
          - {rendezvous: "wss://192.0.2.7:8443", key-sha256: "\(digits)"}
          - {rendezvous: "wss://[2001:db8::7]/signal", key-sha256: "\(digits.uppercased())"}
          - {rendezvous: "wss://other.example.org", key-sha256: null}
      """)
    #expect(
      meetings == [
        .init(kind: .rendezvous(url: "wss://meet.example.org", keySHA256: nil)),
        .init(kind: .rendezvous(url: "wss://192.0.2.7:8443", keySHA256: digest)),
        .init(kind: .rendezvous(url: "wss://[2001:db8::7]/signal", keySHA256: digest)),
        .init(kind: .rendezvous(url: "wss://other.example.org", keySHA256: nil)),
      ])
  }

  private static let digits = String(repeating: "a", count: 64)

  @Test(arguments: [
    ("wss://a", ".", "must be a list"), ("[wss://a]", "[0]", "must be keys with values"),
    ("[{}]", "[0]", "must have one of rendezvous"),
    ("[{rendezvous: meet.example.org}]", "[0].rendezvous", "a wss:// URL, such as wss://meet.example.org, but is"),
    ("[{rendezvous: \"ws://meet.example.org\"}]", "[0].rendezvous", "a wss:// URL"),
    ("[{rendezvous: \"https://meet.example.org\"}]", "[0].rendezvous", "but is “https://meet.example.org”"),
    ("[{rendezvous: \"wss://\"}]", "[0].rendezvous", "a wss:// URL"),
    ("[{rendezvous: \"wss://meet.example.org:0x\"}]", "[0].rendezvous", "a wss:// URL"),
    ("[{rendezvous: [a]}]", "[0].rendezvous", "a wss:// URL"),
    ("[{rendezvous: \"wss://a\", key-sha256: \(digits.dropLast())}]", "[0].key-sha256", "64 hexadecimal digits"),
    ("[{rendezvous: \"wss://a\", key-sha256: \(digits)a}]", "[0].key-sha256", "64 hexadecimal digits"),
    ("[{rendezvous: \"wss://a\", key-sha256: g\(digits.dropLast())}]", "[0].key-sha256", "64 hexadecimal digits"),
    ("[{rendezvous: \"wss://a\"}, {rendezvous: \"wss://b\", key: c}]", "[1].key", "unknown key; allowed here: "),
    (
      "[{rendezvous: \"wss://a\"}, {rendezvous: \"wss://b\"}, {rendezvous: \"wss://c\"}, {rendezvous: \"wss://d\"}, "
        + "{rendezvous: \"wss://e\"}]", ".", "has 5 entries; there can be 4"
    ),
  ])
  func impossibleValueIsRefusedByKeyAndLine(meetings: String, place: String, message: String) {
    let errors = Self.errors(meetings)
    let key = "away.meetings" + (place == "." ? "" : place)
    #expect(errors.count == 1 && errors[0].key == key && errors[0].message.contains(message), "\(errors)")
    #expect(errors.first?.description.hasPrefix("child.yaml:3:") == true, "\(errors)")
  }
}
