import Foundation

/// A room between two files: white noise, and 0.3 s later what the speaker plays.
final class HearingRoom: @unchecked Sendable {
  let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
  var speaker: String { folder.appending(path: "speaker.wav").path }
  var microphone: String { folder.appending(path: "microphone.wav").path }
  private let stopping = NSLock()
  private var isStopped = false
  /// Samples later: more than the reader reads ahead.
  private static let delay = 14_400
  private static let samples = 48_000 * 90
  private var noise: [Int16] = []

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var random = SystemRandomNumberGenerator()
    noise = (0..<48_000).map { _ in Int16.random(in: -40...40, using: &random) }
    var data = Data("RIFF".utf8)
    func add(_ value: Int, _ bytes: Int) {
      for shift in 0..<bytes { data.append(UInt8(value >> (8 * shift) & 255)) }
    }
    add(36 + 2 * Self.samples, 4)
    data += Data("WAVEfmt ".utf8)
    for (value, bytes) in [(16, 4), (1, 2), (1, 2), (48_000, 4), (96_000, 4), (2, 2), (16, 2)] { add(value, bytes) }
    data += Data("data".utf8)
    add(2 * Self.samples, 4)
    var body: [Int16] = []
    body.reserveCapacity(Self.samples)
    for index in 0..<Self.samples { body.append(noise[index % 48_000] &+ Int16(index / 48_000 % 3)) }
    data += body.withUnsafeBytes { Data($0) }
    try data.write(to: URL(filePath: microphone))
  }

  /// Carries the sound from the speaker's file to the microphone's, until `stop`.
  func carry() {
    Thread.detachNewThread { [self] in
      guard let to = FileHandle(forUpdatingAtPath: microphone) else { return }
      var done = 0
      while !stopping.withLock({ isStopped }) {
        Thread.sleep(forTimeInterval: 0.02)
        guard let from = FileHandle(forReadingAtPath: speaker) else { continue }
        try? from.seek(toOffset: UInt64(44 + 2 * done))
        let new = (try? from.readToEnd()) ?? Data()
        try? from.close()
        let count = new.count / 2
        guard count > 0, done + count + Self.delay < Self.samples else { continue }
        var mixed: [Int16] = []
        for index in 0..<count {
          let sample = Int16(bitPattern: UInt16(new[2 * index]) | UInt16(new[2 * index + 1]) << 8)
          mixed.append(noise[(done + index) % 48_000] &+ sample)
        }
        try? to.seek(toOffset: UInt64(44 + 2 * (done + Self.delay)))
        to.write(mixed.withUnsafeBytes { Data($0) })
        done += count
      }
    }
  }

  func stop() {
    stopping.withLock { isStopped = true }
    try? FileManager.default.removeItem(at: folder)
  }
}
