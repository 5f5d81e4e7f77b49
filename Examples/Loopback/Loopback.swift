import WebRTC

/// Two peer connections in one process: offer and answer, ICE, DTLS, SRTP, a data channel and ten seconds of video.
///
/// A peer connection reads no clock and no socket. So this program carries the datagrams itself, and lets its time jump
/// from one deadline to the next: the ten seconds are over in a moment.
///
///     swift run --package-path Examples Loopback [PICTURES]
@main
struct Loopback {
  static func main() throws {
    let pictures = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 300
    let sender = try End("sender", .sendOnly, address: "192.0.2.1")
    let receiver = try End("receiver", .receiveOnly, address: "192.0.2.2")
    var world = World(sender: sender, receiver: receiver)

    let offer = try receiver.peer.offer(wantsDataChannel: true, now: world.now)
    let answer = try sender.peer.answer(SessionDescription(parsing: offer.description), now: world.now)
    try receiver.peer.accept(SessionDescription(parsing: answer.description), now: world.now)
    world.run(until: { sender.peer.state == .connected && receiver.peer.state == .connected })

    let channel = try receiver.peer.openDataChannel(DataChannelParameters(label: "greetings"), now: world.now)
    world.run(until: { receiver.openChannels.contains(channel) && sender.openChannels.contains(channel) })
    try receiver.peer.send(.text("hello"), on: channel, now: world.now)
    world.run(until: { !sender.messages.isEmpty })
    print("sender: received the message \(sender.messages)")

    var packetizer = VP8Packetizer()
    for number in 0..<pictures {
      sender.peer.sendVP8(
        picture(number, isKeyFrame: number == 0), packetizer: &packetizer, captureTime: world.now, now: world.now)
      world.run(for: .milliseconds(33))
    }
    world.run(for: .milliseconds(500))
    print("receiver: \(receiver.pictures) of \(pictures) pictures arrived")

    sender.peer.close(now: world.now)
    world.run(until: { receiver.peer.state == .closed })
  }

  /// Stands for what a VP8 encoder makes: a frame header (RFC 6386 section 9.1) and some bytes.
  private static func picture(_ number: Int, isKeyFrame: Bool) -> [UInt8] {
    let header: [UInt8] = isKeyFrame ? [0x10, 0, 0, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0xe0, 0x01] : [0x11, 0, 0]
    return header + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 4000)
  }
}

/// One peer connection and what became of it.
final class End {
  let name: String
  let peer: PeerConnection
  let address: TransportAddress
  private(set) var openChannels: Set<UInt16> = []
  private(set) var messages: [String] = []
  private(set) var pictures = 0

  init(_ name: String, _ direction: MediaDirection, address: String) throws {
    guard let ip = IPAddress(address) else { fatalError("\(address) is no address") }
    self.name = name
    self.address = TransportAddress(ip: ip, port: 5000)
    peer = try PeerConnection.make(video: direction, now: .zero)
    peer.addLocalCandidate(self.address, now: .zero)
  }

  func take(_ event: PeerConnectionEvent) {
    switch event {
    case .stateChanged(let state): print("\(name): \(state)")
    case .dataChannelOpened(let id, _, _): openChannels.insert(id)
    case .dataChannelMessage(_, .text(let text)): messages.append(text)
    case .videoFrame: pictures += 1
    default: break
    }
  }
}

/// Carries datagrams and makes time pass.
struct World {
  let sender: End
  let receiver: End
  private(set) var now: Instant = .zero

  init(sender: End, receiver: End) {
    self.sender = sender
    self.receiver = receiver
  }

  mutating func run(for duration: Duration) {
    let end = now + duration
    while true {
      carry()
      let next = [sender, receiver].compactMap(\.peer.nextDeadline).min() ?? end
      guard next <= end else { break }
      step(to: next)
    }
    now = end
  }

  mutating func run(until condition: () -> Bool) {
    carry()
    while !condition() {
      guard let next = [sender, receiver].compactMap(\.peer.nextDeadline).min(), now < .zero + .seconds(86400) else {
        fatalError("nothing more happens")
      }
      step(to: next)
      carry()
    }
  }

  private mutating func step(to deadline: Instant) {
    // Real timers are no finer.
    now = max(deadline, now + .microseconds(100))
    sender.peer.handleTimeout(now: now)
    receiver.peer.handleTimeout(now: now)
  }

  /// Hands out everything that waits at either end, until both are silent.
  private func carry() {
    var isSilent = false
    while !isSilent {
      isSilent = true
      for (end, other) in [(sender, receiver), (receiver, sender)] {
        while let output = end.peer.poll() {
          isSilent = false
          switch output {
          case .transmit(let datagram, let from, let to):
            other.peer.handle(datagram: datagram, from: from, to: to, now: now)
          case .event(let event): end.take(event)
          }
        }
      }
    }
  }
}
