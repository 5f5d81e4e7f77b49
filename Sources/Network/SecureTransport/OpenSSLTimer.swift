/// OpenSSL has a repetition timer of its own, by the wall clock, and repeats nothing before that has run out. This port
/// keeps it in step with the caller's `now`, so that tests can run in simulated time.
package protocol OpenSSLTimer: Sendable {
  /// What OpenSSL's timer is set to when the handshake waits for `wait` by the caller's clock. Less than 15 ms OpenSSL
  /// takes for nothing.
  func setting(for wait: Duration) -> Duration
  /// Called when a wait is over by the caller's clock. `left` tells what OpenSSL's timer still has to run.
  func waitIsOver(left: () -> Duration)
}

/// `now` runs as fast as the wall clock: both timers run out together, but for rounding.
package struct WallClockTimer: OpenSSLTimer {
  package init() {}

  package func setting(for wait: Duration) -> Duration { wait }
  package func waitIsOver(left: () -> Duration) {}
}
