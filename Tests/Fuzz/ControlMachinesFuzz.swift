import Control
import Wire

/// What parents order, in any order and at any time, and the bytes of pictures.
enum ControlMachinesFuzz: FuzzBody {
  static let name = "control machines"

  /// Pairs of an order and its number.
  static let seeds: [[UInt8]] = [
    [0, 50, 1, 3, 13, 200, 2, 0, 13, 255], [3, 10, 13, 5, 5, 0, 13, 90, 6, 0, 10, 0, 13, 4, 11, 0, 9, 0],
    [3, 255, 4, 0, 7, 0, 8, 77, 12, 1, 13, 255, 13, 255], [14, 5, 15, 7, 15, 0, 14, 5, 13, 255, 15, 1],
  ]

  private struct House {
    var now = Instant.zero
    var lights = Lights([
      LightController(id: "0", isDimmable: true), LightController(id: "1", isDimmable: false),
    ])
    var receiver = TransferReceiver()

    mutating func order(_ order: UInt8, _ number: UInt8) {
      let value = Int(number)
      let one = String(value % 2)
      switch order % 16 {
      case 0:
        _ = try? lights.set(
          LightSet(id: one, state: value < 200 ? .on : .toggle, brightness: value % 101, seconds: value + 1),
          now: now)
      case 1: _ = try? lights.flash(LightFlash(id: one, times: value / 2, milliseconds: 200 + value), now: now)
      case 2: _ = try? lights.set(LightSet(id: one, state: .off), now: now)
      case 3...13: now += .milliseconds(value * value)
      case 14:
        try? receiver.begin(
          TransferDocument(transfer: UInt32(number % 8), size: value - 3, type: "", width: 1, height: 1), now: now)
      default: _ = try? receiver.receive([0, 0, 0, number % 8] + [UInt8](repeating: 1, count: value / 4), now: now)
      }
    }

    mutating func wake() {
      lights.handleTimeout(now: now)
      _ = receiver.handleTimeout(now: now)
      for deadline in [lights.nextDeadline, receiver.nextDeadline] {
        precondition(deadline.map { $0 > now } ?? true, "what was due is done")
      }
    }

    mutating func drain() {
      while let next = lights.poll() { precondition((0...100).contains(next.level), "a level is a percentage") }
      let lights = lights.states.map { $0.document(now: now) }
      precondition(lights.allSatisfy { ($0.remainingSeconds ?? 1) > 0 }, "a light that is over is off")
    }
  }

  static func run(_ input: [UInt8]) {
    var house = House()
    for index in stride(from: 0, to: min(input.count, 4096) - 1, by: 2) {
      house.order(input[index], input[index + 1])
      house.wake()
      house.drain()
    }
  }
}
