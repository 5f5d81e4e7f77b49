import Foundation
import Glibc
import RTSP
import SecureTransport
import Wire

/// An RTSP player that does only what a test tells it to.
final class RTSPClient {
  enum Ending: Error {
    case closed
    /// Nothing came for five seconds.
    case silent
  }

  struct Response {
    var status = 0
    var head = ""
    var body = ""

    func header(_ name: String) -> String? {
      head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ":") }
        .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
  }

  private let socket: Int32
  private let address: String
  private let user: String
  private let secrets: DigestAccess.Secrets
  private var nonce = ""
  private var session: String?
  private var sequence = 0
  private var bytes: [UInt8] = []
  /// Interleaved packets, with their channel.
  private(set) var packets: [(channel: UInt8, bytes: [UInt8])] = []

  /// - Parameter receiveBufferBytes: of the kernel; nil: its own choice.
  init(port: Int, user: String, token: String, receiveBufferBytes: Int32? = nil) throws {
    address = "rtsp://127.0.0.1:\(port)/"
    self.user = user
    secrets = .init(user: user, secret: token, hashes: CryptoHashes())
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var size = receiveBufferBytes { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4) }
    var timeout = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = in_port_t(port).bigEndian
    target.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let status = withUnsafePointer(to: &target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    socket = descriptor
    guard status == 0 else { throw Ending.closed }
  }

  deinit { close(socket) }

  /// As it is.
  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Signed where there was a challenge, and once more after one.
  func ask(_ method: String, _ path: String = "", _ headers: String...) throws -> Response {
    let first = try ask(method, path, headers)
    guard first.status == 401, let challenge = first.head.ranges(of: "nonce=\"").first else { return first }
    let fresh = String(first.head[challenge.upperBound...].prefix { $0 != "\"" })
    guard fresh != nonce else { return first }
    nonce = fresh
    return try ask(method, path, headers)
  }

  private func ask(_ method: String, _ path: String, _ headers: [String]) throws -> Response {
    sequence += 1
    let uri = address + path
    var lines = ["\(method) \(uri) RTSP/1.0", "CSeq: \(sequence)"] + headers
    if let session { lines.append("Session: \(session)") }
    if !nonce.isEmpty {
      let hashes = CryptoHashes()
      let second = hashes.md5(Array("\(method):\(uri)".utf8)).hexadecimal()
      let response = hashes.md5(Array("\(secrets.md5):\(nonce):\(second)".utf8)).hexadecimal()
      lines.append(
        #"Authorization: Digest username="\#(user)", realm="cradle", nonce="\#(nonce)", uri="\#(uri)", "#
          + #"response="\#(response)""#)
    }
    write(lines.joined(separator: "\r\n") + "\r\n\r\n")
    let response = try read()
    if let named = response.header("session") { session = String(named.prefix { $0 != ";" }) }
    return response
  }

  /// The next response; packets before it are kept.
  func read() throws -> Response {
    while true {
      if bytes.first == 0x24 {
        guard takePacket() else {
          try receive()
          continue
        }
      } else if let response = takeResponse() {
        return response
      } else {
        try receive()
      }
    }
  }

  /// Reads packets for so long.
  func receive(for seconds: Double) throws {
    let end = Date().addingTimeInterval(seconds)
    while Date() < end {
      while bytes.first == 0x24, takePacket() {}
      try receive()
    }
  }

  private func takePacket() -> Bool {
    guard bytes.count >= 4 else { return false }
    let end = 4 + Int(bytes[2]) << 8 + Int(bytes[3])
    guard bytes.count >= end else { return false }
    packets.append((bytes[1], Array(bytes[4..<end])))
    bytes.removeFirst(end)
    return true
  }

  private func takeResponse() -> Response? {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    var response = Response(head: String(decoding: bytes[..<end.lowerBound], as: UTF8.self))
    response.status = response.head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let length = response.header("content-length").flatMap { Int($0) } ?? 0
    guard bytes.count >= end.upperBound + length else { return nil }
    response.body = String(decoding: bytes[end.upperBound..<(end.upperBound + length)], as: UTF8.self)
    bytes.removeFirst(end.upperBound + length)
    return response
  }

  /// Throws `Ending`.
  func receive() throws {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socket, &piece, piece.count, 0)
    guard count > 0 else { throw count < 0 && errno == EAGAIN ? Ending.silent : Ending.closed }
    bytes += piece[..<count]
  }
}
