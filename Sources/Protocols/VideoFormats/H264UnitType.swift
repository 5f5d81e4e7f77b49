/// The types of NAL units that decide what becomes of them. ITU-T H.264 table 7-1.
public enum H264UnitType: UInt8, Sendable {
  /// Of a picture that depends on others.
  case slice = 1
  /// Of a picture with which decoding may begin.
  case instantRefresh = 5
  case sequenceParameters = 7
  case pictureParameters = 8
  case accessUnitDelimiter = 9
  case filler = 12

  /// Of a unit without its start code; nil for an empty one and for other types.
  public init?(of unit: some Collection<UInt8>) {
    guard let header = unit.first else { return nil }
    self.init(rawValue: header & 0x1f)
  }
}
