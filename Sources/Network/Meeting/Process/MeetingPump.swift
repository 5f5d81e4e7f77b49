internal import Glibc
internal import Linux
internal import Wire

/// The thread beside the process of one connection: hands commands to it and takes what it reports, all of which may be lies.
struct MeetingPump<Order: Codable & Sendable, Incoming: MeetingIncoming>: Sendable {
  typealias Event = MeetingEvent<Incoming>

  let program: MeetingProgram
  let errand: MeetingErrand
  let mailbox: MeetingMailbox<Order, Incoming>
  /// Notifies the event loop of events.
  let announce: @Sendable () -> Void
  /// What the server sent cost more than it may, for this reason. Also where the event loop wants to know nothing more.
  let blame: @Sendable (String) -> Void

  /// The process gives a sign of life every five seconds, but for a look-up of a name, which takes half a minute at most.
  private static var patience: Duration { .seconds(60) }
  /// It needs two seconds to say goodbye.
  private static var farewellPatience: Duration { .seconds(4) }
  /// What it has not taken yet. More is lost, as messages at a meeting place may be.
  private static var mostWaiting: Int { 2 << 20 }

  func run() {
    do throws(ProgramStart.Failure) {
      let process = try MeetingProcess(program)
      if let last = serve(process) { post(last) }
    } catch {
      post(.closed("its connection process cannot be started: \(String(cString: strerror(error.number)))"))
    }
  }

  private func post(_ event: Event) {
    if case .tooCostly(let reason) = event { blame(reason) }
    if mailbox.post(event) { announce() }
  }

  /// - Returns: the last event; nil: nobody wants to know any more.
  private func serve(_ process: borrowing MeetingProcess) -> Event? {
    var waiting = MeetingFrame.bytes(errand)[...]
    var reader = MeetingFrameReader()
    var (silentSince, usedBefore) = (SuspendingClock.now, Duration.zero)
    /// A machine with little time for it gives up before the process has computed for as long as it may.
    func hasComputedLong() -> Bool { process.processorTime - usedBefore > ProcessorBudget.longest }
    var leavingSince: SuspendingClock.Instant?
    while true {
      let (orders, ending) = mailbox.takeOrders()
      for order in orders where waiting.count < Self.mostWaiting {
        waiting += MeetingFrame.bytes(MeetingRequest.order(order))
      }
      switch ending {
      case .none: break
      case .abandon: return hasComputedLong() ? .tooCostly(MeetingProcess.tooCostly) : nil
      case .leave(let farewell):
        if leavingSince == nil {
          leavingSince = .now
          waiting += MeetingFrame.bytes(MeetingRequest.leave(farewell))
        }
      }
      guard Self.send(&waiting, to: process.descriptor) else {
        return leavingSince == nil ? Self.end(of: process) : .left
      }
      var buffer = [UInt8](repeating: 0, count: 64 * 1024)
      let count = recv(process.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        (silentSince, usedBefore) = (.now, process.processorTime)
        reader.add(buffer[..<count])
        do throws(WireError) {
          for frame in try reader.frames() where !frame.isEmpty {
            let event = try Event(frame: frame)
            if event.isLast { return event }
            post(event)
          }
        } catch {
          return .closed("its connection process says what cannot be read")
        }
      } else if count == 0 || ![EAGAIN, EINTR].contains(errno) {
        return leavingSince == nil ? Self.end(of: process) : .left
      } else {
        if let leavingSince, SuspendingClock.now - leavingSince > Self.farewellPatience { return .left }
        if SuspendingClock.now - silentSince > Self.patience {
          return hasComputedLong()
            ? .tooCostly(MeetingProcess.tooCostly) : .closed("its connection process hangs")
        }
        // How exactly patience is measured.
        let pause: Duration = leavingSince == nil ? .seconds(20) : .milliseconds(200)
        let events = Int16(POLLIN) | (waiting.isEmpty ? 0 : Int16(POLLOUT))
        _ = mailbox.wait(process.descriptor, for: events, until: .now + pause)
      }
    }
  }

  private static func end(of process: borrowing MeetingProcess) -> Event {
    let ending = process.ending()
    return ending.isTooCostly ? .tooCostly(ending.words) : .closed(ending.words)
  }

  /// - Returns: whether the process still reads.
  private static func send(_ waiting: inout ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    while !waiting.isEmpty {
      let count = waiting.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return [EAGAIN, EINTR].contains(errno) }
      waiting = waiting.dropFirst(count)
    }
    waiting = []
    return true
  }
}
