internal import JSON

/// Why a request failed, as problem details for programs and people (RFC 9457). For every HTTP error of the child, not
/// for WHEP alone.
public struct Problem: Error, Hashable, Sendable {
  public static let contentType = "application/problem+json"

  /// 400–599.
  public var status: Int
  /// What to do about it, for a person; nothing secret.
  public var detail: String
  /// A URI that identifies the kind of problem. `about:blank`: the status says it all. RFC 9457 section 4.2.1.
  public var type: String
  /// When trying again makes sense; goes out as `Retry-After` in whole seconds, rounded up. RFC 9110 section 10.2.3.
  public var retryAfter: Duration?

  public init(_ status: Int, _ detail: String, type: String = "about:blank", retryAfter: Duration? = nil) {
    self.status = status
    self.detail = detail
    self.type = type
    self.retryAfter = retryAfter
  }

  /// The phrase of the status. RFC 9110 section 15, RFC 6585.
  public var title: String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 422: "Unprocessable Content"
    case 426: "Upgrade Required"
    case 428: "Precondition Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    default: status < 500 ? "Client Error" : "Server Error"
    }
  }

  /// The JSON object, UTF-8.
  public var body: [UInt8] {
    Array(
      #"{"type":\#(JSON.quoted(type)),"title":\#(JSON.quoted(title)),"status":\#(status),"#.utf8)
      + Array(#""detail":\#(JSON.quoted(detail))}"#.utf8)
  }
}
