internal import Control
internal import Frames
internal import Monitoring

// Alarms that rang here become events of the child, once there is a link.
extension Watcher {
  func keep(_ report: Alarm.Report?) {
    let unix = MonotonicClock.unixTime
    diary.note(report, unix: unix, now: MonotonicClock.now)
    reportAlarms()
  }

  /// Reports to the child the oldest alarm that it does not know; its answer brings the next one.
  func reportAlarms() {
    guard !isReportingAlarm, let session, let note = diary.waiting.first else { return }
    isReportingAlarm = true
    session.control.perform(note) { [weak self] result in
      guard let self else { return }
      isReportingAlarm = false
      switch result {
      case .success: diary.remove(note)
      // Later: with the next alarm or the next link.
      case .failure(.refused(let error)) where error.code == .busy: return
      // An older child does not know the command, or this parent may not.
      case .failure(.refused): diary.remove(note)
      case .failure: return
      }
      reportAlarms()
    }
  }
}
