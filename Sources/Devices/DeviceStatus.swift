/// The state of a supervised device, for the log, the status and the parents.
public enum DeviceStatus<Info: Sendable>: Sendable {
  /// None is configured.
  case off
  /// Nothing is known yet.
  case opening
  /// Delivering.
  case running(Info)
  /// Not delivering, for this reason; retried.
  case missing(DeviceError)
}
