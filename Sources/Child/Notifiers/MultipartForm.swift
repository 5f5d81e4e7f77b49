internal import DeviceNames
internal import FoundationEssentials
internal import Wire

/// A form with a picture, multipart/form-data. RFC 7578.
struct MultipartForm {
  let contentType: String
  let body: [UInt8]

  /// - Parameters:
  ///   - fields: application/x-www-form-urlencoded; each becomes a part.
  ///   - file: JPEG.
  ///   - name: the field of the file.
  init(fields: [UInt8], file: [UInt8], name: String) {
    // 128 bits that stand in no picture.
    let boundary = "cradle-" + (0..<16).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal()
    contentType = "multipart/form-data; boundary=\(boundary)"
    var body: [UInt8] = []
    for pair in fields.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let key = String(decoding: Self.decoded(parts[0]), as: UTF8.self).filter { $0 != "\"" && !$0.isNewline }
      body += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(key)\"\r\n\r\n".utf8
      body += parts.count == 2 ? Self.decoded(parts[1]) : []
      body += "\r\n".utf8
    }
    body +=
      "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"cradle.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n"
      .utf8
    body += file
    body += "\r\n--\(boundary)--\r\n".utf8
    self.body = body
  }

  /// As forms are: a plus sign stands for a space.
  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    PercentEncoding.decoded(text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
  }
}

extension String {
  /// As the value of a header: what is not ASCII, or could end it, as an encoded word. RFC 2047 section 2.
  var asHeaderValue: String {
    utf8.allSatisfy { (0x20...0x7e).contains($0) } ? self : "=?UTF-8?B?\(Data(utf8).base64EncodedString())?="
  }
}
