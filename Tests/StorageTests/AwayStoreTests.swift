import Control
import Foundation
import Storage
import Testing
import Wire

@Suite struct AwayStoreTests {
  private static let turn = ICEServerDocument(urls: ["turn:a"], username: "u", credential: "c")

  private static func withFile(_ body: (AtomicFile) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(AtomicFile(path: folder.appending(path: "away.json").path))
  }

  @Test func serversAreKeptForEachChild() throws {
    try Self.withFile { file in
      var store = try AwayStore(file: file)
      try store.remember([Self.turn], meetings: [], of: "a")
      try store.remember([ICEServerDocument(urls: ["stun:b"], username: nil, credential: nil)], meetings: [], of: "b")
      let again = try AwayStore(file: file)
      #expect(again.servers(of: "a") == [Self.turn])
      #expect(again.servers(of: "b").map(\.urls) == [["stun:b"]])
      #expect(again.servers(of: "c").isEmpty)
    }
  }

  @Test func aForgottenChildLeavesNothing() throws {
    try Self.withFile { file in
      var store = try AwayStore(file: file)
      try store.remember([Self.turn], meetings: [], of: "a")
      try store.remember(address: "example.org:8443", of: "a")
      try store.forget("a")
      #expect(try AwayStore(file: file).servers(of: "a").isEmpty)
      #expect(try !String(contentsOfFile: file.path, encoding: .utf8).contains("turn:a"))
    }
  }

  @Test func theOldestOfTooManyAreDropped() throws {
    try Self.withFile { file in
      var store = try AwayStore(file: file)
      for number in 0...AwayStore.maximum { try store.remember([Self.turn], meetings: [], of: "\(number)") }
      #expect(store.servers(of: "0").isEmpty && store.servers(of: "\(AwayStore.maximum)") == [Self.turn])
      try store.remember(Array(repeating: Self.turn, count: 20), meetings: [], of: "many")
      #expect(store.servers(of: "many").count == AwayStore.maximumServers)
    }
  }

  @Test func aDamagedFileIsLeftAsItIs() throws {
    try Self.withFile { file in
      try Data("{".utf8).write(to: URL(filePath: file.path))
      #expect(throws: StoreError.self) { try AwayStore(file: file) }
      #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "{")
    }
  }

  @Test func theLatestAddressesComeFirst() throws {
    try Self.withFile { file in
      var store = try AwayStore(file: file)
      try store.remember([Self.turn], meetings: [], of: "a")
      for host in ["a", "b", "c", "d", "e", "c"] { try store.remember(address: "\(host):8443", of: "a") }
      let again = try AwayStore(file: file)
      #expect(again.addresses(of: "a") == ["c:8443", "e:8443", "d:8443", "b:8443"])
      #expect(again.servers(of: "a") == [Self.turn])
    }
  }

  @Test func meetingPlacesAreKeptAndReplaced() throws {
    try Self.withFile { file in
      var store = try AwayStore(file: file)
      let places = (0..<6).map { MeetingDocument(kind: "rendezvous", url: "wss://meet\($0).example.org") }
      try store.remember([], meetings: places, of: "a")
      #expect(try AwayStore(file: file).meetings(of: "a") == Array(places.prefix(AwayStore.maximumMeetings)))
      try store.remember([Self.turn], meetings: [], of: "a")
      let again = try AwayStore(file: file)
      #expect(again.meetings(of: "a").isEmpty && again.servers(of: "a") == [Self.turn])
    }
  }

  @Test func whereAChildWasMetFromIsKeptUntilItIsReachedAtHome() throws {
    try Self.withFile { file in
      var store = try AwayStore(file: file)
      try store.remember(metFrom: "198.51.100.7", of: "a")
      #expect(try AwayStore(file: file).metFrom(of: "a") == "198.51.100.7")
      try store.remember(metFrom: nil, of: "a")
      #expect(try AwayStore(file: file).metFrom(of: "a") == nil)
    }
  }

  @Test func aFileFromBeforeThereWereMeetingPlacesIsRead() throws {
    try Self.withFile { file in
      let text = #"{"version":1,"children":[{"child":"a","iceServers":[],"addresses":["example.org:8443"]}]}"#
      try file.write(Array(text.utf8))
      let store = try AwayStore(file: file)
      #expect(store.addresses(of: "a") == ["example.org:8443"] && store.meetings(of: "a").isEmpty)
    }
  }
}
