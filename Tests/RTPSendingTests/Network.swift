import RTP
import RTPSending
import TestSupport
import Wire

/// A path with one bottleneck and a queue before it, in fake time.
struct Bottleneck {
  var bitsPerSecond: Double
  /// What the queue holds at most; more is lost.
  var queueMilliseconds = 500.0
  var delay = Duration.milliseconds(5)
  /// What passes at once after a pause, as through `tbf`.
  var burstBytes = 0.0
  /// Random loss, 0...1.
  var loss = 0.0
  /// Loss in runs, besides `loss`.
  var bursts: GilbertLoss?
  /// Extra delay that reorders nothing.
  var jitterMilliseconds = 0.0
  /// Nothing gets through before this: a machine that does not schedule, a radio that sleeps.
  var stalledUntil = Instant.zero
  var isDown = false
  /// What is over this limit is dropped, before the queue.
  var policer: Policer?
  var pie: PIE?
  /// What arrives within such a time is delivered together at its end: a radio that sleeps.
  var batch: Duration?
  /// What is sent within such a time leaves together at its end.
  var gate: Duration?
  private var free = Instant.zero
  /// Nothing overtakes what went before it.
  var lastArrival = Instant.zero

  init(bitsPerSecond: Double) {
    self.bitsPerSecond = bitsPerSecond
  }

  mutating func transmit(bytes: Int, at now: Instant, random: inout SeededGenerator) -> Instant? {
    if isDown || Double.random(in: 0..<1, using: &random) < loss || bursts?.loses(&random) == true { return nil }
    // With the headers below RTP.
    if policer?.admits(bytes: bytes + 50, at: now) == false { return nil }
    let credit = Duration.nanoseconds(Int64(burstBytes * 8e9 / bitsPerSecond))
    var start = max(max(free, now - credit), stalledUntil)
    if let gate {
      start = max(start, Instant(nanoseconds: (now.nanoseconds / gate.nanoseconds + 1) * gate.nanoseconds))
    }
    guard (start - now).inMilliseconds <= queueMilliseconds,
      pie?.drops(delay: (start - now).inSeconds, at: now, random: &random) != true
    else { return nil }
    free = start + .nanoseconds(Int64(Double(bytes + 50) * 8e9 / bitsPerSecond))
    var arrival = max(free, now) + delay
    if jitterMilliseconds > 0 {
      arrival += .nanoseconds(Int64(Double.random(in: 0..<jitterMilliseconds, using: &random) * 1e6))
    }
    if let batch { arrival = Instant(nanoseconds: (arrival.nanoseconds / batch.nanoseconds + 1) * batch.nanoseconds) }
    lastArrival = max(lastArrival, arrival)
    return lastArrival
  }
}

/// A sender whose application keeps to the target, a path, and a receiver with transport-wide feedback.
struct Call {
  var rig: Rig
  var link: Bottleneck
  var now = Instant.zero
  /// What the camera gives at most.
  var cameraKbps = 4000.0
  /// Nothing is taken by camera or microphone.
  var isPaused = false
  /// Sound and pictures get smaller with the target, in steps: 360 rows, 180 rows, stills, sound alone.
  var isLadder = false
  /// Whose pictures are sent; another one begins with a key frame.
  var encoder = 0
  private var lastEncoder: Int?
  /// The camera gives a key frame when it is asked for one.
  var answersRequests = false
  private var answeredRequests = 0
  /// Of feedback on its way back, 0...1.
  var feedbackLoss = 0.0
  /// Feedback that arrives within such a time does so together at its end.
  var feedbackBatch: Duration?
  private(set) var latencies: [(at: Instant, milliseconds: Double)] = []
  private(set) var arrivedBytes = 0
  /// Of each packet of the picture, by its number: when it was sent first, and when a copy of it arrived first.
  private(set) var pictures: [(sentAt: Instant, arrivedAt: Instant?)] = []
  private var pictureIndices: [UInt16: Int] = [:]
  /// Of each picture that was sent: its packets end here in `pictures`, and whether it is a key frame.
  private var frames: [(end: Int, isKeyFrame: Bool)] = []
  private var keyFrames: Set<UInt32> = []
  /// The receiver asks for a key frame when a picture stays incomplete.
  var asksForKeyFrames = false
  private var wholeFrames = 0
  /// The number of the first packet of the picture.
  private var firstPicture: UInt16?
  private var isBroken = false
  private var asked = Instant.zero
  /// By how much pictures differ in size, 0..<1, and how much larger key frames are.
  var sizeSpread = 0.0
  var keyFrameFactor = 1.0
  private var timestamps: (offset: UInt32, last: UInt32)?
  var random = SeededGenerator(seed: 99)
  private var handled = 0
  private var arrivals: [(at: Instant, number: UInt16)] = []
  private var nextNumber: UInt16?
  private var feedbackCount: UInt8 = 0
  private var pending: [(at: Instant, packets: [RTCPPacket])] = []
  private var step = 0
  private var handledReports = 0
  /// The last sender report of the picture, and when it arrives.
  private var report: (compactNTPTime: UInt32, arrivesAt: Instant)?

