import Dispatch
import Foundation
import NIOCore
import NIOPosix
import PeerConnection
import Testing
import Wire

@testable import Server

@_silgen_name("unshare") private func unshare(_ flags: Int32) -> Int32

/// A network of the tests' own: threads that it starts, and what they run, are in it. Needs root.
private final class OwnNetwork: @unchecked Sendable {
  private let work = DispatchQueue(label: "own network")
  let group: MultiThreadedEventLoopGroup

  /// CLONE_NEWNET, unshare(2), concerns the calling thread and those that it starts.
  init() throws {
    let made = Mailbox()
    let thread = Thread {
      made.succeeded = unshare(0x4000_0000) == 0
      if made.succeeded { made.group = MultiThreadedEventLoopGroup(numberOfThreads: 1) }
      made.done.signal()
      while let command = made.next() {
        made.succeeded = Self.run(command)
        made.done.signal()
      }
    }
    thread.start()
    made.done.wait()
    group = try #require(made.group)
    mailbox = made
  }

  deinit { mailbox.give(nil) }

  private let mailbox: Mailbox

  private final class Mailbox: @unchecked Sendable {
    let done = DispatchSemaphore(value: 0)
    private let given = DispatchSemaphore(value: 0)
    private var command: [String]?
    var group: MultiThreadedEventLoopGroup?
    var succeeded = false

    func give(_ command: [String]?) {
      self.command = command
      given.signal()
    }

    func next() -> [String]? {
      given.wait()
      return command
    }
  }

  private static func run(_ command: [String]) -> Bool {
    var arguments = command.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var (process, status) = (pid_t(), Int32())
    guard posix_spawnp(&process, command[0], nil, nil, &arguments, environ) == 0 else { return false }
    return waitpid(process, &status, 0) == process && status == 0
  }

  func ip(_ arguments: String) throws {
    mailbox.give(["ip"] + arguments.split(separator: " ").map(String.init))
    mailbox.done.wait()
    try #require(mailbox.succeeded, "ip \(arguments)")
  }
}

@Suite(.enabled(if: getuid() == 0, "network namespaces need root")) struct AddressMonitorTests {
  /// The addresses whenever they change.
  private static func watch(
    _ network: OwnNetwork
  ) async throws -> (monitor: AddressMonitor, changes: AsyncStream<[LocalAddress]>) {
    let (stream, continuation) = AsyncStream.makeStream(of: [LocalAddress].self)
    let loop = network.group.next()
    let box = Box()
    let monitor = try #require(
      await AddressMonitor.open(on: loop) {
        if let addresses = box.monitor?.addresses { continuation.yield(addresses) }
      })
    try await loop.submit { box.monitor = monitor }.get()
    return (monitor, stream)
  }

  private final class Box: @unchecked Sendable {
    var monitor: AddressMonitor?
  }

  private static func text(_ addresses: [LocalAddress]?) -> [String] {
    (addresses ?? []).map { "\($0.ip)\($0.isRunning ? "" : " silent")\($0.isOffered ? "" : " hidden")" }
  }

  @Test(.timeLimit(.minutes(1))) func theKernelTellsOfEveryChange() async throws {
    let network = try OwnNetwork()
    try network.ip("link add card type veth peer name far")
    try network.ip("link set card addrgenmode none")
    try network.ip("addr add 10.77.5.1/24 dev card")
    let (monitor, stream) = try await Self.watch(network)
    var changes = stream.makeAsyncIterator()
    let first = try await network.group.next().submit { monitor.addresses }.get()
    #expect(Self.text(first) == ["10.77.5.1 silent hidden"], "switched off")

    try network.ip("link set card up")
    try network.ip("link set far up")
    #expect(Self.text(await changes.next()) == ["10.77.5.1"])
    try network.ip("addr add fd77:5::1/64 dev card nodad")
    #expect(Self.text(await changes.next()) == ["10.77.5.1", "fd77:5::1"])
    try network.ip("addr change fd77:5::1/64 dev card preferred_lft 0")
    #expect(Self.text(await changes.next()) == ["10.77.5.1", "fd77:5::1 hidden"])
    try network.ip("addr del 10.77.5.1/24 dev card")
    #expect(Self.text(await changes.next()) == ["fd77:5::1 hidden"])
    try network.ip("addr add 10.77.5.7/24 dev card")
    #expect(Self.text(await changes.next()) == ["10.77.5.7", "fd77:5::1 hidden"])
    try network.ip("link set far down")
    #expect(Self.text(await changes.next()).first == "10.77.5.7 silent hidden")
    try network.ip("link delete card")
    var last = await changes.next()
    while last?.isEmpty == false { last = await changes.next() }
    #expect(last?.isEmpty == true)
    try await Self.end(monitor, network)
  }

  /// As when its messages have overrun their buffer: ENOBUFS of netlink(7).
  @Test(.timeLimit(.minutes(1))) func whatWasMissedIsAskedFor() async throws {
    let network = try OwnNetwork()
    try network.ip("link set lo up")
    let (monitor, stream) = try await Self.watch(network)
    var changes = stream.makeAsyncIterator()
    try await network.group.next().submit { monitor.channel }.get()?.close().get()
    try network.ip("addr add 10.77.5.1/24 dev lo")
    #expect(Self.text(await changes.next()).contains("10.77.5.1"))
    try network.ip("addr add 10.77.5.2/24 dev lo")
    #expect(Self.text(await changes.next()).contains("10.77.5.2"))
    try await Self.end(monitor, network)
  }

  private static func end(_ monitor: AddressMonitor, _ network: OwnNetwork) async throws {
    try await network.group.next().submit { monitor.close() }.get()
    try await network.group.shutdownGracefully()
  }
}
