/// OpenSSL has its own retransmission timer, on the wall clock, and retransmits nothing before it expires. This port
/// keeps it in step with the caller's `now`, so that tests can run in simulated time.
package protocol OpenSSLTimer: Sendable {
  /// The value for OpenSSL's timer when the handshake waits for `wait` by the caller's clock. OpenSSL treats less than
  /// 15 ms as expired.
  func setting(for wait: Duration) -> Duration
  /// Called when a wait is over by the caller's clock. `left` returns the time left on OpenSSL's timer.
  func waitIsOver(left: () -> Duration)
}

/// For a `now` that runs at the speed of the wall clock: both timers expire together, except for rounding.
package struct WallClockTimer: OpenSSLTimer {
  package init() {}

  package func setting(for wait: Duration) -> Duration { wait }
  package func waitIsOver(left: () -> Duration) {}
}
