import Foundation

/// An ALSA capture device, `room`, whose samples come from here through a pipe, and a playback device, `box`, whose samples
/// go into a file: 16 bits, one channel.
final class FIFOMicrophone: @unchecked Sendable {
  let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
  private let lock = NSLock()
  private var isStopped = false

  /// For `env` in front of a program.
  var environment: String { "ALSA_CONFIG_PATH=\(folder.appending(path: "asound.conf").path)" }

  /// What `box` was given.
  var played: URL { folder.appending(path: "played") }

  /// Samples in a portion: what a read of the child asks for. ALSA's plug-in passes on less as if it were more.
  private static let portion = 960

  /// - Parameters:
  ///   - rate: the samples that it really delivers a second.
  ///   - sample: the one of this number, full scale ±1; a little noise is added, as every microphone has.
  init(rate: Int, sample: @escaping @Sendable (Int) -> Double) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let pipe = folder.appending(path: "pipe").path
    guard mkfifo(pipe, 0o600) == 0 else { throw ChildProcess.Problem(description: "mkfifo: \(errno)") }
    try """
    pcm.null { type null }
    pcm.room { type file slave.pcm "null" file "/dev/null" infile "\(pipe)" format raw }
    pcm.box { type file slave.pcm "null" file "\(played.path)" format raw }
    """.write(to: folder.appending(path: "asound.conf"), atomically: true, encoding: .utf8)
    // For reading too, so that it does not break where the reader closes it.
    let file = open(pipe, O_RDWR | O_NONBLOCK)
    guard file >= 0 else { throw ChildProcess.Problem(description: "open: \(errno)") }
    Thread.detachNewThread { [self] in
      var random = SystemRandomNumberGenerator()
      var given = 0
      let began = Date()
      while !lock.withLock({ isStopped }) {
        while given + Self.portion <= Int(Date().timeIntervalSince(began) * Double(rate)) {
          let samples = (given..<given + Self.portion).map {
            Int16(32_700 * max(-1, min(1, sample($0)))) &+ Int16.random(in: -20...20, using: &random)
          }
          // What finds no room is lost.
          samples.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count) }
          given += Self.portion
        }
        Thread.sleep(forTimeInterval: 0.01)
      }
      close(file)
    }
  }

  func stop() {
    lock.withLock { isStopped = true }
    try? FileManager.default.removeItem(at: folder)
  }
}
