internal import Control
internal import Frames
internal import HearingProof
internal import Monitoring
internal import Pairing

// Proofs of hearing, and alarm drills.
extension ControlService {
  /// Who receives sound and says so: a proof is the family's, so guests and players are not asked.
  var listeners: [HearingTest.Listener] {
    viewers.registry.byAge.filter {
      $0.isWatching && $0.controlChannel != nil && $0.permissions.contains(.listen) && isParent($0)
    }
    .map { HearingTest.Listener(id: $0.id, name: $0.name) }
  }

  /// Paired, and not only for some hours.
  func isParent(_ viewer: ViewerSession) -> Bool { viewers.credentials.rank(of: viewer.origin) == .parent }

  /// `hearing.test`. A guest begins none that nobody could answer: each would be a warning.
  func testHearing(for viewer: ViewerSession) throws(ControlError) -> HearingDocument {
    guard isParent(viewer) || !listeners.isEmpty else {
      throw ControlError(
        .unavailable, "No device with permanent access is listening. Only these confirm a sound check.")
    }
    return try beginHearing(by: caller(viewer))
  }

  /// The camera's own daily one counts as an owner's.
  func beginHearing(by caller: ProofPolicy.Caller) throws(ControlError) -> HearingDocument {
    let now = MonotonicClock.now
    try hearingPolicy.check(caller, isRunning: hearing.isRunning, now: now)
    hearingPolicy.recordStart(by: caller, now: now)
    return hearing.begin(unixTime: MonotonicClock.unixTime)
  }

  private func caller(_ viewer: ViewerSession) -> ProofPolicy.Caller {
    guard isParent(viewer) else { return .guest }
    return viewer.permissions.contains(.admin) ? .owner : .parent
  }

  /// `drill.start`
  func startDrill(_ stages: [DrillDocument.Stage], for viewer: ViewerSession) throws(ControlError) -> DrillDocument {
    let (caller, now) = (caller(viewer), MonotonicClock.now)
    try drillPolicy.check(caller, isRunning: drill.isRunning, now: now)
    let document = try drill.begin(stages, unixTime: MonotonicClock.unixTime)
    drillPolicy.recordStart(by: caller, now: now)
    return document
  }

  /// `drill.stop`: whoever is paired may.
  func stopDrill(for viewer: ViewerSession) throws(ControlError) {
    guard viewer.pair != nil else { throw ControlError(.notPermitted, "Only a paired device can end a drill.") }
    drill.end(by: viewer.name, unixTime: MonotonicClock.unixTime)
  }

  /// Broadcasts how a proof stands; what is over becomes an event.
  func note(_ hearing: HearingDocument) {
    defer { broadcastChanges() }
    let parents = hearing.parents ?? []
    let unanswered = hearing.unanswered.map { "; no answer from \($0.joined(separator: ", "))" } ?? ""
    switch hearing.state {
    case .running: break
    case .heard:
      proofs.keep(hearing)
      let cause = hearing.speaker == .missing ? ", the speaker is missing" : ""
      let by = "heard end to end by \(parents.joined(separator: ", "))"
      note(
        .hearing, id: hearing.state.rawValue,
        detail: (hearing.way == HearingTest.Way.chirp.rawValue ? by : "\(by) (weaker proof: noise of the room\(cause))")
          + unanswered)
    case .notHeard:
      proofs.keep(hearing)
      let missing =
        if hearing.microphone == false, parents.isEmpty {
          "neither the child's microphone nor a parent heard it"
        } else if hearing.microphone == false {
          "the child's microphone did not hear it"
        } else {
          "no parent heard it"
        }
      note(.hearing, level: .warning, id: hearing.state.rawValue, detail: missing + unanswered)
    }
  }

  /// Broadcasts how a drill stands; what is over becomes an event.
  func note(_ drill: DrillDocument) {
    defer { broadcastChanges() }
    switch drill.state {
    case .running: break
    case .passed:
      let names = drill.parents.map(\.name).joined(separator: ", ")
      proofs.keep(drill)
      note(.drill, id: drill.state.rawValue, detail: "rang and was acknowledged by \(names)")
    case .failed, .stopped:
      proofs.keep(drill)
      let by = drill.state == .stopped ? self.drill.endedBy.map { "; ended by \($0)" } ?? "" : ""
      note(.drill, level: .warning, id: drill.state.rawValue, detail: Self.faults(of: drill) + by)
    }
  }

  /// `Mum's phone did not ring for the camera`.
  private static func faults(of drill: DrillDocument) -> String {
    var faults: [String] = []
    for parent in drill.parents {
      let outcomes = [("link", parent.link), ("camera", parent.camera), ("microphone", parent.microphone)]
      for (stage, outcome) in outcomes {
        switch outcome {
        case .acknowledged, nil: break
        case .rang: faults.append("\(parent.name) rang for the \(stage), and nobody acknowledged it")
        case .silent: faults.append("\(parent.name) did not ring for the \(stage)")
        case .left: faults.append("\(parent.name) left")
        }
      }
    }
    return faults.isEmpty ? "ended before its time" : faults.joined(separator: "; ")
  }

  /// After everything was withheld from it: what it has missed.
  func resume(_ viewer: ViewerSession) {
    send(.push(.hello(hello(for: viewer))), to: viewer)
  }
}