  init(rig: Rig, link: Bottleneck) {
    self.rig = rig
    self.link = link
  }

  var targetKbps: Int { rig.sender.targetKbps }

  mutating func run(for duration: Duration, each body: (inout Call) -> Void = { _ in }) {
    let end = now + duration
    while now < end {
      body(&self)
      tick()
      now += .milliseconds(1)
      step += 1
    }
  }

  /// A message, which is none of the sender's RTP, goes the same way.
  mutating func carryOther(bytes: Int) {
    rig.sender.noteSentBeside(byteCount: bytes, now: now)
    _ = link.transmit(bytes: bytes, at: now, random: &random)
  }

  private mutating func tick() {
    if let deadline = rig.sender.nextDeadline, deadline <= now { rig.sender.handleTimeout(now: now) }
    while let first = pending.first, first.at <= now {
      pending.removeFirst()
      rig.sender.handle(rtcp: first.packets, now: now)
    }
    if isPaused {
      // Nothing to send.
    } else if isLadder {
      sendByLadder()
    } else {
      sendByTarget()
    }
    rig.drain(at: now)
    for (_, packet, bytes) in rig.packets[handled...] {
      guard let number = packet.extensions(extensionIDs).transportSequenceNumber else { continue }
      if nextNumber == nil { nextNumber = number }
      let picture = pictureIndex(of: packet)
      guard let arrival = link.transmit(bytes: bytes.count, at: now, random: &random) else { continue }
      arrivals.append((arrival, number))
      latencies.append((now, (arrival - now).inMilliseconds))
      arrivedBytes += bytes.count + 50
      if let picture, pictures[picture].arrivedAt == nil { pictures[picture].arrivedAt = arrival }
    }
    handled = rig.packets.count
    if step % 50 == 25 { makeFeedback() }
    carryReports()
    if step % 25 == 24 { askForMissing() }
  }

