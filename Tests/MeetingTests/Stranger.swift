import Glibc

/// Somebody with a password of the broker and no good intentions: MQTT 3.1.1 by hand.
final class Stranger {
  struct Problem: Error {}

  private let socket: Int32

  init(port: UInt16, client: String, username: String, password: String) throws {
    guard let socket = LocalPort.connect(port) else { throw Problem() }
    self.socket = socket
    // A clean session, with user name and password; five minutes.
    let head: [UInt8] = Self.text("MQTT") + [4, 0xc2, 1, 44]
    send([0x10], head + Self.text(client) + Self.text(username) + Self.text(password))
    // CONNACK.
    var answer = [UInt8](repeating: 0, count: 4)
    guard recv(socket, &answer, 4, Int32(MSG_WAITALL)) == 4, answer == [0x20, 2, 0, 0] else { throw Problem() }
  }

  deinit { close(socket) }

  func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool = false) {
    send([isRetained ? 0x31 : 0x30], Self.text(topic) + payload)
  }

  private static func text(_ text: String) -> [UInt8] {
    [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 255)] + Array(text.utf8)
  }

  private func send(_ type: [UInt8], _ rest: [UInt8]) {
    var bytes = type
    var length = rest.count
    repeat {
      bytes.append(UInt8(length & 127) | (length > 127 ? 128 : 0))
      length >>= 7
    } while length > 0
    bytes += rest
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      start += count
    }
  }
}
