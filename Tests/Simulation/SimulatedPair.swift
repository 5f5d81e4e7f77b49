public import PeerConnection
internal import RTPReceiving
public import SDP
public import TestSupport
public import Wire

/// A parent that offers and a child that answers, in fake time over a seeded network.
public final class SimulatedPair {
  public enum Side { case parent, child }

  private struct InFlight {
    var arrives: Instant
    var order: Int
    var datagram: [UInt8]
    var from: TransportAddress
    var to: TransportAddress
  }

  public private(set) var now: Instant = .zero + .seconds(10)
  public let parent: PeerConnection
  public let child: PeerConnection
  private var wayToParent = Way()
  private var wayToChild = Way()
  public private(set) var parentEvents: [PeerConnectionEvent] = []
  public private(set) var childEvents: [PeerConnectionEvent] = []
  /// Datagrams as they arrived at each end.
  public private(set) var arrivedAtParent: [[UInt8]] = []
  public private(set) var arrivedAtChild: [[UInt8]] = []
  /// Everything that both ends ever handed out.
  public private(set) var outputCount = 0
  private var inFlight: [InFlight] = []
  private var nextArrival: Instant = .distantFuture
  private var order = 0
  private var random: SeededGenerator
  public let parentAddress = TransportAddress(ip: .v4(0xc000_0201), port: 5000)
  public let childAddress = TransportAddress(ip: .v4(0xc000_0202), port: 6000)
  /// Where the parent is seen from outside; only what is sent there reaches it. Nil: there is no NAT.
  public var natMapping: TransportAddress?
  /// The parent's machine is suspended: it sends nothing and what comes is lost.
  public var isParentSuspended = false
  /// Hears of every datagram that is sent, also of those that the network loses.
  public var onSend: ((_ from: Side, _ datagram: [UInt8]) -> Void)?
  /// Take pictures and sound at the child, once they are there.
  public var camera: TestCamera?
  public var microphone: TestMicrophone?
  public private(set) var viewer = TestViewer()
  /// Where the parent's sound is heard; nil: nowhere.
  public var speaker: TestSpeaker?
  public private(set) var screen = TestScreen()
  /// What lip sync leaves: a picture is shown so much before its sound.
  public static let lipSyncTolerance = Duration.milliseconds(20)

  /// - Parameters:
  ///   - childRandom: what the child draws its numbers from, when the seed is not to decide it.
  ///   - configure: changes the configuration of a side.
  public init(
    seed: UInt64 = 1, parentSecure: any SecureTransports = FakeSecure(seed: 1),
    childSecure: any SecureTransports = FakeSecure(seed: 2), hashes: any Hashes = TestHashes(),
    childRandom: (any RandomNumberGenerator & Sendable)? = nil,
    configure: (Side, inout PeerConnectionConfiguration) -> Void = { _, _ in }
  ) {
    random = SeededGenerator(seed: seed)
    func make(
      _ side: Side, _ media: [LocalMedia], _ secure: any SecureTransports,
      _ random: any RandomNumberGenerator & Sendable
    ) -> PeerConnection {
      var configuration = PeerConnectionConfiguration(media: media)
      configure(side, &configuration)
      return PeerConnection(
        configuration: configuration, secure: secure, hashes: hashes, random: random,
        wallClock: WallClockReference(instant: .zero, unixNanoseconds: Self.unixNanosecondsAtZero))
    }
    parent = make(.parent, Self.media(.receiveOnly, ssrc: 100), parentSecure, SeededGenerator(seed: seed &* 2 &+ 1))
    child = make(
      .child, Self.media(.sendOnly, ssrc: 200), childSecure, childRandom ?? SeededGenerator(seed: seed &* 2 &+ 2))
    parent.addLocalCandidate(parentAddress, now: now)
    child.addLocalCandidate(childAddress, now: now)
  }

  /// What the wall clocks of both say at `Instant.zero`, as long as nobody steps them.
  public static let unixNanosecondsAtZero: Int64 = 1_700_000_000_000_000_000

  public static func media(_ direction: MediaDirection, ssrc: UInt32) -> [LocalMedia] {
    let extensions = [
      RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC, RTPHeaderExtensionURI.playoutDelay,
    ]
    return [
      LocalMedia(
        kind: .video, direction: direction, codecs: [.vp8, .rtx], headerExtensions: extensions, ssrc: ssrc,
        rtxSSRC: ssrc + 1, cname: "test", streamID: "cradle", trackID: "video"),
      LocalMedia(
        kind: .audio, direction: direction, codecs: [.opus], headerExtensions: extensions, ssrc: ssrc + 2,
        cname: "test", streamID: "cradle", trackID: "audio"),
    ]
  }

  /// Both ways at once; each has its own below.
  public var link: Link {
    get { toChild }
    set { (toChild, toParent) = (newValue, newValue) }
  }

  public var toChild: Link {
    get { wayToChild.link }
    set { wayToChild.link = newValue }
  }

  public var toParent: Link {
    get { wayToParent.link }
    set { wayToParent.link = newValue }
  }

