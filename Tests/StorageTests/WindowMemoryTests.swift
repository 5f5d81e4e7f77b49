import Foundation
import Storage
import Testing

@Suite struct WindowMemoryTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  @Test func theWindowIsWhereItWas() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = WindowMemoryStore(directory: folder.path, name: "0123456789abcdef")
    #expect(try store.load() == nil)
    var memory = WindowMemory()
    memory.place = WindowPlace(x: -1920, y: 12, width: 960, height: 540)
    memory.isSmall = true
    try store.save(memory)
    #expect(try store.load() == memory)
    #expect(try WindowMemoryStore(directory: folder.path, name: "fedcba9876543210").load() == nil)
  }

  @Test func aFileThatCannotBeReadIsLeftAlone() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "window-a.json")
    try Data("{".utf8).write(to: file)
    let store = WindowMemoryStore(directory: folder.path, name: "a")
    #expect(throws: StoreError.self) { try store.load() }
    #expect(try Data(contentsOf: file) == Data("{".utf8))
  }
}
