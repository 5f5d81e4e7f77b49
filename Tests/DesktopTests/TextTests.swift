import CPango
import Glibc
import Testing

@testable import Desktop

/// What a family may call its rooms.
@Suite struct TextTests {
  private struct Drawn: Equatable {
    var width: Int
    var height: Int
    var ink: [UInt32]
  }

  private func draw(_ text: String, size: Double = 20, room: Int32 = -1) throws -> Drawn? {
    try DesktopLibraries.loadText()
    var (width, height): (Int32, Int32) = (0, 0)
    guard let pixels = cpango_draw(pango, text, size, 0, room, 0, &width, &height) else { return nil }
    defer { free(pixels) }
    let ink = Array(UnsafeBufferPointer(start: pixels, count: Int(width * height)))
    #expect(ink.contains { $0 >> 24 > 200 }, "\(text) has no ink")
    return Drawn(width: Int(width), height: Int(height), ink: ink)
  }

  @Test func letters() throws {
    let (plain, umlaut) = (try #require(try draw("Jurgen")), try #require(try draw("J\u{fc}rgen")))
    #expect(plain.width == umlaut.width && plain != umlaut)
    #expect(try draw("Ju\u{308}rgen") == umlaut)
    // Arabic letters are joined, and from right to left.
    let (one, two) = (try #require(try draw("\u{628}")), try #require(try draw("\u{628}\u{628}")))
    #expect(two.width < 2 * one.width)
    #expect(try draw("") == nil)
  }

  @Test func linesBreakWhereTheyMust() throws {
    let one = try #require(try draw("No contact with the camera"))
    let narrow = try #require(try draw("No contact with the camera", room: Int32(one.width / 2)))
    #expect(narrow.width == one.width / 2 && narrow.height >= 2 * one.height)
    // A word that is too long, and no room at all.
    #expect(try #require(try draw("Nurseryyyyyyyyyyyyyyyyyyyy", room: 60)).height > 2 * one.height)
    #expect(try draw("Nursery", room: 0) == nil)
    #expect(try #require(try draw(String(repeating: "W", count: 5000))).width == 8192)
  }
}
