public import Discovery
public import Pairing

/// Why it is not known which child is meant, or where it is. The description says what to try.
public enum FindingError: Error, Hashable, Sendable, CustomStringConvertible {
  case nothingPaired
  /// None was named, and there are several.
  case severalPaired([PairRecord])
  /// Several have this name.
  case ambiguous(String, ids: [String])
  case notPaired(String)
  /// Nobody of this name is on the network.
  case notFound(String, DiscoveryProblem?)
  /// Nobody at all is on the network.
  case nothingFound(DiscoveryProblem?)
  /// None was named, and there are several on the network.
  case severalFound([DiscoveredChild])
  /// Nothing there speaks TLS as a child does.
  case nobodyAt(ChildAddress, reason: String)

  public var description: String {
    switch self {
    case .nothingPaired:
      "no child is paired with this parent; `cradle-parent discover` shows who is there, `cradle-parent pair` pairs"
    case .severalPaired(let records):
      "several children are paired, so one has to be named: \(Self.list(records.map { ($0.name, $0.id) }))"
    case .ambiguous(let name, let ids):
      "several children are called “\(name)”; name one by its id: \(ids.joined(separator: ", "))"
    case .notPaired(let text):
      "“\(text)” is not paired with this parent; `cradle-parent children` shows who is, `cradle-parent pair` pairs"
    case .notFound(let text, let problem):
      "“\(text)” is not on this network; " + Self.advice(problem)
    case .nothingFound(let problem):
      "no child is on this network; " + Self.advice(problem)
    case .severalFound(let children):
      "several children are on this network, so one has to be named: \(Self.list(children.map { ($0.name, $0.id) }))"
    case .nobodyAt(let address, let reason):
      "no child answers at \(address): \(reason); is it switched on, and is the address right?"
    }
  }

  private static func list(_ names: [(String, String)]) -> String {
    names.map { "\($0.0) (\($0.1))" }.joined(separator: ", ")
  }

  private static func advice(_ problem: DiscoveryProblem?) -> String {
    if let problem { return "\(problem) Until then name the child by its address, as host:port" }
    return "is it switched on and in the same network? Else name it by its address, as host:port"
  }
}
