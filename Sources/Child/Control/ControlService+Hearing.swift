internal import Control
internal import HearingProof
internal import Pairing

// Proofs of hearing.
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
      let by = "heard end to end by \(parents.joined(separator: ", "))"
      note(
        .hearing, id: hearing.state.rawValue,
        detail: hearing.way == HearingTest.Way.chirp.rawValue ? by : "\(by) (weaker proof: noise of the room)")
    case .notHeard:
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
}
