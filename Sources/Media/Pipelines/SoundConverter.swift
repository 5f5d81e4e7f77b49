internal import Codecs
internal import Frames
internal import Linux
internal import Sound
internal import Synchronization

/// Microphone → other forms of sound than Opus, each encoded once for all listeners, on a thread of its own while somebody
/// listens.
public final class SoundConverter: Sendable {
  /// What a machine without time for it may leave unencoded: a second.
  private static let maximumWaiting = 50

  private let audio: AudioPipeline
  private let deliver: @Sendable (ConvertedSound) -> Void
  private let running = Mutex<[SoundFormat: Mailbox<AudioBlock>]>([:])

  /// - Parameter deliver: called on the converters' threads.
  public init(_ audio: AudioPipeline, deliver: @escaping @Sendable (ConvertedSound) -> Void) {
    self.audio = audio
    self.deliver = deliver
  }

  /// What is listened to, of `SoundFormat.converted`. Returns at once.
  public func setDemand(_ formats: Set<SoundFormat>) {
    running.withLock { running in
      guard formats != Set(running.keys) else { return }
      for format in running.keys where !formats.contains(format) { running.removeValue(forKey: format)?.close() }
      for format in formats where running[format] == nil {
        let blocks = Mailbox<AudioBlock>(capacity: Self.maximumWaiting)
        running[format] = blocks
        // It ends with the mailbox.
        _ = WorkerThread(name: "\(format)") { [deliver] in Self.encode(blocks, format, deliver) }
      }
      audio.setTaps(Array(running.values))
    }
  }

  private static func encode(
    _ blocks: Mailbox<AudioBlock>, _ format: SoundFormat, _ deliver: (ConvertedSound) -> Void
  ) {
    guard let encode = encoder(of: format) else { return }
    while let block = blocks.take() {
      guard let data = encode(block), !data.isEmpty else { continue }
      deliver(
        ConvertedSound(
          format: format, data: data, captureTime: block.captureTime, samplePosition: block.samplePosition))
    }
  }

  private static func encoder(of format: SoundFormat) -> ((AudioBlock) -> [UInt8]?)? {
    switch format {
    case .opus: return nil
    case .mp3:
      guard let encoder = try? MP3Encoder() else { return nil }
      return { try? encoder.encode($0) }
    case .pcmu:
      guard let encoder = PCMUEncoder() else { return nil }
      return { encoder.encode($0) }
    }
  }
}
