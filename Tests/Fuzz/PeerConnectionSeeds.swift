import PeerConnection
import SCTP
import SDP
import Simulation
import TestSupport
import Wire

/// What two ends said to one another, as steps for one of them that is cut off from the other. The same numbers are drawn
/// each time, so tags and transaction ids fit.
extension PeerConnectionFuzz {
  static let seeds: [[UInt8]] = {
    let connecting = [SimulatedPair.Side.child, .parent].map { side in
      recorded(side, .described) { $0.run(for: .milliseconds(200)) }
    }
    let talking = [SimulatedPair.Side.child, .parent].map { side in
      recorded(side, .connected) { pair in
        sendFrames(6, over: pair)
        guard let id = try? pair.parent.openDataChannel(DataChannelParameters(label: "control"), now: pair.now) else {
          return
        }
        try? pair.parent.send(.text("hello"), on: id, now: pair.now)
        pair.run(for: .milliseconds(300))
        try? pair.child.send(.binary([UInt8](repeating: 1, count: 3000)), on: id, now: pair.now)
        pair.run(for: .seconds(1))
        pair.parent.closeDataChannel(id, now: pair.now)
        pair.run(for: .milliseconds(300))
        pair.parent.close(now: pair.now)
        pair.run(for: .milliseconds(10))
      }
    }
    let losing = recorded(.parent, .streaming) { pair in
      pair.link.loss = 0.3
      sendFrames(20, over: pair)
    }
    return connecting + talking + [losing] + signaling + own
  }()

  private static var signaling: [[UInt8]] {
    let candidate = "candidate:1 1 udp 1677729535 192.0.2.9 46154 typ host"
    let offers = ["offer-chromium-recvonly", "offer-firefox-talkback", "offer-aiortc"].map { name -> [UInt8] in
      var input = [Beginning(.child, .fresh, isCut: true).byte]
      input += step(.candidate, Array(candidate.utf8))
      input += step(.description, Fixture.bytes("\(name).sdp"))
      input += step(.candidate, Array("candidate:1 1 udp 77 abc.local 46154 typ host".utf8))
      input += step(.name, [10, 0, 0, 9])
      input += step(.wait, [50])
      return input
    }
    var answered = [Beginning(.parent, .fresh, isCut: true).byte]
    answered += step(.description, answer)
    answered += step(.wait, [50])
    return offers + [answered]
  }

  /// A child's answer to the offer that the parent makes.
  private static var answer: [UInt8] {
    let pair = SimulatedPair(hashes: BlindHashes())
    guard let offer = try? pair.parent.offer(wantsDataChannel: true, now: pair.now),
      let answer = try? pair.child.answer(offer, now: pair.now)
    else { preconditionFailure("two ends of ours agree") }
    return Array(answer.description.utf8)
  }

  private static var own: [[UInt8]] {
    [SimulatedPair.Side.child, .parent].map { side in
      [Beginning(side, .streaming, isCut: false).byte] + step(.frame, [8, 1, 2]) + step(.frame, [1, 1, 2])
        + step(.open, Array("b".utf8)) + step(.wait, [9]) + step(.message, [1, 2, 3]) + step(.wait, [9])
        + step(.restart, Array("candidate:1 1 udp 1677729535 192.0.2.1 5000 typ host".utf8)) + step(.wait, [200])
        + step(.keyFrame) + step(.shut, [1]) + step(.wait, [255]) + step(.end)
    }
  }

  private static func recorded(
    _ side: SimulatedPair.Side, _ stage: Beginning.Stage, _ act: (SimulatedPair) -> Void
  ) -> [UInt8] {
    let beginning = Beginning(side, stage, isCut: false)
    guard let pair = try? beginning.makePair() else { preconditionFailure("two ends of ours connect") }
    func arrived() -> [[UInt8]] { side == .child ? pair.arrivedAtChild : pair.arrivedAtParent }
    let before = arrived().count
    act(pair)
    return [Beginning(side, stage, isCut: true).byte]
      + arrived().dropFirst(before).prefix(48).flatMap { datagram in
        let arrival =
          switch datagram.first ?? 0 {
          case 23: step(.sctp, Array(datagram.dropFirst()))
          case 128...191: step(.media, datagram.dropLast(FakeSRTP.tag.count))
          default: step(.datagram, datagram)
          }
        return arrival + step(.wait, [1])
      }
  }

  private static func step(_ command: Command, _ bytes: [UInt8] = []) -> [UInt8] {
    [command.rawValue, UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
  }
}
