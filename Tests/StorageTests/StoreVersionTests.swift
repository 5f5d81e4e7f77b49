import Foundation
import Pairing
import Testing

@testable import Storage

/// What holds for every store alike: an older program leaves a newer file alone, byte for byte, and says what to do.
@Suite struct StoreVersionTests {
  enum Store: String, CaseIterable {
    case pairs = "pairs.json"
    case tokens = "tokens.json"
    case knownServers = "known-servers.json"

    func open(_ file: AtomicFile) throws {
      switch self {
      case .pairs: _ = try PairStore(file: file)
      case .tokens: _ = try TokenStore(file: file)
      case .knownServers: _ = try KnownServers(file: file)
      }
    }

    var list: String {
      switch self {
      case .pairs: "pairs"
      case .tokens: "tokens"
      case .knownServers: "servers"
      }
    }
  }

  private let directory = TemporaryDirectory()

  private func error(_ store: Store, _ text: String) throws -> StoreError? {
    let file = AtomicFile(path: "\(directory.path)/\(store.rawValue)")
    let bytes = Array(text.utf8)
    try file.write(bytes)
    defer { #expect((try? file.read()) == bytes) }
    do {
      try store.open(file)
      return nil
    } catch let error as StoreError {
      return error
    }
  }

  @Test(arguments: Store.allCases)
  func ofThisVersionIsRead(store: Store) throws {
    #expect(try error(store, #"{"version":1,"\#(store.list)":[]}"#) == nil)
  }

  /// A newer program of the same version may add members; they are no reason to refuse.
  @Test(arguments: Store.allCases)
  func unknownMembersAreNoError(store: Store) throws {
    #expect(try error(store, #"{"version":1,"new":{"a":[1]},"\#(store.list)":[]}"#) == nil)
  }

  @Test(arguments: Store.allCases)
  func ofANewerVersionIsLeftAloneAndSaysWhatToDo(store: Store) throws {
    let path = "\(directory.path)/\(store.rawValue)"
    let found = try error(store, #"{"version":2,"\#(store.list)":"in a form that is not known yet"}"#)
    #expect(found == .newerVersion(path: path, found: 2, supported: 1))
    let text = "\(try #require(found))"
    for part in [path, "version 2", "left as it is", "newer program", "backup"] {
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test(arguments: Store.allCases)
  func withoutAVersionOrWithNonsenseIsReportedAndKept(store: Store) throws {
    for text in [
      #"{"\#(store.list)":[]}"#, #"{"version":"1","\#(store.list)":[]}"#, #"{"version":0,"\#(store.list)":[]}"#,
      #"{"version":1}"#, "", "\u{0}\u{0}", "[]", #"{"version":1,"\#(store.list)":[7]}"#,
    ] {
      guard case .damaged(let path, _, _) = try error(store, text) else {
        Issue.record("\(store.rawValue) accepted \(text)")
        continue
      }
      #expect(path.hasSuffix(store.rawValue))
    }
  }

  // MARK: - Files as version 1 wrote them: every later program reads them.

  @Test func tokensOfVersion1AreRead() throws {
    let hash = String(repeating: "0a", count: 32)
    let file = AtomicFile(path: "\(directory.path)/tokens.json")
    try file.write(
      Array(
        """
        {
          "tokens" : [
            {
              "allow" : [ "view", "listen", "talk", "control" ],
              "createdAt" : "2026-11-21T20:00:00Z",
              "expiresAt" : "2027-11-21T20:00:00Z",
              "hash" : "\(hash)",
              "lastUsedAt" : "2026-11-21T21:00:00Z",
              "name" : "Kitchen tablet"
            },
            { "allow" : [ "view" ], "createdAt" : "2026-11-21T20:00:00Z", "hash" : "\(hash)", "name" : "b" }
          ],
          "version" : 1
        }
        """.utf8))
    let tokens = try TokenStore(file: file).tokens
    #expect(tokens.map(\.name) == ["Kitchen tablet", "b"])
    #expect(tokens[0].allow == .allowedForTokens && tokens[0].hash == hash)
    #expect(tokens[0].createdAt == Date(timeIntervalSince1970: 1_795_291_200))
    #expect(tokens[0].lastUsedAt == tokens[0].createdAt + 3600)
    #expect(tokens[0].expiresAt == tokens[0].createdAt + 365 * 86400)
    #expect(tokens[1].lastUsedAt == nil && tokens[1].expiresAt == nil)
  }

  @Test func pairsOfVersion1AreRead() throws {
    let file = AtomicFile(path: "\(directory.path)/pairs.json")
    let key = String(repeating: "AQEB", count: 30) + "AQ"
    try file.write(
      Array(
        """
        {
          "pairs" : [
            {
              "createdAt" : "2026-11-21T20:00:00Z",
              "expiresAt" : "2026-11-22T04:00:00Z",
              "id" : "614e82506390a420",
              "lastAddress" : { "addresses" : [ "192.0.2.7" ], "host" : "nursery.local", "port" : 8443 },
              "lastSeenAt" : "2026-11-21T21:00:00Z",
              "name" : "Nursery",
              "permissions" : [ "view", "listen", "talk", "control", "admin" ],
              "publicKey" : "\(key)",
              "role" : "child"
            }
          ],
          "version" : 1
        }
        """.utf8))
    let record = try #require(try PairStore(file: file).book.records.first)
    #expect(record.name == "Nursery" && record.role == .child && record.publicKey.count == 91)
    #expect(record.permissions == [.view, .listen, .talk, .control, .admin])
    #expect(record.createdAt == UnixTime(seconds: 1_795_291_200))
    #expect(record.lastSeenAt == UnixTime(seconds: 1_795_294_800))
    #expect(record.expiresAt == UnixTime(seconds: 1_795_320_000))
    #expect(record.lastAddress?.host == "nursery.local" && record.lastAddress?.port == 8443)
  }

  @Test func knownServersOfVersion1AreRead() throws {
    let file = AtomicFile(path: "\(directory.path)/known-servers.json")
    let key = String(repeating: "0a", count: 32)
    try file.write(
      Array(
        """
        {"version":1,"servers":[{"origin":"https://192.0.2.7:8443","keySHA256":"\(key)",
         "firstSeenAt":"2026-11-21T20:00:00Z"}]}
        """.utf8))
    #expect(try KnownServers(file: file).key(of: "https://192.0.2.7:8443") == key)
  }
}
