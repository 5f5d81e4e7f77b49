import Foundation
import Testing

@testable import Storage

@Suite struct EraseTests {
  private let directory = TemporaryDirectory()

  /// A state directory with something of every kind in it.
  private func lived() throws -> StateDirectory {
    let state = try StateDirectory(path: directory.path)
    for file in [state.identity, state.pairs, state.tokens, state.clock] { try file.write([1, 2, 3]) }
    try AtomicFile(path: "\(directory.path)/.pairs.json.tmp").write([1])
    for name in ["screenshots", "recordings", "events"] {
      let folder = try state.subdirectory(name)
      try AtomicFile(path: "\(folder)/a").write([1, 2])
      try StateDirectory.makeDirectory("\(folder)/inner")
      try AtomicFile(path: "\(folder)/inner/b").write([1])
    }
    return state
  }

  @Test func everythingGoesAndIsNamed() throws {
    let state = try lived()
    let (kept, foreign) = try state.contents()
    #expect(foreign.isEmpty)
    let removed = try state.erase()
    #expect(removed == kept)
    #expect(
      removed.map(\.what) == [
        "paired parents", "paired parents", "tokens", "identity", "the clock's mark", "screenshots", "recordings",
        "events",
      ])
    #expect(removed.last == .init(what: "events", path: "\(directory.path)/events", files: 2, bytes: 3))
    #expect(directory.names().isEmpty)
  }

  /// Were the power cut, a new identity must not come with the old parents.
  @Test func whoMayComeInGoesBeforeTheIdentity() throws {
    let order = try lived().contents().kept.map { URL(filePath: $0.path).lastPathComponent }
    #expect(order.firstIndex(of: "pairs.json")! < order.firstIndex(of: "identity.pem")!)
    #expect(order.firstIndex(of: "tokens.json")! < order.firstIndex(of: "identity.pem")!)
  }

  @Test func filesOfOthersAndLinksStay() throws {
    let state = try StateDirectory(path: directory.path)
    let elsewhere = TemporaryDirectory()
    try AtomicFile(path: "\(elsewhere.path)/diary").write([1])
    try AtomicFile(path: "\(directory.path)/notes.txt").write([1])
    try FileManager.default.createSymbolicLink(
      atPath: "\(directory.path)/recordings", withDestinationPath: elsewhere.path)
    // A link within what is removed goes, what it leads to does not.
    let screenshots = try state.subdirectory("screenshots")
    try FileManager.default.createSymbolicLink(
      atPath: "\(screenshots)/link", withDestinationPath: elsewhere.path)
    #expect(try state.contents().foreign == ["\(directory.path)/notes.txt", "\(directory.path)/recordings"])
    #expect(try state.erase().map(\.what) == ["screenshots"])
    #expect(directory.names() == ["notes.txt", "recordings"])
    #expect(elsewhere.names() == ["diary"])
  }

  @Test func nothingIsRemovedTwice() throws {
    _ = try lived().erase()
    #expect(try StateDirectory(path: directory.path).erase().isEmpty)
  }
}
