internal import CLinux
internal import Glibc
public import NIOCore
internal import NIOPosix

/// The daemon's UNIX socket for commands by the machine's administrator: one JSON object per line, in each direction.
///
/// The file's mode and owner decide who may open it; there is no other authentication.
public final class CommandSocket: Sendable {
  /// Takes one line and returns the line to reply with. Called on the event loop.
  public typealias Responder = @Sendable (_ line: [UInt8]) -> EventLoopFuture<[UInt8]>

  /// At once; what each asks for takes a few milliseconds of the loop, and that comes a line at a time.
  private static let maximumConnections = 32

  private let channel: any Channel
  private let path: String
  /// Held until the socket is gone.
  private let claim: SocketClaim

  private init(channel: any Channel, path: String, claim: SocketClaim) {
    self.channel = channel
    self.path = path
    self.claim = claim
  }

  /// Binds `path`, mode 0660. Replaces a socket file left by a dead daemon, and no other.
  ///
  /// - Throws: `SocketClaim.Problem` when another daemon has it, or what the system throws.
  public static func start(
    path: String, on group: any EventLoopGroup, responder: @escaping Responder
  ) async throws -> CommandSocket {
    let claim = try SocketClaim(path)
    unlink(path)
    // The file must never be accessible to others, not even until chmod.
    let mask = umask(0o117)
    defer { umask(mask) }
    let gate = ConnectionGate(limit: maximumConnections)
    let channel = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard gate.enter() else { throw TooManyConnections() }
          channel.closeFuture.whenComplete { _ in gate.leave() }
          try channel.pipeline.syncOperations.addHandler(CommandHandler(responder: responder))
        }
      }
      .bind(unixDomainSocketPath: path).get()
    return CommandSocket(channel: channel, path: path, claim: claim)
  }

  public func stop() async {
    try? await channel.close().get()
    unlink(path)
  }
}

/// Answers one line after the other: the next is taken in a later turn of the loop, when the client has taken the last answer, and
/// no more is read until then.
private final class CommandHandler: ChannelInboundHandler, ChannelOutboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State {
    case listening, answering, closed
  }

  /// The longest command holds a token's name and permissions.
  private static let maximumLineBytes = 16 * 1024
  /// How long a client may take for an answer.
  private static let patience: TimeAmount = .seconds(10)

  private let responder: CommandSocket.Responder
  private var state = State.listening
  private var pending = ByteBuffer()
  private var isReadDue = false
  private var timer: Scheduled<Void>?

  init(responder: @escaping CommandSocket.Responder) {
    self.responder = responder
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    pending.writeBuffer(&bytes)
    advance(context)
  }

  func read(context: ChannelHandlerContext) {
    if case .answering = state { isReadDue = true } else { context.read() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    state = .closed
    timer?.cancel()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func advance(_ context: ChannelHandlerContext) {
    guard case .listening = state else { return }
    if let end = pending.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
      let line = pending.readBytes(length: end - pending.readerIndex) ?? []
      pending.moveReaderIndex(forwardBy: 1)
      state = .answering
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      return responder(line).hop(to: context.eventLoop).whenComplete { answer in
        let (handler, context) = bound.value
        switch answer {
        case .success(let answer): handler.send(answer, context)
        case .failure: context.close(promise: nil)
        }
      }
    }
    if pending.readableBytes > Self.maximumLineBytes { return context.close(promise: nil) }
    pending.discardReadBytes()
    if isReadDue {
      isReadDue = false
      context.read()
    }
  }

  private func send(_ answer: [UInt8], _ context: ChannelHandlerContext) {
    guard case .answering = state else { return }
    var buffer = context.channel.allocator.buffer(capacity: answer.count + 1)
    buffer.writeBytes(answer)
    buffer.writeInteger(UInt8(ascii: "\n"))
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { bound.value.1.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(buffer)).whenComplete { _ in
      bound.value.0.timer?.cancel()
      // Others' turns come between.
      bound.eventLoop.execute {
        let (handler, context) = bound.value
        guard case .answering = handler.state else { return }
        handler.state = .listening
        handler.advance(context)
      }
    }
  }
}

/// Why the running daemon could not be asked.
public enum CommandClientError: Error, Sendable {
  /// Nothing listens at the path: the daemon is not running, or uses another runtime directory.
  case notRunning(path: String)
  /// The file's mode does not allow access.
  case permissionDenied(path: String)
  case failed(path: String, errno: Int32)
}

/// The commands' end of the socket. Blocking, for short-lived programs.
public enum CommandClient {
  /// Sends one line and waits for one line, at most `timeoutSeconds`.
  public static func ask(
    path: String, line: [UInt8], timeoutSeconds: Int = 10
  ) throws(CommandClientError) -> [UInt8] {
    let descriptor = try connect(path: path, timeoutSeconds: timeoutSeconds)
    defer { close(descriptor) }
    try sendAll(line + [UInt8(ascii: "\n")], to: descriptor, path: path)
    return try receiveLine(from: descriptor, path: path)
  }

  /// A connected socket, which the caller closes.
  static func connect(path: String, timeoutSeconds: Int) throws(CommandClientError) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw .failed(path: path, errno: errno) }
    do throws(CommandClientError) {
      try connect(descriptor, path: path, timeoutSeconds: timeoutSeconds)
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func connect(
    _ descriptor: Int32, path: String, timeoutSeconds: Int
  ) throws(CommandClientError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path) - 1
    guard path.utf8.count <= room else { throw .failed(path: path, errno: ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    var time = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if status != 0 {
      switch errno {
      case ENOENT, ECONNREFUSED: throw .notRunning(path: path)
      case EACCES, EPERM: throw .permissionDenied(path: path)
      default: throw .failed(path: path, errno: errno)
      }
    }
  }

  private static func sendAll(
    _ bytes: [UInt8], to descriptor: Int32, path: String
  ) throws(CommandClientError) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw .failed(path: path, errno: errno)
      }
      sent += count
    }
  }

  private static func receiveLine(from descriptor: Int32, path: String) throws(CommandClientError) -> [UInt8] {
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .failed(path: path, errno: count < 0 ? errno : ECONNRESET) }
      answer += chunk.prefix(count)
      if let end = answer.firstIndex(of: UInt8(ascii: "\n")) { return Array(answer[..<end]) }
    }
  }
}