  /// Offer and answer, as if by WHEP.
  public func exchangeDescriptions() throws {
    let offer = try parent.offer(wantsDataChannel: true, now: now)
    let answer = try child.answer(try SessionDescription(parsing: offer.description), now: now)
    try parent.accept(try SessionDescription(parsing: answer.description), now: now)
    drain()
  }

  /// Lets the world run, from one event to the next.
  public func run(for duration: Duration) {
    let end = now + duration
    while now < end { step(until: end) }
  }

  /// Runs until `condition` holds; false if it does not within `limit`.
  public func run(until condition: () -> Bool, limit: Duration) -> Bool {
    let end = now + limit
    while now < end, !condition() { step(until: end) }
    return condition()
  }

  /// Time passes while both machines sleep; what was under way arrives when they wake.
  public func sleep(for duration: Duration) {
    now += duration
    turn()
  }

  /// Puts a datagram on the wire as if somebody else had sent it.
  public func inject(_ datagram: [UInt8], to side: Side, from source: TransportAddress? = nil) {
    switch side {
    case .child:
      child.handle(datagram: datagram, from: source ?? parentAddress, to: childAddress, now: now)
    case .parent:
      parent.handle(datagram: datagram, from: source ?? childAddress, to: parentAddress, now: now)
    }
    drain()
  }

  public var isConnected: Bool { parent.state == .connected && child.state == .connected }

  private func step(until end: Instant) {
    var next = nextArrival
    for deadline in [
      isParentSuspended ? nil : parent.nextDeadline, child.nextDeadline, camera?.nextAt, microphone?.nextAt,
    ] {
      if let deadline { next = min(next, deadline) }
    }
    // Real timers are no finer.
    now = min(end, max(next, now + .milliseconds(1)))
    turn()
  }

  /// What is due at `now`.
  private func turn() {
    deliver()
    camera?.sendIfDue(to: child, now: now)
    microphone?.sendIfDue(to: child, now: now)
    if !isParentSuspended, let deadline = parent.nextDeadline, deadline <= now { parent.handleTimeout(now: now) }
    if let deadline = child.nextDeadline, deadline <= now { child.handleTimeout(now: now) }
    drain()
  }

  private func deliver() {
    guard nextArrival <= now else { return }
    let due = inFlight.filter { $0.arrives <= now }.sorted { ($0.arrives, $0.order) < ($1.arrives, $1.order) }
    inFlight.removeAll { $0.arrives <= now }
    nextArrival = inFlight.reduce(.distantFuture) { min($0, $1.arrives) }
    for item in due {
      if item.to == childAddress {
        arrivedAtChild.append(item.datagram)
        child.handle(datagram: item.datagram, from: item.from, to: childAddress, now: now)
      } else if item.to == natMapping ?? parentAddress {
        guard !isParentSuspended else { continue }
        arrivedAtParent.append(item.datagram)
        parent.handle(datagram: item.datagram, from: item.from, to: parentAddress, now: now)
      }
    }
  }

  public func drain() {
    while let output = parent.poll() {
      outputCount += 1
      switch output {
      case .transmit(let datagram, _, let to):
        onSend?(.parent, datagram)
        send(datagram, over: &wayToChild, natMapping ?? parentAddress, to)
      case .event(let event): take(parentEvent: event)
      }
    }
    while let output = child.poll() {
      outputCount += 1
      switch output {
      case .transmit(let datagram, _, let to):
        onSend?(.child, datagram)
        send(datagram, over: &wayToParent, childAddress, to)
      case .event(let event):
        switch event {
        case .keyFrameRequested: camera?.noteRequest(now: now)
        case .targetBitrateChanged(let kbps): camera?.noteTarget(kbps: kbps)
        default: break
        }
        childEvents.append(event)
      }
    }
  }

  /// As the parent does it.
  private func show(_ frame: ReceivedVideoFrame) {
    guard let picture = TestPicture(bytes: frame.payload) else { return }
    let delay = speaker?.outputDelay
    parent.setSoundOutputDelay(delay)
    var hold = parent.playoutHold(for: frame, now: now)
    if let delay, let lag = parent.soundLag(of: frame, soundOutputDelay: delay, now: now) {
      hold = max(lag - Self.lipSyncTolerance, .zero)
    }
    screen.show(picture.number, at: now + hold)
  }

  private func take(parentEvent event: PeerConnectionEvent) {
    switch event {
    case .videoFrame(let frame):
      viewer.take(frame, capturedAt: parent.localCaptureTime(of: frame), now: now)
      show(frame)
    case .audio(let audio):
      viewer.take(audio)
      speaker?.take(audio, now: now)
    default: parentEvents.append(event)
    }
  }

  private func send(_ datagram: [UInt8], over way: inout Way, _ from: TransportAddress, _ to: TransportAddress) {
    for arrives in way.arrivals(of: datagram.count, now: now, random: &random) {
      order += 1
      inFlight.append(InFlight(arrives: arrives, order: order, datagram: datagram, from: from, to: to))
      nextArrival = min(nextArrival, arrives)
    }
  }
}
