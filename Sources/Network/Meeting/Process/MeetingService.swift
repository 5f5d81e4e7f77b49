internal import Glibc
internal import Linux
internal import Wire

/// The process of one connection, from inside. Its standard input is the socket to the process that started it; when that
/// closes, it ends.
public enum MeetingService {
  private static let socket = STDIN_FILENO

  /// If this process has been started to serve a connection, does that and does not return. To be called before anything
  /// else.
  public static func runIfAsked() {
    guard CommandLine.arguments.dropFirst() == [MeetingProgram.argument] else { return }
    var status = stat()
    guard fstat(socket, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
    // A service manager that stops a service signals all its processes; the one that started this one says goodbye first.
    for number in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { signal(number, SIG_IGN) }
    ProcessConfinement.apply(name: MeetingProgram.argument)
    let budget = ProcessorBudget()
    var reader = MeetingFrameReader()
    var frames: [ArraySlice<UInt8>] = []
    guard let errand = try? readErrand(&reader, &frames) else { end() }
    switch errand {
    case .mqtt(let settings):
      serve(reader, frames) { MQTTService(settings: settings, mailbox: $0, announce: $1).run(within: budget) }
    case .xmpp(let place, let resource):
      serve(reader, frames) {
        XMPPService(place: place, resource: resource, mailbox: $0, announce: $1).run(within: budget)
      }
    }
    end()
  }

  private static func end() -> Never { _exit(0) }

  private static func readErrand(
    _ reader: inout MeetingFrameReader, _ rest: inout [ArraySlice<UInt8>]
  ) throws(WireError) -> MeetingErrand {
    while rest.isEmpty {
      read(into: &reader)
      rest = try reader.frames()
    }
    return try MeetingFrame.value(in: rest.removeFirst())
  }

  /// Waits. The end of the socket ends the process.
  private static func read(into reader: inout MeetingFrameReader) {
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    let count = Glibc.read(socket, &buffer, buffer.count)
    if count > 0 {
      reader.add(buffer[..<count])
    } else if count == 0 || errno != EINTR {
      end()
    }
  }

  private static func serve<Order: Codable & Sendable, Incoming: MeetingIncoming>(
    _ reader: MeetingFrameReader, _ frames: [ArraySlice<UInt8>],
    run: (_ mailbox: MeetingMailbox<Order, Incoming>, _ announce: @escaping @Sendable () -> Void) -> Void
  ) {
    let mailbox = MeetingMailbox<Order, Incoming>()
    let orders = WorkerThread(name: "orders") {
      var (reader, frames) = (reader, frames)
      while true {
        for frame in frames {
          switch try? MeetingFrame.value(MeetingRequest<Order>.self, in: frame) {
          case .order(let order): mailbox.order(order)
          case .leave(let farewell): mailbox.end(.leave(farewell))
          case nil: end()
          }
        }
        read(into: &reader)
        guard let next = try? reader.frames() else { end() }
        frames = next
      }
    }
    withExtendedLifetime(orders) {
      run(mailbox) {
        let events = mailbox.takeEvents()
        write(events.isEmpty ? MeetingFrame.signOfLife : events.flatMap { MeetingFrame.bytes($0) })
      }
    }
  }

  /// Waits until the other process has taken it.
  private static func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(socket, $0.baseAddress, $0.count) }
      guard count > 0 else {
        if errno == EINTR { continue }
        end()
      }
      rest = rest.dropFirst(count)
    }
  }
}
