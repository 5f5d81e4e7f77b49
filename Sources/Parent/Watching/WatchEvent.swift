public import Control
public import Monitoring

/// What happens while watching, for who shows it.
public enum WatchEvent: Sendable {
  case state(WatchStatistics.State)
  /// What the child said unasked.
  case push(ControlPush)
  /// What is wrong now; nil: all is well.
  case alarm(Alarm.Report?)
  /// Why it is reconnecting.
  case lost(String)
}
