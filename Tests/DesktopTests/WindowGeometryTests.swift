import Storage
import Testing

@testable import Desktop

@Suite struct WindowGeometryTests {
  private let screen = WindowPlace(x: 0, y: 27, width: 1920, height: 1053)

  @Test func thePictureKeepsItsAspect() {
    #expect(
      WindowGeometry.letterbox(width: 640, height: 360, in: (1280, 800))
        == WindowPlace(x: 0, y: 40, width: 1280, height: 720))
    #expect(
      WindowGeometry.letterbox(width: 640, height: 480, in: (1280, 720))
        == WindowPlace(x: 160, y: 0, width: 960, height: 720))
    #expect(
      WindowGeometry.letterbox(width: 0, height: 0, in: (100, 100)) == WindowPlace(x: 0, y: 0, width: 100, height: 100))
    #expect(WindowGeometry.letterbox(width: 16384, height: 2, in: (160, 90)).height == 1)
  }

  @Test func theSmallWindowBeginsInTheCorner() {
    let small = WindowGeometry.small(width: 640, height: 360, on: screen)
    #expect(small == WindowPlace(x: 1524, y: 852, width: 384, height: 216))
  }

  @Test(arguments: [
    // Nearest: left, right, top, bottom.
    ((100, 500), (12, 500)), ((1400, 500), (1524, 500)), ((700, 100), (700, 39)), ((700, 780), (700, 852)),
    // Corners.
    ((20, 50), (12, 39)), ((1500, 840), (1524, 852)),
    // Beyond the screen.
    ((-400, 400), (12, 400)), ((2500, 5000), (1524, 852)),
  ])
  func itSnapsToTheNearestEdge(from: (Int, Int), to: (Int, Int)) {
    let snapped = WindowGeometry.snapped(WindowPlace(x: from.0, y: from.1, width: 384, height: 216), to: screen)
    #expect(snapped == WindowPlace(x: to.0, y: to.1, width: 384, height: 216))
  }

  @Test func aWindowLargerThanTheScreenStaysAtItsBeginning() {
    let snapped = WindowGeometry.snapped(WindowPlace(x: 5, y: 5, width: 4000, height: 3000), to: screen)
    #expect((snapped.x, snapped.y) == (12, 39))
  }

  @Test func aPlaceOnAScreenThatIsGoneIsNotUsed() {
    let place = WindowPlace(x: 2500, y: 100, width: 960, height: 540)
    #expect(WindowGeometry.visible(place, on: [screen]) == nil)
    let second = WindowPlace(x: 1920, y: 0, width: 1920, height: 1080)
    #expect(WindowGeometry.visible(place, on: [screen, second]) == place)
    #expect(WindowGeometry.screen(of: place, among: [screen, second]) == second)
    #expect(WindowGeometry.visible(WindowPlace(x: 0, y: 0, width: 0, height: 0), on: [screen]) == nil)
    #expect(WindowGeometry.visible(place, on: []) == nil)
  }

  @Test func agesAreSaidInTheUnitThatFits() {
    #expect(Painter.text(age: 12) == "12 s old")
    #expect(Painter.text(age: 180) == "3 min old")
    #expect(Painter.text(age: 9000) == "2 h old")
  }
}
