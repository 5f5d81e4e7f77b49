internal import NIOCore
internal import TURN
internal import Wire

/// The way from one allocation to its server: a 5-tuple of its own. Confined to its event loop.
protocol RelayLink: AnyObject, Sendable {
  /// Whether a datagram of media would leave soon. Over TCP what waits makes everything behind it late.
  var hasRoom: Bool { get }
  /// Sends a message of the client, at the latest at the end of this turn of the loop.
  func send(_ bytes: [UInt8])
  func close()
}

/// What a link reports to its allocation, on the event loop.
struct RelayLinkReceiver: Sendable {
  let received: @Sendable ([UInt8]) -> Void
  /// Once; not after `close`.
  let lost: @Sendable (_ reason: String) -> Void
}

/// Over UDP, from a socket of its own.
///
/// `@unchecked Sendable` because it is confined to its event loop.
final class RelayDatagramLink: RelayLink, @unchecked Sendable {
  private let socket: MediaSocket
  private let server: TransportAddress
  private let destination: SocketAddress
  private let writer = DatagramWriter(usesBatches: System.supportsUDPSegmentationOffload)
  private var isFlushScheduled = false
  private var isClosed = false
  /// As for `PeerHub`.
  private static let fullBufferDelay: TimeAmount = .milliseconds(2)

  private init(_ socket: MediaSocket, _ server: TransportAddress, _ destination: SocketAddress) {
    self.socket = socket
    self.server = server
    self.destination = destination
  }

  /// - Throws: when no socket can be bound, or the server is of a family that this machine has not.
  static func open(
    to server: TransportAddress, marking: MediaMarking, on eventLoop: any EventLoop, receiver: RelayLinkReceiver
  ) async throws -> RelayDatagramLink {
    let socket = try await MediaSocket.bind(ports: 0...0, marking: marking, on: eventLoop) { _, remote in
      remote == server
    } receive: { datagram, _, _ in
      receiver.received(datagram)
    } receivedAll: {
    }
    guard let destination = SocketAddress(server, forIPv6Socket: socket.isIPv6) else {
      await socket.close()
      throw TURNFailure.transportLost("this machine has no IPv6")
    }
    let link = RelayDatagramLink(socket, server, destination)
    // NIO closes a socket on a fatal read error.
    socket.channel.closeFuture.whenComplete { [weak link] _ in
      guard let link, !link.isClosed else { return }
      receiver.lost("the socket was closed")
    }
    return link
  }

  var hasRoom: Bool { true }

  func send(_ bytes: [UInt8]) {
    guard !isClosed else { return }
    writer.write(bytes, to: server, at: destination, through: socket)
    // What is sent within this turn leaves together.
    if !isFlushScheduled { scheduleFlush(in: nil) }
  }

  private func scheduleFlush(in delay: TimeAmount?) {
    isFlushScheduled = true
    let flush = { @Sendable [weak self] in
      guard let self else { return }
      isFlushScheduled = false
      self.flush()
    }
    if let delay {
      socket.channel.eventLoop.scheduleTask(in: delay, flush)
    } else {
      socket.channel.eventLoop.execute(flush)
    }
  }

  private func flush() {
    guard !isClosed else { return }
    writer.flush(through: socket)
    if writer.isWaiting, !isFlushScheduled { scheduleFlush(in: Self.fullBufferDelay) }
  }

  func close() {
    guard !isClosed else { return }
    // The last word is still on its way.
    writer.flush(through: socket)
    isClosed = true
    socket.channel.close(promise: nil)
  }
}
