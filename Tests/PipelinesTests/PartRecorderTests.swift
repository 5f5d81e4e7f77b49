import Codecs
import Foundation
import Frames
import Synchronization
import Testing
import Wire

@testable import Pipelines

@Suite struct PartRecorderTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)").path

  private final class Count: Sendable {
    let value = Atomic(0)
  }

  private func frame(_ number: Int, isKey: Bool) -> EncodedMedia {
    // RFC 6386 section 9.1.
    let header: [UInt8] = isKey ? [0x10, 0, 0, 0x9d, 0x01, 0x2a, 2, 0, 2, 0] : [0x11, 0, 0]
    return .video(
      EncodedVideoFrame(
        data: header + [UInt8](repeating: 7, count: 2000 - header.count),
        captureTime: .zero + .milliseconds(number * 100), isKeyFrame: isKey,
        temporalLayer: 0, isLayerSync: false, width: 2, height: 2))
  }

  /// The sizes of the parts of a minute of 20 kB a second.
  ///
  /// - Parameter answers: whether a key frame comes when one is asked for; one comes each 30 s in any case.
  private func parts(answers: Bool) throws -> [Int] {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let folder = folder
    let count = Count()
    let recorder = PartRecorder(
      .init(hasVideo: true, hasAudio: false, partLength: .seconds(3600), partBytes: 400_000)
    ) { _ in
      "\(folder)/\(count.value.add(1, ordering: .relaxed).newValue)"
    } failed: { error in
      Issue.record("\(error)")
    }
    var isAsked = false
    for number in 0..<600 {
      let isKey = number % 300 == 0 || (isAsked && answers)
      isAsked = !recorder.write(frame(number, isKey: isKey))
      // The recorder's thread follows, also on a busy machine.
      usleep(5000)
    }
    recorder.finish()
    return try (1...count.value.load(ordering: .relaxed)).map { number in
      try Data(contentsOf: URL(filePath: "\(folder)/\(number)")).count
    }
  }

  /// What is kept is bounded while a part is written, too.
  @Test func aPartEndsNearItsSize() throws {
    let sizes = try parts(answers: true)
    #expect(sizes.count >= 3 && sizes.allSatisfy { $0 <= 400_000 }, "\(sizes)")
    // Nothing is missing.
    #expect(sizes.reduce(0, +) >= 600 * 2000, "\(sizes)")
  }

  @Test func withoutAKeyFrameItGrowsNoFurther() throws {
    let sizes = try parts(answers: false)
    #expect(sizes.count == 2 && sizes.allSatisfy { (380_000...400_000).contains($0) }, "\(sizes)")
  }
}
