internal import Frames
internal import Pipelines

/// Takes the sound for a viewer that has no peer connection, such as a player of plain HTTP. Confined to the event loop.
protocol MediaOutlet: AnyObject {
  /// The sound that it wants.
  var soundFormat: SoundFormat { get }
  /// Pieces that its connection has taken, and their bytes. All but the last two seconds have arrived: the connection takes
  /// no more before.
  var packetsSent: UInt64 { get }
  var bytesSent: UInt64 { get }

  func send(_ packet: EncodedAudioPacket)
  func send(_ sound: ConvertedSound)
  /// Ends its connection.
  func close()
}
