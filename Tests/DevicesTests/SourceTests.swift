import DeviceNames
import Frames
import Glibc
import Testing
import Wire

@testable import Devices

struct SourceTests {
  private let request = VideoRequest(width: 160, height: 120, framesPerSecond: 50)

  /// A file in the temporary directory, removed after `body`.
  private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    var template = Array("/tmp/cradle-devices-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
    try #require(written == bytes.count)
    try body(path)
  }

  private func device(_ name: String) throws(DeviceError) -> VideoDevice {
    guard let device = VideoDevice(name) else { throw DeviceError(device: name, reason: .busy) }
    return device
  }

  private func error(_ body: () throws(DeviceError) -> Void) -> DeviceError? {
    do throws(DeviceError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test func theTestPictureComesAtItsRate() throws {
    let source = try VideoSources.open(.test, request: request)
    #expect(!source.info.differsFromRequest)
    let frames = Collector<VideoFrame>()
    source.start(deliver: { frames.put($0) }, failed: { _ in Issue.record("failed") })
    let first = try #require(frames.next())
    var last = first
    for index in 1...10 {
      last = try #require(frames.next())
      #expect(last.sequence == UInt64(index))
    }
    source.stop()
    source.stop()
    #expect(first.width == 160 && first.height == 120)
    #expect(last.captureTime - first.captureTime > .milliseconds(150))
    while frames.nextNow() != nil {}
    #expect(frames.nextNow() == nil)
  }

  @Test func withoutDemandOnlyTheFirstPictureIsMade() throws {
    let demand = Demand()
    let source = try VideoSources.open(.test, request: request, demand: demand)
    let frames = Collector<VideoFrame>()
    source.start(deliver: { frames.put($0) }, failed: { _ in Issue.record("failed") })
    #expect(try #require(frames.next()).sequence == 0)
    MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(500))
    #expect(frames.nextNow() == nil)
    demand.isWanted = true
    #expect(try #require(frames.next()).sequence > 2)
    source.stop()
  }

  @Test func theTestToneIsSound() throws {
    let source = try AudioSources.open(.test)
    let blocks = Collector<AudioBlock>()
    source.start(deliver: { blocks.put($0) }, failed: { _ in Issue.record("failed") })
    let first = try #require(blocks.next())
    let second = try #require(blocks.next())
    source.stop()
    #expect(second.samplePosition == first.samplePosition + 960)
    #expect(second.captureTime - first.captureTime == .milliseconds(20))
    #expect(first.samples.contains { abs(Int($0)) > 1000 })
  }

  @Test func aY4MFilePlaysAtItsOwnRate() throws {
    try withFile(MediaBytes.y4m(header: "W32 H16 F100:1", lumas: [40, 50])) { path in
      // No faster than is asked for.
      let bounded = try VideoSources.open(device("file:\(path)"), request: request)
      #expect(bounded.info.differsFromRequest && bounded.info.mode == "32x16 at 50 frames/s, Y4M")
      let request = VideoRequest(width: 160, height: 120, framesPerSecond: 120)
      let source = try VideoSources.open(device("file:\(path)"), request: request)
      #expect(source.info.mode == "32x16 at 100 frames/s, Y4M")
      let frames = Collector<VideoFrame>()
      source.start(deliver: { frames.put($0) }, failed: { _ in Issue.record("failed") })
      // Its memory is reused as soon as nobody holds it.
      let lumas = (0..<4).map { _ in frames.next().map { frame in withExtendedLifetime(frame) { frame.y[0] } } }
      source.stop()
      #expect(lumas == [40, 50, 40, 50])
    }
  }

  @Test func aWAVFilePlays() throws {
    try withFile(MediaBytes.wav(rate: 16000, channels: 2, samples: [100, 300])) { path in
      let source = try AudioSources.open(.file(path: path))
      #expect(source.info.sampleRate == 16000 && source.info.channels == 2)
      let blocks = Collector<AudioBlock>()
      source.start(deliver: { blocks.put($0) }, failed: { _ in Issue.record("failed") })
      #expect(try #require(blocks.next()).samples.allSatisfy { $0 == 200 })
      source.stop()
    }
  }

  @Test func aFileThatShrinksFailsTheSource() throws {
    try withFile(MediaBytes.y4m(header: "W32 H16 F100:1", lumas: [40, 50])) { path in
      let source = try VideoSources.open(device("file:\(path)"), request: request)
      let failures = Collector<DeviceError>()
      #expect(truncate(path, 30) == 0)
      source.start(deliver: { _ in }, failed: { failures.put($0) })
      let failure = try #require(failures.next())
      source.stop()
      guard case .invalidFile = failure.reason else { return #expect(Bool(false), "\(failure)") }
    }
  }

  @Test func aSourceThatWasNeverStartedStops() throws {
    try VideoSources.open(.test, request: request).stop()
  }

  @Test func whatCannotBeOpenedSaysWhatToDo() throws {
    let missing = try #require(
      error { () throws(DeviceError) in
        _ = try VideoSources.open(device("/dev/video-none"), request: request)
      })
    #expect(missing.reason == .notFound)
    #expect(missing.description.contains("cradle-child devices"))
    let noCamera = try #require(
      error { () throws(DeviceError) in
        _ = try VideoSources.open(device("/dev/null"), request: request)
      })
    #expect(noCamera.summary.contains("not a V4L2 device"))
    let folder = try #require(
      error { () throws(DeviceError) in
        _ = try VideoSources.open(device("file:/tmp"), request: request)
      })
    #expect(folder.summary == "not a regular file")
    let noSound = try #require(
      error { () throws(DeviceError) in _ = try AudioSources.open(.pcm(name: "hw:NoSuchCard")) })
    #expect(noSound.reason == .notFound)
    #expect(error { () throws(DeviceError) in _ = try AudioSources.open(.off) }?.reason == .notFound)
  }

  @Test func convertersAreOnlyPutWhereThereIsNone() {
    #expect(PCMCapture.convertingName("hw:1,0") == "plughw:1,0")
    #expect(PCMCapture.convertingName("dsnoop:0") == "plug:'dsnoop:0'")
    #expect(PCMCapture.convertingName("plughw:1,0") == nil)
  }
}
