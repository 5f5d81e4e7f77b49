import RTSP
import Testing

@Suite struct RTSPReaderTests {
  private static let options =
    "OPTIONS rtsp://nursery.local:8554/ RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: Lavf59.27.100\r\n\r\n"

  private func items(_ bytes: [UInt8], pieces: Int) throws(RTSPReader.Failure) -> [RTSPReader.Item] {
    var reader = RTSPReader()
    var items: [RTSPReader.Item] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      reader.append(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      while let item = try reader.next() { items.append(item) }
    }
    #expect(reader.waitingBytes == 0)
    return items
  }

  private func failure(_ text: String) -> RTSPReader.Failure? {
    do throws(RTSPReader.Failure) {
      _ = try items(Array(text.utf8), pieces: 700)
      return nil
    } catch {
      return error
    }
  }

  /// A report between two requests, one of which has a body; whole, and in every other way to cut it.
  @Test func requestsAndPacketsComeInPieces() throws {
    let parameter = "get_parameter * RTSP/1.0\ncseq:2\nContent-Length: 8\n\nposition"
    let bytes =
      Array(Self.options.utf8) + [0x24, 1, 0, 3, 7, 8, 9] + [13, 10] + Array(parameter.utf8) + [0x24, 0, 0, 0]
    for pieces in 1...bytes.count {
      let items = try items(bytes, pieces: pieces)
      #expect(
        items == [
          .request(
            RTSPRequest(
              method: "OPTIONS", uri: "rtsp://nursery.local:8554/",
              headers: [.init(name: "cseq", value: "1"), .init(name: "user-agent", value: "Lavf59.27.100")])),
          .packet(channel: 1, bytes: [7, 8, 9]),
          .request(
            RTSPRequest(
              method: "get_parameter", uri: "*",
              headers: [.init(name: "cseq", value: "2"), .init(name: "content-length", value: "8")])),
          .packet(channel: 0, bytes: []),
        ])
    }
  }

  @Test func whatIsNoRequestEndsTheConnection() {
    for text in [
      "GET / HTTP/1.1\r\n\r\n", "OPTIONS RTSP/1.0\r\n\r\n", "OPTIONS  * RTSP/1.0 x\r\n\r\n",
      "OPTIONS * RTSP/1.0\r\nno colon\r\n\r\n",
      "OPTIONS * RTSP/1.0\r\nContent-Length: -1\r\n\r\n", "OPTIONS * RTSP/1.0\r\nContent-Length: x\r\n\r\n",
      "OPTIONS * RTSP/1.0\r\n" + String(repeating: "A: b\r\n", count: 65) + "\r\n",
    ] { #expect(failure(text) == .malformed, "\(text.debugDescription)") }
    #expect(failure("OPTIONS * RTSP/2.0\r\n\r\n") == .version)
    #expect(failure("OPTIONS * RTSP/1.0\r\nContent-Length: 4097\r\n\r\n") == .tooLong)
    #expect(failure("OPTIONS * RTSP/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n") == .malformed)
    #expect(failure(String(repeating: "A", count: 8192)) == .tooLong)
    var reader = RTSPReader()
    reader.append(Array("OPTIONS * RTSP/1.0\r\nA: ".utf8) + [0xff, 13, 10, 13, 10])
    #expect(throws: RTSPReader.Failure.malformed) { try reader.next() }
  }

  @Test func anAddressHasAPathAndAQuery() {
    for (uri, path, query) in [
      ("rtsp://a:8554", "", ""), ("rtsp://a:8554/", "/", ""), ("rtsp://a?camera=door", "", "camera=door"),
      ("rtsp://a/b/c?x=1?y", "/b/c", "x=1?y"), ("*", "*", ""), ("/b?", "/b", ""),
    ] {
      let request = RTSPRequest(method: "DESCRIBE", uri: uri)
      #expect(request.path == path && request.query == query, "\(uri)")
    }
  }
}
