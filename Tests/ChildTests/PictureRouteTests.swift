import Control
import Frames
import Testing
import Wire

@testable import Child

@Suite struct PictureRouteTests {
  private var route = PictureRoute()

  private func assignment(_ step: PictureStep, all: Bool = true) -> PictureAssignment {
    let rendition: Rendition? =
      switch step {
      case .high: .high
      case .middle: .middle
      case .low, .stills: .low
      case .soundAlone: nil
      }
    return PictureAssignment(step: step, rendition: rendition, takesAllLayers: all, isReduced: step != .high)
  }

  private mutating func sends(_ rendition: Rendition, _ milliseconds: Int, key: Bool = false) -> Bool {
    route.accept(
      EncodedVideoFrame(
        data: [], captureTime: .zero + .milliseconds(milliseconds), isKeyFrame: key, temporalLayer: 0,
        isLayerSync: false, width: 16, height: 16, rendition: rendition))
  }

  @Test mutating func aNewViewerBeginsWithAKeyFrame() {
    #expect(route.awaitedRendition == .high)
    #expect(!sends(.high, 0) && !sends(.middle, 0, key: true))
    #expect(sends(.high, 33, key: true) && sends(.high, 66) && !sends(.middle, 100))
    #expect(route.awaitedRendition == nil)
  }

  @Test mutating func untilTheKeyFrameOfTheNewRenditionTheOldOneGoesOn() {
    _ = sends(.high, 0, key: true)
    route.assignment = assignment(.middle)
    #expect(route.awaitedRendition == .middle && !route.takesAllLayers, "its base layer only")
    #expect(sends(.high, 33) && !sends(.middle, 66) && sends(.high, 66))
    #expect(sends(.middle, 100, key: true) && !sends(.high, 100) && !sends(.high, 133) && sends(.middle, 133))
    #expect(route.takesAllLayers && route.awaitedRendition == nil)
  }

  @Test mutating func onTheWayUpItKeepsBothLayersMeanwhile() {
    route.assignment = assignment(.low)
    _ = sends(.low, 0, key: true)
    route.assignment = assignment(.high)
    #expect(route.takesAllLayers && sends(.low, 100) && !sends(.high, 133))
    #expect(sends(.high, 166, key: true) && !sends(.low, 200))
  }

  /// Two pictures with one time stamp are one to the receiver.
  @Test mutating func ofOneMomentItIsSentOnePicture() {
    _ = sends(.high, 0, key: true)
    _ = sends(.high, 33)
    route.assignment = assignment(.middle)
    #expect(!sends(.middle, 33, key: true))
    #expect(route.awaitedRendition == .middle && sends(.high, 66) && sends(.middle, 100, key: true))
  }

  @Test mutating func stillsAreKeyFramesSomeSecondsApart() {
    route.assignment = assignment(.stills)
    #expect(route.needsStill(at: .zero) && route.awaitedRendition == nil && route.repairedRendition == nil)
    #expect(!sends(.low, 0) && sends(.low, 100, key: true) && !sends(.low, 200))
    // Others of the rendition have lost something.
    #expect(!sends(.low, 1000, key: true) && !sends(.low, 3000, key: true))
    #expect(!route.needsStill(at: .zero + .milliseconds(5000)) && route.needsStill(at: .zero + .milliseconds(5100)))
    #expect(sends(.low, 5150, key: true))
    // What follows a still is a picture that it was not sent; it goes on with a key frame.
    route.assignment = assignment(.low)
    #expect(!sends(.low, 5250) && route.awaitedRendition == .low && sends(.low, 6000, key: true) && sends(.low, 6100))
  }

  @Test mutating func soundAloneIsNoPictureAtAll() {
    _ = sends(.high, 0, key: true)
    route.assignment = assignment(.soundAlone)
    #expect(!sends(.high, 33) && !sends(.low, 66, key: true))
    route.assignment = assignment(.high)
    #expect(!sends(.high, 100) && sends(.high, 133, key: true))
  }

  @Test mutating func anotherCameraMayBeALittleBehind() {
    _ = sends(.high, 100, key: true)
    route.forgetPictures()
    #expect(!sends(.high, 66) && sends(.high, 90, key: true) && sends(.high, 120))
  }
}
