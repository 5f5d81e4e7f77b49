import Synchronization

/// How many inputs in a row may meet the same thing.
public enum InputRow {
  /// One, unless whoever runs a body keeps the row: what an input leaves behind meets those after it, so a finding is
  /// then the row. libFuzzer wants each input to do the same every time.
  public static var length: Int {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }

  private static let stored = Mutex(1)
}

/// What costs much to make and outlives bad input: made anew after `InputRow.length` inputs.
final class SharedSubject<Subject>: Sendable {
  private struct State {
    var subject: Subject
    var uses = 0
  }

  private let state = Mutex<State?>(nil)

  /// - Parameter body: says whether the subject is of further use.
  func useInTurn(make: () -> sending Subject, while body: (Subject) -> Bool, retire: (Subject) -> Void = { _ in }) {
    state.withLock { state in
      if state == nil { state = State(subject: make()) }
      guard let subject = state?.subject else { return }
      let isOfUse = body(subject)
      state?.uses += 1
      if let uses = state?.uses, uses >= InputRow.length || !isOfUse {
        retire(subject)
        state = nil
      }
    }
  }

  func use(make: () -> sending Subject, _ body: (Subject) -> Void, retire: (Subject) -> Void = { _ in }) {
    useInTurn(
      make: make,
      while: { subject in
        body(subject)
        return true
      }, retire: retire)
  }
}
