/// How a device is that is kept going: what log, status and parents are told of it.
public enum DeviceStatus<Info: Sendable>: Sendable {
  /// None is configured.
  case off
  /// Nothing is known yet.
  case opening
  /// It delivers.
  case running(Info)
  /// It does not, for this reason; it is tried again.
  case missing(DeviceError)
}
