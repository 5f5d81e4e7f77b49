import Control
import Foundation
import Testing
import Wire

@testable import Child
@testable import Linux

/// A service manager's end: a datagram socket as sd_notify(3) has it.
private final class NotifiedSocket {
  let name: String
  private let descriptor: Int32
  private let path: String?

  /// `name` as in NOTIFY_SOCKET: a path, or "@name".
  init(_ name: String) throws {
    self.name = name
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    path = bytes[0] == UInt8(ascii: "@") ? nil : name
    if path == nil { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(2 + bytes.count)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    try #require(status == 0, "bind \(name): \(String(cString: strerror(errno)))")
  }

  deinit {
    close(descriptor)
    if let path { unlink(path) }
  }

  /// The next datagram; nil when none waits.
  func receive() -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
  }
}

struct ServiceManagerTests {
  private func make(_ variables: [String: String]) -> ServiceManager? {
    ServiceManager(environment: { variables[$0] })
  }

  @Test func withoutASocketNobodyIsTold() {
    #expect(make([:]) == nil)
    #expect(make(["WATCHDOG_USEC": "1000000"]) == nil)
    for wrong in ["", "@", "/", "relative", "vsock:2:1234", "/" + String(repeating: "x", count: 200)] {
      #expect(make(["NOTIFY_SOCKET": wrong]) == nil, "\(wrong)")
    }
  }

  @Test(arguments: ["@cradle-test-\(UUID().uuidString)", "/tmp/cradle-test-\(UUID().uuidString)"])
  func whatIsToldArrivesAsOneDatagram(name: String) throws {
    let socket = try NotifiedSocket(name)
    let manager = try #require(make(["NOTIFY_SOCKET": name]))
    #expect(manager.watchdogLimit == nil)
    #expect(manager.notify(.ready, .status("2 viewers")))
    #expect(socket.receive() == "READY=1\nSTATUS=2 viewers")
    #expect(manager.notify(.alive))
    #expect(socket.receive() == "WATCHDOG=1")
    #expect(manager.notify(.stopping))
    #expect(socket.receive() == "STOPPING=1")
    manager.notifyFailure("no port")
    #expect(socket.receive() == "STATUS=no port")
    #expect(socket.receive() == nil)
  }

  /// What a camera calls itself must not become an order to the service manager.
  @Test func aLineBreakInTheStatusBeginsNoOtherAssignment() throws {
    let socket = try NotifiedSocket("@cradle-test-\(UUID().uuidString)")
    let manager = try #require(make(["NOTIFY_SOCKET": socket.name]))
    manager.notify(.status("camera\nMAINPID=1\r\nREADY=1\u{85}\u{2028}end"))
    #expect(socket.receive() == "STATUS=camera MAINPID=1 READY=1  end")
  }

  /// A service manager that hangs, or has gone, must not stop the sound.
  @Test func nobodyReadsAndNothingWaits() throws {
    let name = "@cradle-test-\(UUID().uuidString)"
    let manager = try #require(make(["NOTIFY_SOCKET": name]))
    #expect(!manager.notify(.alive))
    let socket = try NotifiedSocket(name)
    var sent = 0
    while manager.notify(.alive) {
      sent += 1
      try #require(sent < 100_000)
    }
    #expect(sent > 0)
    #expect(socket.receive() == "WATCHDOG=1")
    #expect(manager.notify(.alive))
  }

  @Test func theWatchdogIsForTheProcessThatIsMeant() {
    let socket = ["NOTIFY_SOCKET": "@cradle-test", "WATCHDOG_USEC": "20000000"]
    let limit = { (more: [String: String]) in make(socket.merging(more) { $1 })?.watchdogLimit }
    #expect(limit([:]) == .seconds(20))
    #expect(limit(["WATCHDOG_PID": "\(getpid())"]) == .seconds(20))
    #expect(limit(["WATCHDOG_PID": "1"]) == nil)
    #expect(limit(["WATCHDOG_USEC": "0"]) == nil)
    #expect(limit(["WATCHDOG_USEC": "soon"]) == nil)
  }

  @Test func theStatusTellsHowManyWatchAndHowEachDeviceIs() {
    let camera = CameraDocument(id: "cot", name: "C920", active: true, state: .running)
    var state = NodeState(
      time: .zero, lights: [], lullaby: LullabyDocument(state: .stopped, volume: 30, loop: false),
      cameras: [camera], talk: TalkDocument(holder: nil), viewers: [],
      microphone: DeviceDocument(state: .running, name: "Loopback"),
      speaker: DeviceDocument(state: .missing, name: "no such card"))
    #expect(ServiceStatus.text(state) == "0 viewers; camera cot running, microphone running, speaker missing")
    state.viewers = [ViewerDocument(id: "1", name: "Anna", permissions: ["view"], since: 0)]
    #expect(ServiceStatus.text(state) == "1 viewer; camera cot running, microphone running, speaker missing")
  }
}
