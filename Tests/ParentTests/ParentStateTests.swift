import Glibc
import Identity
import Pairing
import Storage
import Testing

@testable import Parent

@Suite struct ParentStateTests {
  private static func record() -> PairRecord {
    let identity = NodeIdentity.generate()
    return PairRecord(
      id: identity.id, name: "Nursery", role: .child, publicKey: identity.publicKeySPKI, permissions: .all,
      createdAt: UnixTime(seconds: 1))
  }

  @Test func theIdentityIsMadeOnce() throws {
    let parent = try TemporaryState()
    let id = try parent.state.identity().id
    #expect(try ParentState(path: parent.state.path).identity().id == id)
    var status = stat()
    #expect(stat("\(parent.state.path)/identity.pem", &status) == 0 && status.st_mode & 0o7777 == 0o600)
  }

  @Test func aDamagedIdentityIsReportedAndLeftAsItIs() throws {
    let parent = try TemporaryState()
    let file = AtomicFile(path: "\(parent.state.path)/identity.pem")
    try file.write(Array("no key".utf8))
    #expect(throws: ParentError.self) { try parent.state.identity() }
    #expect(try file.read() == Array("no key".utf8))
  }

  /// A key that others may read proves nothing any more.
  @Test(arguments: ["identity.pem", "pairs.json"])
  func aFileThatOthersMayReadIsRefusedAndLeftAsItIs(name: String) throws {
    let parent = try TemporaryState()
    _ = try parent.state.identity()
    try parent.state.changePairs { try $0.add(Self.record()) }
    let path = "\(parent.state.path)/\(name)"
    let file = AtomicFile(path: path)
    let before = try file.read()
    for mode: UInt32 in [0o640, 0o604, 0o620] {
      #expect(chmod(path, mode) == 0)
      let wanted = PrivateFileError.mode(path: path, found: mode, wanted: 0o600)
      #expect("\(wanted)".contains("chmod 600 \(path)"))
      #expect(throws: wanted) { try parent.state.identity() }
      #expect(throws: wanted) { try parent.state.pairs() }
      #expect(throws: wanted) { try parent.state.changePairs { try $0.add(Self.record()) } }
    }
    #expect(try file.read() == before)
    #expect(chmod(path, 0o600) == 0)
    #expect(try parent.state.pairs().records.count == 1)
  }

  @Test func aDirectoryInWhichOthersMayWriteIsRefused() throws {
    let parent = try TemporaryState()
    _ = try parent.state.identity()
    #expect(chmod(parent.state.path, 0o770) == 0)
    #expect(throws: PrivateFileError.self) { try parent.state.identity() }
    #expect(chmod(parent.state.path, 0o700) == 0)
  }

  @Test func programsThatStartTogetherHaveOneIdentity() async throws {
    let parent = try TemporaryState()
    let state = parent.state
    let ids = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<4 { group.addTask { try state.identity().id } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
  }

  @Test func changesOfSeveralProgramsAtOnceAreAllKept() async throws {
    let parent = try TemporaryState()
    let path = parent.state.path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let record = Self.record()
          try ParentState(path: path).changePairs { try $0.add(record) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try parent.state.pairs().records.count == 8)
  }
}
