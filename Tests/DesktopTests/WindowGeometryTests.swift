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

  private static let area = WindowPlace(x: 0, y: 10, width: 1280, height: 720)

  @Test(arguments: [
    (1, [(0, 10, 1280, 720)]), (2, [(0, 10, 640, 720), (640, 10, 640, 720)]),
    (3, [(0, 10, 640, 360), (640, 10, 640, 360), (0, 370, 640, 360)]),
    (4, [(0, 10, 640, 360), (640, 10, 640, 360), (0, 370, 640, 360), (640, 370, 640, 360)]),
  ])
  func fewRoomsAreAGrid(count: Int, places: [(Int, Int, Int, Int)]) {
    let wanted = places.map { WindowPlace(x: $0.0, y: $0.1, width: $0.2, height: $0.3) }
    #expect(WindowGeometry.grid(count, in: Self.area) == wanted)
  }

  /// Whatever the number and the size: within the area, none over another, and the gap between them.
  @Test(arguments: [0, 1, 2, 3, 5, 7, 9, 20, 64])
  func everyRoomHasAPlaceOfItsOwn(count: Int) {
    for (width, height) in [(1280, 720), (1279, 719), (300, 900), (160, 90), (40, 20)] {
      let area = WindowPlace(x: 3, y: 4, width: width, height: height)
      let large = WindowGeometry.strips(count, width: 280, height: 48, in: area, gap: 2)
      #expect(large.rest.height >= height * 2 / 3 - 2 && large.rest.y + large.rest.height <= 4 + height)
      for places in [WindowGeometry.grid(count, in: area, gap: 2), large.strips + (count > 0 ? [large.rest] : [])] {
        for (index, one) in places.enumerated() where one.width > 0 && one.height > 0 {
          #expect(one.x >= 3 && one.y >= 4 && one.x + one.width <= 3 + width && one.y + one.height <= 4 + height)
          for other in places[..<index] where other.width > 0 && other.height > 0 {
            let isApart =
              one.x >= other.x + other.width + 2 || other.x >= one.x + one.width + 2
              || one.y >= other.y + other.height + 2 || other.y >= one.y + one.height + 2
            #expect(isApart, "\(one) \(other)")
          }
        }
      }
      #expect(WindowGeometry.grid(count, in: area).count == count && large.strips.count == count)
    }
  }

  @Test func aHighWindowHasItsRoomsBelowEachOther() {
    let places = WindowGeometry.grid(2, in: WindowPlace(x: 0, y: 0, width: 300, height: 900))
    #expect(places.map(\.y) == [0, 450] && places.allSatisfy { $0.width == 300 })
    // A strip for each of nineteen leaves most to the large one.
    let many = WindowGeometry.strips(19, width: 280, height: 48, in: Self.area, gap: 2)
    #expect(many.rest.height == 720 - 240 - 2)
    let few = WindowGeometry.strips(2, width: 280, height: 48, in: Self.area, gap: 2)
    #expect(few.strips.map(\.width) == [639, 639] && few.rest.y == 10 + 48 + 2)
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
