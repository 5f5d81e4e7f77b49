import Foundation
import Testing

@Suite struct ReservedPortTests {
  /// A port that the system gives away, or that another test may have, is taken now and then before its server starts.
  @Test func nobodyElseGetsAReservedPort() throws {
    let ports = try (0..<50).map { _ in try ReservedPort.next() }
    #expect(Set(ports).count == ports.count)
    let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
    let first = try #require(range.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) })
    #expect(ports.allSatisfy { $0 < first })
    // The tests in Python look for theirs where only these are left.
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
      path: "python"
    ).path
    let script = """
      import random
      from cradle import processes
      free, taken = processes.reserved_port(), \(ports)
      chosen = iter(taken + list(range(free, free + 500)))
      random.randrange = lambda *_: next(chosen)
      print(processes.reserved_port() not in taken + [free])
      """
    let (output, error, _) = try ChildProcess.run("PYTHONPATH=\(package)", ["python3", "-c", script])
    #expect(output == "True\n", Comment(rawValue: error))
  }
}
