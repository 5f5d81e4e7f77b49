import Foundation
import Testing

@testable import Storage

@Suite struct RecordingFolderTests {
  private let directory = TemporaryDirectory()
  private var folder: RecordingFolder { RecordingFolder(path: directory.path) }

  private func write(_ name: String, _ bytes: Int = 10) throws {
    try Data(repeating: 7, count: bytes).write(to: URL(filePath: "\(directory.path)/\(name)"))
  }

  private static func part(_ second: Int64, _ bytes: Int) -> RecordingFolder.Part {
    RecordingFolder.Part(file: RecordingFolder.Part.file(second, camera: "cot", number: 1), bytes: bytes)!
  }

  @Test func partsAreFoundByTheirNamesOldestFirst() throws {
    try write("2026-11-21T22-00-05Z-cot.webm", 20)
    try write("2026-11-21T22-00-00Z-cot.webm")
    try write("2026-11-21T22-00-00Z-cot.2.webm")
    // Others in the folder are left alone.
    try write("holiday.webm")
    try write("2026-13-41T22-00-00Z-cot.webm")
    try write("2026-11-21T22-00-00Z-cot.txt")
    let parts = try folder.parts()
    #expect(parts.map(\.id) == ["2026-11-21T22-00-00Z-cot", "2026-11-21T22-00-00Z-cot.2", "2026-11-21T22-00-05Z-cot"])
    #expect(parts.map(\.bytes) == [10, 10, 20])
    #expect(parts[2].time - parts[0].time == 5)
  }

  @Test func aNewPartNeverReplacesOne() throws {
    let time: Int64 = 1_795_291_200
    let first = folder.newPath(time: time, camera: "cot")
    try Data().write(to: URL(filePath: first))
    let second = folder.newPath(time: time, camera: "cot")
    #expect(first != second)
    try Data().write(to: URL(filePath: second))
    #expect(try folder.parts().map(\.time) == [time, time])
  }

  @Test func theOldestGoFirst() {
    let parts = [Self.part(1000, 50), Self.part(2000, 50), Self.part(3000, 50)]
    func excess(seconds: Int64 = 1_000_000, bytes: Int = 1000, needed: Int = 0, now: Int64 = 3100) -> [Int64] {
      RecordingFolder.excess(parts, seconds: seconds, bytes: bytes, needed: needed, now: now).map(\.time)
    }
    #expect(excess() == [])
    #expect(excess(seconds: 1500) == [1000])
    #expect(excess(bytes: 100) == [1000])
    #expect(excess(bytes: 99) == [1000, 2000])
    #expect(excess(needed: 1) == [1000])
    #expect(excess(needed: 51) == [1000, 2000])
    #expect(excess(needed: 10_000) == [1000, 2000, 3000])
  }

  @Test func roomIsMadeByRemovingParts() throws {
    try write("2026-11-21T22-00-00Z-cot.webm", 1000)
    try write("2026-11-21T22-05-00Z-cot.webm", 1000)
    try write("holiday.webm", 5000)
    let now = try #require(try folder.parts().last).time + 10
    #expect(try folder.makeRoom(seconds: 86_400, bytes: 1500, reserve: 0, now: now))
    #expect(try folder.parts().map(\.id) == ["2026-11-21T22-05-00Z-cot"])
    #expect(FileManager.default.fileExists(atPath: "\(directory.path)/holiday.webm"))
    // More than the disk has.
    #expect(try !folder.makeRoom(seconds: 86_400, bytes: 1500, reserve: .max, now: now))
  }

  @Test func piecesMakeTheWhole() throws {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    try Data(bytes).write(to: URL(filePath: "\(directory.path)/2026-11-21T22-00-00Z-cot.webm"))
    var whole: [UInt8] = []
    while let piece = try folder.read(id: "2026-11-21T22-00-00Z-cot", from: whole.count, count: 300),
      !piece.bytes.isEmpty
    {
      #expect(piece.total == 1000)
      whole += piece.bytes
    }
    #expect(whole == bytes)
    #expect(try folder.read(id: "2026-11-21T22-00-00Z-cot", from: 1 << 50, count: 300)?.bytes == [])
  }

  @Test(arguments: [
    "", "holiday", "../2026-11-21T22-00-00Z-cot", "2026-11-21T22-00-00Z-cot/../../secret",
    "2026-11-21T22-00-00Z-\0", "2026-11-21T22-00-01Z-cot", "2026-11-21T22-00-02Z-link",
  ])
  func nothingElseCanBeRead(id: String) throws {
    try write("holiday.webm")
    try write("2026-11-21T22-00-00Z-cot.webm")
    try FileManager.default.createSymbolicLink(
      atPath: "\(directory.path)/2026-11-21T22-00-02Z-link.webm", withDestinationPath: "/etc/passwd")
    #expect((try? folder.read(id: id, from: 0, count: 100)) == nil)
  }

  @Test func aFolderThatIsNotThereIsTold() {
    #expect(throws: FileError.self) { try RecordingFolder(path: "/no such folder").check() }
    #expect(throws: FileError.self) { try RecordingFolder(path: "/etc/passwd").check() }
    #expect(throws: FileError.self) { try RecordingFolder(path: "/no such folder").parts() }
  }
}

@Suite struct PartialFileTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/part.webm" }
  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()) ?? [] }

  @Test func itHasItsNameOnlyWhenItIsWhole() throws {
    let file = try PartialFile(path: path)
    try file.append([1, 2])
    #expect(names == ["part.webm.part"])
    try file.append([3])
    try file.finish()
    #expect(names == ["part.webm"])
    #expect(try Data(contentsOf: URL(filePath: path)) == Data([1, 2, 3]))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func oneThatIsGivenUpIsRemovedAndTheOldOneStays() throws {
    try Data([9]).write(to: URL(filePath: path))
    do {
      let file = try PartialFile(path: path)
      try file.append([1])
    }
    #expect(names == ["part.webm"])
    #expect(try Data(contentsOf: URL(filePath: path)) == Data([9]))
  }

  @Test func whatAKilledProgramLeftIsReplaced() throws {
    try Data([9]).write(to: URL(filePath: path + ".part"))
    let file = try PartialFile(path: path)
    try file.append([1])
    try file.finish()
    #expect(try Data(contentsOf: URL(filePath: path)) == Data([1]))
  }
}
