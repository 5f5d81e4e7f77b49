import Discovery
import Foundation

/// Runs the real DNS-SD on one host of the tests' network: `advertise NAME ID PORT`, `browse`, `resolve ID SECONDS`,
/// `addresses NAME…`.
/// Each state is one line on standard output; `open`, `closed`, `took` and `stop` come as lines on standard input.
@main enum Probe {
  static func main() async {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "advertise" where arguments.count == 5: advertise(name: arguments[2], id: arguments[3], port: arguments[4])
    case "browse": await browse()
    case "resolve" where arguments.count == 4: await resolve(id: arguments[2], seconds: arguments[3])
    case "addresses": addresses(of: arguments.dropFirst(2))
    default: exit(2)
    }
  }

  private static func advertise(name: String, id: String, port: String) {
    let advertisement = Advertisement(
      name: name, id: id, port: UInt16(port) ?? 8443, version: "1.2.3", pairing: .closed)
    let started = ContinuousClock.now
    let advertising = DNSServiceDiscovery().advertise(advertisement) { state in
      switch state {
      case .advertised(let name): say("advertised \(name)")
      case .waiting(let problem): say("waiting \(problem)")
      }
    }
    let took = started.duration(to: .now)
    while let line = readLine() {
      if let pairing = PairingWindow(rawValue: line) { advertising.setPairing(pairing) }
      if line == "took" { say("took \(took / .milliseconds(1)) ms") }
      if line == "stop" {
        advertising.stop()
        say("stopped")
      }
    }
  }

  private static func browse() async {
    for await neighbourhood in DNSServiceDiscovery().browse() {
      if let problem = neighbourhood.problem {
        say("problem \(problem)")
      } else {
        sayJSON(neighbourhood.children)
      }
    }
  }

  private static func resolve(id: String, seconds: String) async {
    let child = await DNSServiceDiscovery().resolve(within: .seconds(Int(seconds) ?? 1)) { $0.id == id }
    sayJSON(child.map { [$0] } ?? [])
  }

  /// "NAME ADDRESS" for each address; the same names once more for each line on standard input.
  private static func addresses(of names: ArraySlice<String>) {
    let resolver = HostResolver()
    repeat {
      for name in names { resolver.resolve(name) { say("\(name) \($0)") } }
    } while readLine() != nil
  }

  /// At once, although it is no terminal.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  private static func sayJSON(_ children: [DiscoveredChild]) {
    guard let data = try? JSONEncoder().encode(children) else { return }
    say(String(decoding: data, as: UTF8.self))
  }
}
