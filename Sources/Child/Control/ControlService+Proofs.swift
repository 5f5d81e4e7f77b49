internal import Control
internal import HearingProof
internal import Pairing

// Proofs of hearing, and fire drills.
extension ControlService {
  /// Who receives sound and can say so.
  var listeners: [HearingTest.Listener] {
    viewers.registry.byAge.filter { $0.isWatching && $0.controlChannel != nil && $0.permissions.contains(.listen) }
      .map { HearingTest.Listener(id: $0.id, name: $0.name) }
  }

  /// Tells how a proof stands; what is over becomes an event.
  func note(_ hearing: HearingDocument) {
    defer { tellChanges() }
    let parents = hearing.parents ?? []
    switch hearing.state {
    case .running: break
    case .heard:
      proofs.keep(hearing)
      let cause = hearing.speaker == .missing ? ", the speaker is missing" : ""
      let by = "heard end to end by \(parents.joined(separator: ", "))"
      note(
        .hearing, id: hearing.state.rawValue,
        detail: hearing.way == HearingTest.Way.chirp.rawValue ? by : "\(by) (weaker proof: noise of the room\(cause))")
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
      note(.hearing, level: .warning, id: hearing.state.rawValue, detail: missing)
    }
  }

  /// Tells how a drill stands; what is over becomes an event.
  func note(_ drill: DrillDocument) {
    defer { tellChanges() }
    switch drill.state {
    case .running: break
    case .passed:
      let names = drill.parents.map(\.name).joined(separator: ", ")
      proofs.keep(drill)
      note(.drill, id: drill.state.rawValue, detail: "rang and was acknowledged by \(names)")
    case .failed, .stopped:
      proofs.keep(drill)
      note(.drill, level: .warning, id: drill.state.rawValue, detail: Self.faults(of: drill))
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

  /// After everything was withheld from it: what it would have been told meanwhile.
  func resume(_ viewer: ViewerSession) {
    send(.push(.hello(hello(for: viewer))), to: viewer)
  }
}
