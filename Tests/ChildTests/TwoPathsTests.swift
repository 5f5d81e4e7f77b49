import Control
import Frames
import PeerConnection
import RTP
import SDP
import Simulation
import Testing
import VideoFormats
import Wire

@testable import Child
@testable import Pipelines
@testable import Server

/// One camera and its viewers on peer connections of their own, in fake time: everything is real but the encoders.
private final class Nursery {
  let pairs: [SimulatedPair]
  private var orders = RenditionOrders(startKbps: 1500, framesPerSecond: 30)
  private var allocator = RenditionAllocator(settings: .init(range: 150...2500, startKbps: 1500))
  private(set) var routes: [PictureRoute]
  private(set) var targets = PerRendition<RenditionTarget?> { _ in nil }
  private(set) var keyFrames = PerRendition { _ in 0 }
  /// Key frames that each viewer has asked for.
  private var requests: [Int]
  private var asked: [Instant]
  private var packetizers = PerRendition { VP8Packetizer(pictureID: 0x7f00 + UInt16($0.rawValue) * 77) }
  private var index = 0
  private let began: Instant

  init(_ links: SimulatedPair.Link...) throws {
    pairs = try links.enumerated().map { number, _ in
      let pair = SimulatedPair(seed: UInt64(number + 1))
      try pair.exchangeDescriptions()
      try #require(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
      return pair
    }
    let start = pairs.map(\.now).max() ?? .zero
    for (pair, link) in zip(pairs, links) {
      pair.run(for: start - pair.now)
      pair.link = link
      pair.microphone = TestMicrophone()
    }
    routes = links.map { _ in PictureRoute() }
    requests = links.map { _ in 0 }
    asked = links.map { _ in .zero }
    began = start
  }

  var now: Instant { pairs[0].now }

  func run(seconds: Int) {
    for _ in 0..<seconds * 30 { step() }
  }

  private func step() {
    let allocation = allocator.allocate(
      pairs.indices.map { index in
        RenditionAllocator.Viewer(
          id: PeerID(number: UInt64(index)),
          estimateKbps: pairs[index].child.statistics(now: now).availableOutgoingKbps, soundKbps: 50, since: began)
      }, size: (1280, 720), now: now)
    targets = allocation.targets
    orders.targets = allocation.targets
    for index in pairs.indices {
      if let assignment = allocation.assignments[PeerID(number: UInt64(index))] {
        routes[index].assignment = assignment
      }
      if let awaited = routes[index].awaitedRendition, now - asked[index] > .seconds(4) {
        asked[index] = now
        orders.requestKeyFrame(of: awaited, spacing: .seconds(3), patience: .zero, now: now)
      }
      let requested = pairs[index].childEvents.count { if case .keyFrameRequested = $0 { true } else { false } }
      if requested > requests[index], let repaired = routes[index].repairedRendition {
        orders.requestKeyFrame(of: repaired, spacing: .milliseconds(300), patience: .zero, now: now)
      }
      requests[index] = requested
    }
    for order in orders.take(captureTime: now, now: now) { encode(order) }
    index += 1
    for pair in pairs { pair.run(for: .nanoseconds(33_333_333)) }
  }

  /// A picture that says which it is, and of which rendition.
  private func encode(_ order: RenditionOrders.Order) {
    if order.isKeyFrame {
      orders.noteKeyFrame(of: order.rendition, at: now)
      keyFrames[order.rendition] += 1
    }
    let size = order.kbps * 125 / (order.rendition.maximumFramesPerSecond(of: .vp8) ?? 30)
    let picture = TestPicture(
      number: index * 4 + order.rendition.rawValue, isKeyFrame: order.isKeyFrame,
      byteCount: order.isKeyFrame ? size * 5 : size)
    let payloads = packetizers[order.rendition].packetize(
      picture.bytes, isKeyFrame: order.isKeyFrame, maximumPayloadSize: 1100)
    let frame = EncodedVideoFrame(
      data: [], captureTime: now, isKeyFrame: order.isKeyFrame, temporalLayer: 0, isLayerSync: false, width: 16,
      height: 16, rendition: order.rendition)
    for (index, pair) in pairs.enumerated() where routes[index].accept(frame) {
      pair.child.send(
        payloads, kind: .video, mediaTime: UInt32(truncatingIfNeeded: now.nanoseconds / 100_000 * 9), captureTime: now,
        isKeyFrame: order.isKeyFrame, source: order.rendition.rawValue, now: now)
      pair.drain()
    }
  }

  /// Pictures of the last seconds, by rendition.
  func pictures(of viewer: Int, last seconds: Int) -> [Rendition] {
    pairs[viewer].viewer.pictures.filter { $0.at > now - .seconds(seconds) }.compactMap {
      Rendition(rawValue: $0.number % 4)
    }
  }

  /// Pictures that a decoder could not have decoded after the one before.
  func broken(of viewer: Int) -> Int {
    let pictures = pairs[viewer].viewer.pictures
    return zip(pictures, pictures.dropFirst()).count { before, after in
      let step = after.number % 4 == Rendition.low.rawValue ? 3 : 1
      return !after.isKeyFrame && after.number != before.number + 4 * step
    }
  }
}

@Suite struct TwoPathsTests {
  @Test func aNarrowPathGetsASmallerPictureAndTheWideOneKeepsItsOwn() throws {
    let alone = try Nursery(.init(bitsPerSecond: 20_000_000))
    alone.run(seconds: 40)
    let together = try Nursery(.init(bitsPerSecond: 20_000_000), .init(bitsPerSecond: 600_000))
    together.run(seconds: 40)

    let rate = try #require(together.targets[.high]?.kbps)
    #expect(rate * 100 >= (alone.targets[.high]?.kbps ?? .max) * 95)
    #expect(together.routes[0].assignment.step == .high && together.routes[1].assignment.step < .high)
    let wide = together.pictures(of: 0, last: 20)
    #expect(wide.count >= 590 && Set(wide) == [.high])
    let narrow = together.pictures(of: 1, last: 20)
    #expect(narrow.count >= 150 && !narrow.contains(.high))
    #expect(together.broken(of: 0) == 0 && together.broken(of: 1) == 0)
  }

  @Test func aPathThatNarrowsForAWhileComesBackToTheWholePicture() throws {
    let nursery = try Nursery(.init(bitsPerSecond: 20_000_000))
    nursery.run(seconds: 10)
    #expect(nursery.routes[0].assignment.step == .high)
    nursery.pairs[0].toParent.bitsPerSecond = 500_000
    nursery.run(seconds: 20)
    #expect(nursery.routes[0].assignment.step < .high && nursery.pictures(of: 0, last: 5).count >= 40)
    nursery.pairs[0].toParent.bitsPerSecond = 20_000_000
    nursery.run(seconds: 60)
    #expect(nursery.routes[0].assignment.step == .high)
    #expect(Set(nursery.pictures(of: 0, last: 2)) == [.high])
    #expect(nursery.broken(of: 0) == 0)
  }
}
