import Foundation
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
}
