internal import Health
internal import Storage

/// What to do about pushed alarms.
public enum PushAdvice {
  public static let contact =
    "Set push.contact in child.yaml to your e-mail address (mailto:NAME@HOST), or switch pushed alarms off and on again on "
    + "that phone."
}

/// Whether push services learn whom to write to: Apple's refuses alarms that name nobody.
enum PushContactCheck {
  /// Nil when there is nothing to say. Reads what is stored without changing anything.
  static func run(_ push: ChildConfiguration.Push, stateDirectory: String) -> Finding? {
    let missing = PushStore(file: AtomicFile(path: stateDirectory + "/push.json")).countWithoutContact()
    return words(push, missing: missing).map { Finding("pushed alarms", .warning, $0, remedy: PushAdvice.contact) }
  }

  /// - Parameter missing: how many subscriptions have no contact of their own.
  static func words(_ push: ChildConfiguration.Push, missing: Int) -> String? {
    guard push.contact == nil, missing > 0 else { return nil }
    let who = missing == 1 ? "one browser has" : "\(missing) browsers have"
    let why = push.isContactUnreachable ? "push.contact cannot exist on the Internet" : "push.contact is not set"
    return "\(who) subscribed without a contact, and \(why): Apple's push service refuses such alarms"
  }
}
