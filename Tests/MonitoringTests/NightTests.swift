import Control
import Monitoring
import TestSupport
import Testing
import Wire

/// Five hours in fake time in which something breaks every minute or two, as a parent's alarm sees it.
@Suite struct NightTests {
  private enum Fault: CaseIterable {
    /// Nothing arrives.
    case link
    /// No goodbye: the child was killed, and greets when it is back.
    case killed
    /// With a goodbye.
    case stopped
    /// Pictures stop; the child does not know.
    case stalled
    case cameraGone, frozen, microphoneGone, digitalSilence, ownSound

    var kinds: [Alarm.Kind] {
      switch self {
      case .link, .killed: [.link]
      case .stopped: [.childStopped, .link]
      case .stalled: [.frozenPicture]
      case .cameraGone: [.camera]
      case .frozen: [.frozenPicture]
      case .microphoneGone: [.microphone]
      case .digitalSilence: [.digitalSilence]
      case .ownSound: [.ownSound]
      }
    }

    /// It rings for nothing shorter, and so much later for what is longer.
    var excused: Duration { self == .stopped ? .seconds(90) : .zero }

    /// The child's watchdog has said it after this time.
    var isToldByTheChild: Bool {
      switch self {
      case .cameraGone, .frozen, .microphoneGone, .digitalSilence: true
      case .link, .killed, .stopped, .stalled, .ownSound: false
      }
    }
  }

  private struct Trouble {
    var fault: Fault
    var from: Instant
    var to: Instant
    var isAcknowledged: Bool
    var length: Duration { to - from }
  }

  /// The child, the link and this machine's speaker; steps of 20 ms.
  private struct Night {
    var alarm = Alarm()
    var random: SeededGenerator
    var now = Instant.zero
    var trouble: Trouble?
    var nextTrouble: Instant
    var captured: UInt64 = 0
    var report: Alarm.Report?
    /// The last moment at which all was well.
    var good = Instant.zero
    var rangAt: Instant?
    var rings = 0
    var problems: [String] = []
    var faults = 0
    /// When the last fault was over.
    private var mendedAt = Instant.zero
    private var step = 0
    /// Heartbeats come each second, and one of twenty is lost.
    private static let recovery: Duration = .milliseconds(2500)

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      nextTrouble = .zero + .seconds(60)
      alarm.note(.phase(.connecting), now: now)
      alarm.note(.phase(.live), now: now)
      alarm.note(.hello, now: now)
    }

    private func has(_ faults: Fault...) -> Bool { trouble.map { faults.contains($0.fault) } ?? false }
    private var isTold: Bool { trouble.map { $0.fault.isToldByTheChild && now - $0.from > .seconds(3) } ?? false }

    mutating func run(_ time: Duration) {
      let end = now + time
      while now < end {
        now += .milliseconds(20)
        step += 1
        change()
        arrive()
        // As AlarmWatch: twice a second, and as things arrive while something is wrong.
        if step % 25 == 0 || report != nil { look() }
      }
    }

    private mutating func change() {
      if let old = trouble, now >= old.to {
        judge(old)
        trouble = nil
        mendedAt = now
        switch old.fault {
        case .killed, .stopped: alarm.note(.hello, now: now)
        case .ownSound: alarm.note(.ownSound(isFaulty: false), now: now)
        default: break
        }
        nextTrouble = now + .milliseconds(Int64.random(in: 20_000...120_000, using: &random))
        return
      }
      guard trouble == nil, now >= nextTrouble else { return }
      if report != nil { problems.append("\(report!.kind) still at \(now), long after all was well") }
      let fault = Fault.allCases.randomElement(using: &random)!
      // Half of them are short: what a network may take.
      let length =
        Bool.random(using: &random)
        ? Int64.random(in: 100...3000, using: &random)
        : Int64.random(in: 6000...120_000, using: &random)
      trouble = Trouble(
        fault: fault, from: now, to: now + .milliseconds(length), isAcknowledged: Bool.random(using: &random))
      (good, rangAt, rings) = (now, nil, 0)
      faults += 1
      if fault == .stopped { alarm.note(.goodbye, now: now) }
      if fault == .ownSound { alarm.note(.ownSound(isFaulty: true), now: now) }
    }

    private mutating func arrive() {
      if has(.link, .killed, .stopped) { return }
      // 5 % of everything is lost.
      func isLost() -> Bool { Int.random(in: 0..<20, using: &random) == 0 }
      if !(has(.microphoneGone) || isLost()) { alarm.note(.sound, now: now) }
      if step % 5 == 0, !has(.stalled, .cameraGone) {
        captured += 1
        if !isLost() { alarm.note(.picture(digest: nil), now: now) }
      }
      if step % 50 == 0 {
        let isCamera = isTold && has(.cameraGone, .frozen)
        let isSound = isTold && has(.microphoneGone, .digitalSilence)
        alarm.note(
          .heartbeat(
            video: .init(
              state: isCamera ? .missing : .running, captured: captured, fault: isCamera && has(.frozen) ? .frozen : nil
            ),
            audio: .init(
              state: isSound ? .missing : .running, captured: UInt64(has(.microphoneGone) ? 0 : step),
              fault: isSound && has(.digitalSilence) ? .digitalSilence : nil)),
          now: now)
      }
    }

    private mutating func look() {
      let new = alarm.evaluate(now: now)
      defer { report = new }
      guard let new, new.isRinging else { return }
      if report?.isRinging != true || report?.kind != new.kind { rings += 1 }
      rangAt = rangAt ?? now
      guard let trouble else {
        if now - mendedAt > Self.recovery { problems.append("\(new.kind) rings at \(now) without a fault") }
        return
      }
      if !trouble.fault.kinds.contains(new.kind),
        new.kind != .frozenPicture || !has(.cameraGone),
        new.kind != .microphone || !has(.microphoneGone)
      {
        problems.append("\(new.kind) rings for \(trouble.fault)")
      }
      if trouble.isAcknowledged, now - rangAt! >= .seconds(2) { alarm.acknowledge(now: now) }
    }

    private mutating func judge(_ trouble: Trouble) {
      let name = "\(trouble.fault) of \(trouble.length)"
      switch rangAt {
      case nil where trouble.length > trouble.fault.excused + .seconds(5): problems.append("\(name): no alarm")
      case let at? where trouble.length <= max(.seconds(3), trouble.fault.excused):
        problems.append("\(name): rang at \(at)")
      case let at? where at - good > trouble.fault.excused + .seconds(5):
        problems.append("\(name): rang after \(at - good)")
      default: break
      }
      if trouble.isAcknowledged, rings > 2 { problems.append("\(name): rang \(rings) times though acknowledged") }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func hoursOfFaultsKeepEveryBound(seed: UInt64) {
    var night = Night(seed: seed)
    night.run(.seconds(18_000))
    #expect(night.problems == [])
    #expect(night.faults > 100)
  }
}
