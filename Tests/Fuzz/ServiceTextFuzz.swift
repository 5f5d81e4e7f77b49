import Discovery

/// A TXT record that anybody in the network can publish.
enum ServiceTextFuzz: FuzzBody {
  static let name = "service text"

  static let seeds: [[UInt8]] = [
    record(["txtvers=1", "id=0123456789abcdef", "v=0.4.0", "pairing=open"]),
    record(["TXTVERS=1", "=", "id", "id=ffffffffffffffff", "pairing", "v="]), [0],
  ]

  static func run(_ input: [UInt8]) {
    guard let text = ServiceText(parsing: input) else { return }
    precondition(text.id.utf8.count == 16, "an id has 16 digits")
    precondition((1...64).contains(text.version?.utf8.count ?? 1), "a version is short")
  }

  private static func record(_ strings: [String]) -> [UInt8] {
    strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
  }
}
