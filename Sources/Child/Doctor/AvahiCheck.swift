internal import Discovery
internal import Health

/// Whether parents find the child by its name: Avahi answers, and it announces the child.
enum AvahiCheck {
  /// A record is announced within a second of its registration; a query is answered in a fraction of a second.
  static let patience: Duration = .seconds(3)

  /// - Parameter id: id of the child to look for; nil when no daemon is running.
  static func run(
    id: String?, discovery: any Discovery = DNSServiceDiscovery(), patience: Duration = patience
  ) async -> Finding {
    let what = "Avahi"
    let seen = await look(for: id, discovery, patience)
    switch seen?.problem {
    case .noAvahi?:
      return Finding(
        what, .warning, "it does not answer, so viewers have to name the baby unit by its address",
        remedy: "sudo apt install avahi-daemon && sudo systemctl enable --now avahi-daemon")
    case .refused(let code)?:
      return Finding(
        what, .warning, "it refuses (error \(code)), so viewers have to name the baby unit by its address",
        remedy: "journalctl -u avahi-daemon -n 50")
    case nil: break
    }
    guard seen != nil else {
      return Finding(what, .problem, "it does not answer in time", remedy: "sudo systemctl restart avahi-daemon")
    }
    guard let id else { return Finding(what, .ok, "it answers; the baby unit is announced while it runs") }
    if let child = seen?.children.first(where: { $0.id == id }) {
      return Finding(what, .ok, "viewers find “\(child.name)” at \(child.host), port \(child.port)")
    }
    return Finding(
      what, .problem, "it answers, but it does not announce this baby unit (\(id))",
      remedy: "sudo systemctl restart avahi-daemon; journalctl -u cradle-child -u avahi-daemon -n 50")
  }

  /// The last state seen: returns once the child or a problem is seen, else after `patience`. Nil if nothing was seen.
  private static func look(
    for id: String?, _ discovery: any Discovery, _ patience: Duration
  ) async -> Neighbourhood? {
    let looking = Task { () -> Neighbourhood? in
      var last: Neighbourhood?
      for await neighbourhood in discovery.browse() {
        last = neighbourhood
        if neighbourhood.problem != nil || id == nil || neighbourhood.children.contains(where: { $0.id == id }) {
          break
        }
      }
      return last
    }
    let limit = Task {
      try? await Task.sleep(for: patience)
      looking.cancel()
    }
    let last = await looking.value
    limit.cancel()
    return last
  }
}
