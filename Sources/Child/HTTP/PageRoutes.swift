internal import FoundationEssentials
internal import NIOHTTP1
internal import SecureTransport
internal import Server
internal import Signaling
internal import Web

/// Serves the phone page. None of it is secret: it is the same for everybody.
enum PageRoutes {
  /// Nil if the path is none of the page's.
  static func response(to request: HTTPRequest, root: NodeCertificate?) -> HTTPResponse? {
    let isRead = request.method == .GET || request.method == .HEAD
    let name: String
    // A page that was loaded from an older child asks for files by the older name. They would not fit together.
    var isKept = false
    switch request.path {
    case "/certificate.crt" where isRead: return certificate(root, "application/x-x509-ca-cert", \.der)
    case "/certificate.mobileconfig" where isRead:
      return certificate(root, "application/x-apple-aspen-config", \.profile)
    case "/": name = "index.html"
    case _ where WebPages.shell.contains(String(request.path.dropFirst())): name = String(request.path.dropFirst())
    case _ where request.path.hasPrefix(WebPages.folder):
      name = String(request.path.dropFirst(WebPages.folder.count))
      isKept = true
    case _ where request.path.hasPrefix("/page/"):
      return HTTPResponse(Problem(404, "this file is of another version; load the page again"))
    default: return nil
    }
    guard isRead else {
      var response = HTTPResponse(Problem(405, "\(request.method.rawValue) means nothing here; allowed are GET, HEAD"))
      response.headers.add(name: "Allow", value: "GET, HEAD")
      return response
    }
    guard isKept != WebPages.shell.contains(name), let content = WebPages.content(name) else {
      return isKept ? HTTPResponse(Problem(404, "the page has no such file")) : nil
    }
    let tag = "\"\(WebPages.version)\""
    var headers: HTTPHeaders = [
      "Content-Type": WebPages.contentType(name), "ETag": tag,
      "Cache-Control": isKept ? "public, max-age=31536000, immutable" : "no-cache",
      "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Vary": "Accept-Encoding",
    ]
    if name == "index.html" { headers.add(name: "Content-Security-Policy", value: policy) }
    if request.headers[canonicalForm: "if-none-match"].contains(where: { $0 == tag }) {
      return HTTPResponse(status: .notModified, headers: headers)
    }
    // RFC 9110 section 12.5.3, without weights: nobody sends `gzip;q=0`.
    if request.headers[canonicalForm: "accept-encoding"].contains(where: { $0.hasPrefix("gzip") }),
      let compressed = WebPages.compressed(name)
    {
      headers.add(name: "Content-Encoding", value: "gzip")
      return HTTPResponse(status: .ok, headers: headers, body: compressed)
    }
    return HTTPResponse(status: .ok, headers: headers, body: content)
  }

  private static func certificate(
    _ root: NodeCertificate?, _ type: String, _ content: (NodeCertificate) -> [UInt8]
  ) -> HTTPResponse {
    guard let root else {
      return HTTPResponse(Problem(404, "this child has no root certificate of its own; it uses the configured one"))
    }
    return HTTPResponse(
      status: .ok, headers: ["Content-Type": type, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"],
      body: content(root))
  }

  /// Scripts and styles come from this child alone; in the shell itself is one script, known by its hash. Connections may go to
  /// other children of the family, which have other addresses; no markup is made from text. Only pages of its own origin may
  /// frame it, as Home Assistant's ingress does. W3C Content Security Policy Level 3.
  private static let policy: String = [
    "default-src 'none'", "script-src 'self'\(shellScript)", "style-src 'self'", "img-src 'self' blob: data:",
    "media-src 'self' blob: data:", "connect-src 'self' https: wss:", "manifest-src 'self'", "worker-src 'self'",
    "frame-ancestors 'self'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'",
  ].joined(separator: "; ")

  /// The hash source of the script in the shell, after a blank. CSP Level 3 section 2.3.1.
  private static let shellScript: String = {
    let page = String(decoding: WebPages.content("index.html") ?? [], as: UTF8.self)
    guard let begin = page.firstRange(of: "<script>"),
      let end = page[begin.upperBound...].firstRange(of: "</script>")
    else { return "" }
    let digest = CryptoHashes().sha256(Array(page[begin.upperBound..<end.lowerBound].utf8))
    return " 'sha256-\(Data(digest).base64EncodedString())'"
  }()
}
