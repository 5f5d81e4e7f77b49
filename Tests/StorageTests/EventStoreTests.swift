import Control
import Testing

@testable import Storage

@Suite struct EventStoreTests {
  private let directory = TemporaryDirectory()
  private var file: AtomicFile { AtomicFile(path: "\(directory.path)/events.json") }

  private let events = [
    EventDocument(sequence: 7, kind: "restart", time: 1_795_291_200.5),
    EventDocument(
      sequence: 8, kind: "camera-lost", time: 1_795_291_201, name: "Ada", id: "cot", detail: "pulled \"out\""),
  ]

  @Test func whatWasSavedIsThereAgain() throws {
    let store = EventStore(file: file)
    #expect(try store.load().events.isEmpty)
    try store.save(events)
    #expect(try EventStore(file: file).load().events == events)
    #expect(file.currentMode() == 0o600)
  }

  @Test func eventsOfVersion1AreRead() throws {
    try file.write(
      Array(
        """
        {"events":[{"detail":"pulled \\"out\\"","id":"cot","kind":"camera-lost","name":"Ada","sequence":8,
          "time":1795291201}],"version":1}
        """.utf8))
    let (found, trouble) = try EventStore(file: file).load()
    #expect(found == [events[1]] && trouble == nil)
  }

  /// Nobody's night depends on the diary, and none of it is lost.
  @Test func whatCannotBeReadIsMovedAsideAndNamed() throws {
    let store = EventStore(file: file)
    for (number, text) in [#"{"version":1,"events":[{"#, #"{"version":2,"events":{}}"#, "\u{0}"].enumerated() {
      try file.write(Array(text.utf8))
      let (found, trouble) = try store.load()
      let aside = "\(file.path).unreadable" + (number == 0 ? "" : "-\(number + 1)")
      #expect(found.isEmpty)
      #expect("\(try #require(trouble))".contains(aside))
      #expect(try AtomicFile(path: aside).read() == Array(text.utf8))
      #expect(try file.read() == nil)
    }
    try store.save(events)
    #expect(try store.load().events == events)
  }

  @Test func afterAFailedWriteTheOldOnesAreThere() throws {
    let store = EventStore(file: file)
    try store.save([events[0]])
    for step in [AtomicFile.Step.createTemporary, .write(offset: 0), .syncFile, .rename] {
      AtomicFile.$injectedFault.withValue({ $0 == step ? .powerCut : nil }) {
        #expect(throws: StoreError.self) { try store.save(events) }
      }
      #expect(try store.load().events == [events[0]])
    }
  }
}
