import ArgumentParser
import Commands
import Glibc
import Rendezvous
import Server
import Wire

/// `cradle-rendezvous status`
struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Shows how many cameras and connections are here.")

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Print one JSON object {names, version, keySHA256?, children, connections, uptimeSeconds}.")
  var json = false

  func run() throws {
    let answer: [UInt8]
    do throws(CommandClientError) {
      answer = try CommandClient.ask(
        path: directories.runtime + "/" + RendezvousServer.socketName, line: Array("{}".utf8), timeoutSeconds: 10)
    } catch {
      throw Failure.failed(Self.text(of: error))
    }
    guard let status = RendezvousStatus(json: answer) else {
      throw Failure.failed("the server's answer cannot be read; is it of another version?")
    }
    if json { return print(String(decoding: answer, as: UTF8.self)) }
    print(
      "\(status.names.joined(separator: ", ")), version \(status.version), up \(Int(saturating: status.uptimeSeconds)) s"
    )
    print("\(Self.count(status.children, "camera")) here, \(Self.count(status.connections, "connection")) in all")
    if let key = status.keySHA256 { print("key-sha256 for children: \(key)") }
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  private static func text(of error: CommandClientError) -> String {
    switch error {
    case .notRunning(let path):
      "the server does not run (nothing listens at \(path)). Start it with `systemctl start cradle-rendezvous`, or name "
        + "its directory with --runtime-directory."
    case .permissionDenied(let path): "no permission to talk to the server (\(path)). Use sudo."
    case .failed(let path, let number): "the server did not answer (\(path)): \(String(cString: strerror(number)))"
    }
  }
}
