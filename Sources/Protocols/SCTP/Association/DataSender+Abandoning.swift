import Wire

/// Partial reliability, the sender's side. RFC 3758 section 3.5.
extension DataSender {
  /// Abandons the whole message that the chunk belongs to.
  mutating func abandon(at index: Int) {
    let number = outstanding[index].messageNumber
    var first = index
    while first > 0, outstanding[first - 1].messageNumber == number { first -= 1 }
    var position = first
    while position < outstanding.count, outstanding[position].messageNumber == number {
      abandonChunk(at: position)
      position += 1
    }
    abandonRest(number)
    messagesAbandoned &+= 1
    advancePoint()
  }

  /// Abandons a partly sent message whose lifetime has expired.
  mutating func abandonPartlySent(_ number: UInt64) {
    var index = outstanding.count - 1
    while index >= 0, outstanding[index].messageNumber == number {
      abandonChunk(at: index)
      index -= 1
    }
    abandonRest(number)
    messagesAbandoned &+= 1
    advancePoint()
  }

  /// A message abandoned before its last fragment was sent needs one more TSN, for an end that is never sent: if the
  /// peer has acknowledged every fragment so far, it could otherwise not be told to drop them.
  private mutating func abandonRest(_ number: UInt64) {
    guard let rest = queue.abandonCurrent(number: number) else { return }
    let data = DataChunk(
      flags: rest.isOrdered ? [.end] : [.end, .unordered], tsn: nextTSN, streamID: rest.streamID,
      streamSequenceNumber: rest.streamSequenceNumber, payloadProtocolID: rest.payloadProtocolID, payload: [])
    outstanding.append(
      OutstandingChunk(
        data: data, messageNumber: number, sentAt: .zero, transmissions: 0, status: .abandoned,
        missesCountFrom: nextTSN))
    nextTSN &+= 1
  }

  private mutating func abandonChunk(at index: Int) {
    switch outstanding[index].status {
    case .inFlight: leavesFlight(outstanding[index])
    case .marked: markedCount -= 1
    case .acknowledged, .abandoned: break
    }
    outstanding[index].status = .abandoned
  }

  /// Rules C1 and C2: advances Advanced.Peer.Ack.Point over everything abandoned.
  mutating func advancePoint() {
    if cumulativeAcked.isAfter(serial: advancedPoint) { advancedPoint = cumulativeAcked }
    var index = Int(advancedPoint &- cumulativeAcked)
    while index < outstanding.count, outstanding[index].status == .abandoned { index += 1 }
    let point = cumulativeAcked &+ UInt32(truncatingIfNeeded: index)
    if point.isAfter(serial: advancedPoint) {
      advancedPoint = point
      mustSendForwardTSN = true
    }
  }

  /// The FORWARD TSN to send now, if any. `room`, in bytes, bounds the streams it lists.
  mutating func nextForwardTSN(room: Int) -> ForwardTSNChunk? {
    guard mustSendForwardTSN, peerSupportsForwardTSN, room >= ForwardTSNChunk.headerSize + 4 else { return nil }
    advancePoint()
    mustSendForwardTSN = false
    let maximumSkips = (room - ForwardTSNChunk.headerSize) / 4
    var skips: [UInt16: UInt16] = [:]
    var covered = 0
    let count = Int(advancedPoint &- cumulativeAcked)
    guard count > 0, count <= outstanding.count else { return nil }
    for index in 0..<count {
      let chunk = outstanding[index].data
      if !chunk.flags.contains(.unordered), outstanding[index].status == .abandoned {
        guard skips[chunk.streamID] != nil || skips.count < maximumSkips else { break }
        skips[chunk.streamID] = chunk.streamSequenceNumber
      }
      covered = index + 1
    }
    return ForwardTSNChunk(
      newCumulativeTSN: cumulativeAcked &+ UInt32(truncatingIfNeeded: covered),
      skips: skips.sorted { $0.key < $1.key }.map { .init(streamID: $0.key, streamSequenceNumber: $0.value) })
  }
}
