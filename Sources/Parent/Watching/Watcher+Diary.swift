internal import Control
internal import Frames
internal import Monitoring

// Alarms that rang here become events of the child, once there is a link.
extension Watcher {
  func keep(_ report: Alarm.Report?) {
    let unix = MonotonicClock.unixTime
    diary.note(report, unix: unix, now: MonotonicClock.now)
    tellAlarms()
  }

  /// Tells the child the oldest alarm that it does not know; its answer brings the next one.
  func tellAlarms() {
    guard !isTellingAlarm, let session, let note = diary.waiting.first else { return }
    isTellingAlarm = true
    session.control.perform(note) { [weak self] result in
      guard let self else { return }
      isTellingAlarm = false
      switch result {
      case .success: diary.remove(note)
      // Later: with the next alarm or the next link.
      case .failure(.refused(let error)) where error.code == .busy: return
      // An older child does not know the command, or this parent may not.
      case .failure(.refused): diary.remove(note)
      case .failure: return
      }
      tellAlarms()
    }
  }
}
