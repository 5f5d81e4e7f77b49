public import Discovery
public import Pairing

/// Why a child could not be found. The description says what to try.
public enum FindingError: Error, Hashable, Sendable, CustomStringConvertible {
  case nothingPaired
  /// No name was given, and there are several.
  case severalPaired([PairRecord])
  /// Several children have this name.
  case ambiguous(String, ids: [String])
  /// `paired` are the names of those that are.
  case notPaired(String, paired: [String])
  /// No child of this name is on the network.
  case notFound(String, DiscoveryProblem?)
  /// No child is on the network.
  case nothingFound(DiscoveryProblem?)
  /// No name was given, and there are several on the network.
  case severalFound([DiscoveredChild])
  /// It has link-local addresses of IPv6 alone, which can be neither written in a URL nor given to WebRTC without their zone.
  case onlyLinkLocal(String)
  /// Nothing there answers as a child does.
  case nobodyAt(ChildAddress, reason: String)

  public var description: String {
    switch self {
    case .nothingPaired:
      "no camera is paired with this computer; `cradle-parent discover` lists cameras on the network, `cradle-parent pair` pairs"
    case .severalPaired(let records):
      "several cameras are paired; name one: \(Self.list(records.map { ($0.name, $0.id) }))"
    case .ambiguous(let name, let ids):
      "several cameras are called “\(name)”; name one by its id, of which the first digits do: "
        + ids.joined(separator: ", ")
    case .notPaired(let text, let paired):
      "“\(text)” is not paired with this computer; `cradle-parent pair` pairs. Paired are: "
        + (paired.isEmpty ? "none" : paired.joined(separator: ", "))
    case .notFound(let text, let problem):
      "“\(text)” is not on this network; " + Self.advice(problem)
    case .nothingFound(let problem):
      "no camera is on this network; " + Self.advice(problem)
    case .severalFound(let children):
      "several cameras are on this network; name one: \(Self.list(children.map { ($0.name, $0.id) }))"
    case .onlyLinkLocal(let name):
      "“\(name)” has only link-local IPv6 addresses (fe80::) on this network; give both machines an IPv4 address, "
        + "on a cable without a router by “link-local” (169.254.x.x) in their network settings"
    case .nobodyAt(let address, let reason):
      "no camera answers at \(address): \(reason); is it switched on, and is the address right?"
    }
  }

  private static func list(_ names: [(String, String)]) -> String {
    names.map { "\($0.0) (\($0.1))" }.joined(separator: ", ")
  }

  private static func advice(_ problem: DiscoveryProblem?) -> String {
    if let problem { return "\(problem) Until then, give its address as host:port" }
    return "is it switched on and on the same network? Otherwise give its address as host:port"
  }
}
