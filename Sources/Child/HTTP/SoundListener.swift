internal import Codecs
internal import Frames
internal import Pipelines
internal import Server
internal import Wire

/// A player that listens over HTTP. Confined to the event loop.
final class SoundListener: MediaOutlet {
  let soundFormat: SoundFormat
  let stream: HTTPStream
  private var ogg: OggOpusStream?
  /// When sound came for it last; from its beginning on.
  private(set) var lastSound = MonotonicClock.now

  init(_ format: SoundFormat, maximumWaitingBytes: Int, title: String) {
    soundFormat = format
    stream = HTTPStream(maximumWaitingBytes: maximumWaitingBytes)
    guard format == .opus else { return }
    var ogg = OggOpusStream(serial: .random(in: 1...UInt32.max))
    stream.send(ogg.makeHeaders(title: title))
    self.ogg = ogg
  }

  let protocolName = "HTTP"
  var soundPacketsSent: UInt64 { stream.sentPieces }
  var packetsSent: UInt64 { stream.sentPieces }
  var bytesSent: UInt64 { stream.sentBytes }

  func send(_ frame: EncodedVideoFrame, payloads: [[UInt8]]) {}

  func send(_ packet: EncodedAudioPacket) {
    lastSound = MonotonicClock.now
    guard let pages = ogg?.add(packet), !pages.isEmpty else { return }
    stream.send(pages)
  }

  func send(_ sound: ConvertedSound) {
    lastSound = MonotonicClock.now
    stream.send(sound.data)
  }

  func close() { stream.close() }
}
