internal import Codecs
internal import Frames
internal import Linux
internal import Synchronization

/// Microphone → other forms of sound than Opus, encoded once for all listeners, on a thread of its own while somebody listens.
public final class SoundConverter: Sendable {
  /// What a machine without time for it may leave unencoded: a second.
  private static let maximumWaiting = 50

  private let audio: AudioPipeline
  private let deliver: @Sendable (ConvertedSound) -> Void
  private let running = Mutex<Mailbox<AudioBlock>?>(nil)

  /// - Parameter deliver: called on the converter's thread.
  public init(_ audio: AudioPipeline, deliver: @escaping @Sendable (ConvertedSound) -> Void) {
    self.audio = audio
    self.deliver = deliver
  }

  /// Whether anyone listens. Returns at once.
  public func setDemand(_ isWanted: Bool) {
    running.withLock { running in
      guard isWanted != (running != nil) else { return }
      guard isWanted else {
        audio.setTap(nil)
        running?.close()
        return running = nil
      }
      let blocks = Mailbox<AudioBlock>(capacity: Self.maximumWaiting)
      running = blocks
      audio.setTap(blocks)
      // It ends with the mailbox.
      _ = WorkerThread(name: "mp3") { [deliver] in Self.encode(blocks, deliver) }
    }
  }

  private static func encode(_ blocks: Mailbox<AudioBlock>, _ deliver: (ConvertedSound) -> Void) {
    guard let encoder = try? MP3Encoder() else { return }
    while let block = blocks.take() {
      guard let frames = try? encoder.encode(block), !frames.isEmpty else { continue }
      deliver(ConvertedSound(format: .mp3, data: frames))
    }
  }
}
