extension Duration {
  /// The value of `Retry-After` as whole seconds, RFC 9110 section 10.2.3; nil for a date, which a clock that is wrong
  /// would misread.
  public init?(retryAfter text: String) {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
      let seconds = Int64(text)
    else { return nil }
    self = .seconds(seconds)
  }
}
