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
  typealias Completion<Value> = (Result<Value, ControlFailure>) -> Void

  /// Called for what the child sends unasked.
  var onPush: (ControlPush) -> Void = { _ in }

  private let loop: any EventLoop
  /// Returns false when the message cannot be sent.
  private let send: (String) -> Bool
  private var commands = PendingCommands()
  private var transfers = TransferReceiver()
  private var waiters: [String: Completion<ControlAnswer>] = [:]
  private var announced: [UInt32: Completion<TransferReceiver.Received>] = [:]
  private lazy var timer = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in self?.handleTimeout() }
  private var isClosed = false

  init(eventLoop: any EventLoop, send: @escaping (String) -> Bool) {
    loop = eventLoop
    self.send = send
  }

  /// Asks the child to do something. `completion` is called once.
  func perform<Command: ControlCommand>(_ command: Command, then completion: @escaping Completion<Command.Reply>) {
    request(command) { result in
      completion(
        result.map { answer in
          guard let reply = answer.reply as? Command.Reply else {
            preconditionFailure("a reply is read as that of its command")
          }
          return reply
        })
    }
  }

  /// The same for a command that is answered with a transfer. `completion` is called once, when all of it is there.
  func fetch<Command: ControlCommand>(
    _ command: Command, then completion: @escaping Completion<TransferReceiver.Received>
  ) where Command.Reply == TransferDocument {
    perform(command) { [weak self] result in
      switch result {
      case .success(let document): self?.begin(document, completion)
      case .failure(let failure): completion(.failure(failure))
      }
    }
  }

  private func request(_ command: some ControlCommand, _ waiter: @escaping Completion<ControlAnswer>) {
    guard !isClosed else { return waiter(.failure(.closed)) }
    let request: ControlRequest
    do throws(ControlError) {
      request = try commands.add(command, now: MonotonicClock.now)
    } catch {
      return waiter(.failure(.notSent))
    }
    guard let id = request.id, send(request.json) else {
      if let id = request.id { commands.remove(id) }
      return waiter(.failure(.notSent))
    }
    waiters[id] = waiter
    schedule()
  }

  func receive(_ message: DataChannelMessage) {
    switch message {
    case .text(let text):
      // What only a newer child says is skipped; a reply that cannot be read times out.
      if let message = try? ControlMessage(json: text, expecting: { commands.command(of: $0) }) {
        follow(message.content)
      }
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
    for waiter in left { waiter(.failure(.closed)) }
    for completion in begun { completion(.failure(.closed)) }
  }

  private func follow(_ content: ControlMessage.Content) {
    switch content {
    case .reply(let id, let answer):
      commands.remove(id)
      waiters.removeValue(forKey: id)?(.success(answer))
    case .refusal(let id, let error):
      guard let id else { return }
      commands.remove(id)
      waiters.removeValue(forKey: id)?(.failure(.refused(error)))
    case .push(let push): onPush(push)
    }
  }

  private func begin(_ document: TransferDocument, _ completion: @escaping Completion<TransferReceiver.Received>) {
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
    for id in commands.handleTimeout(now: now) { waiters.removeValue(forKey: id)?(.failure(.timedOut)) }
    for document in transfers.handleTimeout(now: now) {
      announced.removeValue(forKey: document.transfer)?(.failure(.timedOut))
    }
    schedule()
  }
}
