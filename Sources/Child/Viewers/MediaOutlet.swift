internal import Frames
internal import Pipelines

/// Takes the media of a viewer that has no peer connection, such as a player of plain HTTP. Confined to the event loop.
protocol MediaOutlet: AnyObject {
  /// For the log.
  var protocolName: String { get }
  /// The sound that it wants.
  var soundFormat: SoundFormat { get }
  /// Pieces of sound that its connection has taken. All but the last two seconds have arrived: the connection takes no more
  /// before.
  var soundPacketsSent: UInt64 { get }
  /// Pieces of picture and sound that its connection has taken, and their bytes.
  var packetsSent: UInt64 { get }
  var bytesSent: UInt64 { get }

  /// - Parameter payloads: the frame as RTP payloads (RFC 7741, RFC 6184).
  func send(_ frame: EncodedVideoFrame, payloads: [[UInt8]])
  func send(_ packet: EncodedAudioPacket)
  func send(_ sound: ConvertedSound)
  /// Ends its connection.
  func close()
}