  /// Sender reports go the same way; a receiver reports once a second, RFC 3550 section 6.4.
  private mutating func carryReports() {
    for (_, packets) in rig.reports[handledReports...] {
      guard let arrival = link.transmit(bytes: 100, at: now, random: &random) else { continue }
      for case .senderReport(let sent) in packets where sent.ssrc == videoSSRC {
        report = (sent.compactNTPTime, arrival)
      }
    }
    handledReports = rig.reports.count
    guard step % 1000 == 500, let report, report.arrivesAt <= now, let highest = rig.video.last?.header.sequenceNumber
    else { return }
    let held = (now - report.arrivesAt).nanoseconds * 65536 / 1_000_000_000
    let block = RTCPReportBlock(
      ssrc: videoSSRC, extendedHighestSequenceNumber: UInt32(highest), lastSenderReport: report.compactNTPTime,
      delaySinceLastSenderReport: UInt32(clamping: held))
    pending.append(
      (now + .milliseconds(5), [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: [block]))]))
  }

  /// The packet of the picture that it is, or repeats.
  private mutating func pictureIndex(of packet: RTPPacket) -> Int? {
    switch packet.header.ssrc {
    case videoSSRC:
      pictureIndices[packet.header.sequenceNumber] = pictures.count
      if firstPicture == nil { firstPicture = packet.header.sequenceNumber }
      pictures.append((now, nil))
      note(timestamp: packet.header.timestamp)
      return pictures.count - 1
    case rtxSSRC where packet.payload.count >= 2:
      let number = packet.payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
      return pictureIndices[number]
    default:
      return nil
    }
  }

  /// As a receiver does: for packets that later ones have overtaken, and for a key frame when it waits in vain.
  /// What was sent before a key frame that is there is not missed.
  private mutating func skipToKeyFrame() {
    let whole = frames.indices.dropFirst(wholeFrames).last { index in
      let first = index == 0 ? 0 : frames[index - 1].end
      return frames[index].isKeyFrame
        && pictures[first..<frames[index].end].allSatisfy { $0.arrivedAt.map { $0 <= now } ?? false }
    }
    guard let whole else { return }
    wholeFrames = whole
    isBroken = false
  }

  private mutating func askForMissing() {
    guard asksForKeyFrames else { return }
    skipToKeyFrame()
    while let frame = frames.dropFirst(wholeFrames).first, !(wholeFrames + 1 == frames.count && !isBroken) {
      let first = wholeFrames == 0 ? 0 : frames[wholeFrames - 1].end
      let packets = pictures[first..<frame.end]
      if frame.isKeyFrame { isBroken = false }
      if isBroken, now - asked > .seconds(1) { askForKeyFrame() }
      if packets.allSatisfy({ $0.arrivedAt.map { $0 <= now } ?? false }) || isBroken {
        wholeFrames += 1
      } else if now - packets[first].sentAt > Self.patience {
        isBroken = true
        wholeFrames += 1
        askForKeyFrame()
      } else {
        askAgain(from: first)
        return
      }
    }
  }

  private mutating func askForKeyFrame() {
    asked = now
    pending.append(
      (
        now + .milliseconds(5),
        [.pictureLossIndication(RTCPPictureLossIndication(senderSSRC: peerSSRC, mediaSSRC: videoSSRC))]
      ))
  }

  private mutating func askAgain(from first: Int) {
    let isThere = { [now] (picture: (sentAt: Instant, arrivedAt: Instant?)) in
      picture.arrivedAt.map { $0 <= now } ?? false
    }
    guard let last = pictures[first...].lastIndex(where: isThere), let firstNumber = firstPicture else { return }
    let missing = (first..<last).filter { !isThere(pictures[$0]) }.map { firstNumber &+ UInt16(truncatingIfNeeded: $0) }
    guard !missing.isEmpty, Double.random(in: 0..<1, using: &random) >= feedbackLoss else { return }
    pending.append(
      (now + .milliseconds(5), [.nack(RTCPNack(senderSSRC: peerSSRC, mediaSSRC: videoSSRC, lost: missing))]))
  }

  private static let patience = Duration.seconds(3)

  private mutating func note(timestamp: UInt32) {
    let offset = timestamps?.offset ?? timestamp &- mediaTime(at: now)
    if timestamps?.last == timestamp {
      frames[frames.count - 1].end = pictures.count
    } else {
      frames.append((pictures.count, keyFrames.contains(timestamp &- offset)))
    }
    timestamps = (offset, timestamp)
  }

  /// When each picture was whole, with all that it is made from: not before the one before it, unless it is a key frame.
  var wholePictures: [Instant] {
    var times: [Instant] = []
    var isBroken = false
    var first = 0
    for (end, isKeyFrame) in frames {
      let packets = pictures[first..<end]
      first = end
      var arrival: Instant? = .zero
      for packet in packets { arrival = arrival.flatMap { known in packet.arrivedAt.map { max($0, known) } } }
      if isKeyFrame { isBroken = false }
      guard let arrival, arrival > .zero else {
        isBroken = true
        continue
      }
      guard !isBroken else { continue }
      times.append(max(arrival, times.last ?? .zero))
    }
    return times
  }

  /// How long each packet of the picture took until it arrived, sent again or not; `limit` for those that have not.
  func pictureDelays(limit: Duration = .seconds(1)) -> [Double] {
    pictures.filter { now - $0.sentAt >= limit }.map {
      $0.arrivedAt.map { [sentAt = $0.sentAt] in ($0 - sentAt).inMilliseconds } ?? limit.inMilliseconds
    }
  }

  private mutating func sendByTarget() {
    if step % 20 == 0 { rig.sendAudio(at: now) }
    if step % 33 == 0 {
      let bytes = Int(min(cameraKbps, Double(max(50, targetKbps - 60))) * 33 / 8)
      sendPicture(bytes: bytes)
    }
  }

  private mutating func sendByLadder() {
    let isNarrow = targetKbps < 100
    if step % (isNarrow ? 60 : 20) == 0 { rig.sendAudio(size: isNarrow ? 120 : 100, at: now) }
    let budget = targetKbps * 85 / 100 - (isNarrow ? 25 : 63)
    if budget >= 150 {
      if step % 33 == 0 { sendPicture(bytes: Int(min(cameraKbps, Double(budget)) * 33 / 8)) }
    } else if budget >= 24 {
      if step % 100 == 0 { sendPicture(bytes: min(120, budget) * 100 / 8) }
    } else if step % 5000 == 0, budget >= 8 {
      sendPicture(bytes: 4000)
    }
  }

  private mutating func sendPicture(bytes: Int) {
    let isAsked = answersRequests && rig.keyFrameRequests.count > answeredRequests
    let isKeyFrame = encoder != lastEncoder || isAsked
    answeredRequests = rig.keyFrameRequests.count
    if isKeyFrame { keyFrames.insert(mediaTime(at: now)) }
    var size = Double(bytes) * (isKeyFrame ? keyFrameFactor : 1)
    if sizeSpread > 0 { size *= Double.random(in: 1 - sizeSpread...1 + sizeSpread, using: &random) }
    let bytes = max(1, Int(size))
    let count = (bytes + 1099) / 1100
    rig.sendVideo(packets: count, size: bytes / count, at: now, isKeyFrame: isKeyFrame, source: encoder)
    lastEncoder = encoder
  }

  private mutating func makeFeedback() {
    guard var base = nextNumber, let last = arrivals.last(where: { $0.at <= now }) else { return }
    // Of a long gap a receiver says nothing.
    if last.number &- base >= 8192 { base = arrivals[0].number }
    var times: [UInt16: Instant] = [:]
    for arrival in arrivals where arrival.at <= now { times[arrival.number] = arrival.at }
    arrivals.removeAll { $0.at <= now }
    var statuses: [RTCPTransportFeedback.PacketStatus] = []
    // The receiver's clock began somewhere else.
    let offset: Int64 = 1_000_000_000_000
    var reference: Int64?
    var ticks: Int64 = 0
    for distance in 0...last.number &- base {
      guard let time = times[base &+ distance] else {
        statuses.append(.notReceived)
        continue
      }
      let arrival = time.nanoseconds + offset
      if reference == nil {
        reference = arrival / 64_000_000
        ticks = reference! * 256
      }
      let tick = arrival / 250_000
      statuses.append(.received(delta: Int16(clamping: tick - ticks)))
      ticks = tick
    }
    let feedback = RTCPTransportFeedback(
      senderSSRC: peerSSRC, mediaSSRC: videoSSRC, baseSequenceNumber: base,
      referenceTime: UInt32(truncatingIfNeeded: reference ?? 0) & 0xff_ffff, feedbackCount: feedbackCount,
      statuses: statuses)
    feedbackCount &+= 1
    nextNumber = last.number &+ 1
    // Over the wire and back, so that writing and parsing take part.
    guard
      let packets = try? RTCPPacket.parse(compound: RTCPPacket.write(compound: [.transportFeedback(feedback)]))
    else { preconditionFailure("feedback that cannot be read") }
    guard Double.random(in: 0..<1, using: &random) >= feedbackLoss else { return }
    var arrival = now + .milliseconds(5)
    if let batch = feedbackBatch {
      arrival = Instant(nanoseconds: (arrival.nanoseconds / batch.nanoseconds + 1) * batch.nanoseconds)
    }
    pending.append((arrival, packets))
  }

  /// The mean one-way delay of what was sent in the last `duration`.
  func meanLatency(last duration: Duration) -> Double {
    let recent = latencies.filter { now - $0.at <= duration }.map(\.milliseconds)
    return recent.reduce(0, +) / Double(max(1, recent.count))
  }
}
