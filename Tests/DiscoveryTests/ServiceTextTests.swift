import Testing

@testable import Discovery

@Suite struct ServiceTextTests {
  private func record(_ strings: String...) -> [UInt8] {
    strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
  }

  private let advertisement = Advertisement(
    name: "Nursery", id: "0123456789abcdef", port: 8443, version: "0.4.0", pairing: .open)

  @Test func isWrittenWithTheVersionFirst() {
    let bytes = ServiceText(advertisement).bytes
    #expect(bytes == record("txtvers=1", "id=0123456789abcdef", "v=0.4.0", "pairing=open"))
    #expect(ServiceText(parsing: bytes) == ServiceText(advertisement))
  }

  @Test func keysMayHaveAnyCaseAndOrderAndTheFirstOfTwoCounts() {
    let text = ServiceText(
      parsing: record("PAIRING=open", "Id=0123456789abcdef", "future=x", "id=ffffffffffffffff", "TxtVers=1", "v=1=2"))
    #expect(text?.id == "0123456789abcdef")
    #expect(text?.pairing == .open)
    #expect(text?.version == "1=2")
  }

  @Test func whatIsOptionalMayBeMissingOrStrange() {
    for extra in ["", "pairing", "pairing=", "pairing=maybe", "v", "v=", "v=a\u{1b}[31mb", "=x", "="] {
      let text = ServiceText(parsing: record("txtvers=1", "id=0123456789abcdef", extra))
      #expect(text?.pairing == .closed)
      #expect(text?.version == nil)
    }
  }

  @Test func whatIsNoChildsIsRefused() {
    let id = "id=0123456789abcdef"
    let wrong: [[UInt8]] = [
      [], [0], record("txtvers=1"), record(id), record("txtvers=2", id), record("txtvers", id),
      record("txtvers=1", "id"), record("txtvers=1", "id="), record("txtvers=1", "id=0123456789abcde"),
      record("txtvers=1", "id=0123456789abcdef0"), record("txtvers=1", "id=0123456789ABCDEF"),
      record("txtvers=1", "id=0123456789abcdeg"), record("txtvers=1", "id", id),
      Array(record("txtvers=1", id).dropLast()), record("txtvers=1", id) + [255, 1],
      record("txtvers=1", id) + [UInt8](repeating: 0, count: 1300),
    ]
    for bytes in wrong { #expect(ServiceText(parsing: bytes) == nil) }
  }

  @Test func anyBytesAreSurvived() {
    var generator = SystemRandomNumberGenerator()
    let seed = ServiceText(advertisement).bytes
    for _ in 0..<5000 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      if let text = ServiceText(parsing: bytes) { #expect(text.id.utf8.count == 16) }
    }
  }

  @Test func aLongVersionIsCut() {
    var long = advertisement
    long.version = String(repeating: "9", count: 1000)
    #expect(ServiceText(parsing: ServiceText(long).bytes)?.version?.count == 64)
  }
}
