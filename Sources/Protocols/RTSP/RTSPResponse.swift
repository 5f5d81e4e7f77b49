/// A response. RFC 2326 section 7.
public struct RTSPResponse: Hashable, Sendable {
  public var status: Int
  /// For a person: players show it beside the status. Section 7.1.1 leaves the words to the server.
  public var phrase: String
  var headers: [String] = []
  var body = ""

  /// - Parameter phrase: nil for the usual words.
  init(_ status: Int, phrase: String? = nil, _ headers: String..., body: String = "") {
    self.status = status
    self.phrase = phrase ?? Self.phrase(status)
    self.headers = headers
    self.body = body
  }

  /// Section 7.1.1.
  private static func phrase(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 454: "Session Not Found"
    case 455: "Method Not Valid in This State"
    case 461: "Unsupported Transport"
    case 505: "RTSP Version Not Supported"
    case 551: "Option Not Supported"
    default: "Error"
    }
  }

  /// - Parameter sequence: the request's `CSeq`, which the response repeats (section 12.17).
  public func bytes(sequence: String?) -> [UInt8] {
    var lines = ["RTSP/1.0 \(status) \(phrase)"]
    if let sequence { lines.append("CSeq: \(sequence.prefix(32))") }
    lines += ["Server: Cradle"] + headers
    if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }
}
