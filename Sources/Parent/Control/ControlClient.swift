public import Control
internal import Frames
internal import Messages
internal import NIOCore
internal import SCTP
internal import Server
internal import Wire

/// Why a command failed.
public enum ControlFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The child refused it.
  case refused(ControlError)
  case timedOut
  /// The channel closed first.
  case closed
  /// The child's picture did not arrive as announced.
  case transfer(TransferError)
  /// Too many commands are waiting for their replies.
  case notSent

  public var description: String {
    switch self {
    case .refused(let error):
      switch error.code {
      case .notPermitted: "this computer may not do that: \(error.message)"
      case .unknownCommand: "the camera does not know this command; is its program older?"
      case .badMessage, .badParameters, .unavailable, .busy, .internal: error.message
      }
    case .timedOut: "the camera did not answer in time"
    case .closed: "the connection to the camera ended before it answered"
    case .transfer: "what the camera sent did not arrive whole"
    case .notSent: "the command could not be sent; try again"
    }
  }
}

/// The parent's end of the `control` channel: commands and their replies, and what the child sends unasked.
/// interfaces/wire.md, "Data channel". Confined to the event loop.
final class ControlClient {
  typealias Completion = (Result<ControlReply, ControlFailure>) -> Void
  typealias TransferCompletion = (Result<TransferReceiver.Received, ControlFailure>) -> Void

  private enum Waiter {
    case reply(Completion)
    case transfer(TransferCompletion)

    func fail(_ failure: ControlFailure) {
      switch self {
      case .reply(let completion): completion(.failure(failure))
      case .transfer(let completion): completion(.failure(failure))
      }
    }
  }

  /// Called for what the child sends unasked.
  var onPush: (ControlPush) -> Void = { _ in }

  private let loop: any EventLoop
  /// Returns false when the message cannot be sent.
  private let send: (String) -> Bool
  private var commands = PendingCommands()
  private var transfers = TransferReceiver()
  private var waiters: [String: Waiter] = [:]
  private var announced: [UInt32: TransferCompletion] = [:]
  private lazy var timer = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in self?.handleTimeout() }
  private var isClosed = false

  init(eventLoop: any EventLoop, send: @escaping (String) -> Bool) {
    loop = eventLoop
    self.send = send
  }

  /// Asks the child to do something. `completion` is called once.
  func request(_ command: ControlCommand, then completion: @escaping Completion) {
    request(command, .reply(completion))
  }

  /// Asks for a still. `completion` is called once, when all of it is there.
  func screenshot(camera: String?, quality: Int?, then completion: @escaping TransferCompletion) {
    request(.screenshotTake(camera: camera, quality: quality), .transfer(completion))
  }

  /// Asks for a piece of a recording. `completion` is called once, when all of the piece is there.
  func recording(id: String, offset: Int, then completion: @escaping TransferCompletion) {
    request(.recordingsRead(id: id, offset: offset), .transfer(completion))
  }

  private func request(_ command: ControlCommand, _ waiter: Waiter) {
    guard !isClosed else { return waiter.fail(.closed) }
    let request: ControlRequest
    do throws(ControlError) {
      request = try commands.add(command, now: MonotonicClock.now)
    } catch {
      return waiter.fail(.notSent)
    }
    guard let id = request.id, send(request.json) else {
      if let id = request.id { commands.remove(id) }
      return waiter.fail(.notSent)
    }
    waiters[id] = waiter
    schedule()
  }

  func receive(_ message: DataChannelMessage) {
    switch message {
    case .text(let text):
      // What only a newer child says is skipped; a reply that cannot be read times out.
      if let message = try? ControlMessage(json: text, expecting: { commands.name(of: $0) }) { follow(message.content) }
    case .binary(let bytes):
      receivePiece(bytes)
    }
    schedule()
  }

  /// The channel is gone: fails every command that still waits.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    timer.cancel()
    let (left, begun) = (waiters.values, announced.values)
    (waiters, announced) = ([:], [:])
    for waiter in left { waiter.fail(.closed) }
    for completion in begun { completion(.failure(.closed)) }
  }

  private func follow(_ content: ControlMessage.Content) {
    switch content {
    case .reply(let id, let reply):
      commands.remove(id)
      switch (waiters.removeValue(forKey: id), reply) {
      case (.reply(let completion)?, _): completion(.success(reply))
      case (.transfer(let completion)?, .transfer(let document)): begin(document, completion)
      case (.transfer(let completion)?, _): completion(.failure(.transfer(.stray)))
      case (nil, _): break
      }
    case .refusal(let id, let error):
      guard let id else { return }
      commands.remove(id)
      waiters.removeValue(forKey: id)?.fail(.refused(error))
    case .push(let push): onPush(push)
    }
  }

  private func begin(_ document: TransferDocument, _ completion: @escaping TransferCompletion) {
    do throws(TransferError) {
      try transfers.begin(document, now: MonotonicClock.now)
      announced[document.transfer] = completion
    } catch {
      completion(.failure(.transfer(error)))
    }
  }

  private func receivePiece(_ bytes: [UInt8]) {
    do throws(TransferError) {
      guard let received = try transfers.receive(bytes, now: MonotonicClock.now) else { return }
      announced.removeValue(forKey: received.document.transfer)?(.success(received))
    } catch {
      // A piece of a transfer that was given up is ignored; one that is too long fails its transfer.
      var reader = ByteReader(bytes)
      guard error == .tooLong, let number = try? reader.readUInt32() else { return }
      announced.removeValue(forKey: number)?(.failure(.transfer(error)))
    }
  }

  private func schedule() {
    timer.set(isClosed ? nil : [commands.nextDeadline, transfers.nextDeadline].compactMap(\.self).min())
  }

  private func handleTimeout() {
    let now = MonotonicClock.now
    for id in commands.handleTimeout(now: now) { waiters.removeValue(forKey: id)?.fail(.timedOut) }
    for document in transfers.handleTimeout(now: now) {
      announced.removeValue(forKey: document.transfer)?(.failure(.timedOut))
    }
    schedule()
  }
}
