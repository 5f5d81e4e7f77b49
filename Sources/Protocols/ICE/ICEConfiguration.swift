public import STUN

/// Every timer and limit of an agent, each with its default and reason.
public struct ICEConfiguration: Hashable, Sendable {
  /// Ta: the minimum interval between two ordinary checks. RFC 8445 section 14.2 has a default of 50 ms and a minimum
  /// of 5 ms; with 20 ms the few pairs in a home are checked within 100 ms. Triggered checks do not wait: the peer has
  /// proven itself and the path.
  public var pacing: Duration = .milliseconds(20)
  /// Retransmission of checks and nominations. RFC 8445 section 14.3 starts at 500 ms for Internet paths; at home a
  /// lost first check would dominate the connection time, so this starts at 200 ms. Bad Wi-Fi loses several, so the
  /// timeout is capped at 800 ms. 18 requests give up after 15.8 s, 79 times the first timeout.
  public var retransmission = STUNRetransmission(
    initialTimeout: .milliseconds(200), maximumTimeout: .milliseconds(800), maximumRequests: 18)
  /// The interval between consent checks, randomised by a factor of 0.8...1.2. RFC 7675 section 5.1.
  public var consentInterval: Duration = .seconds(5)
  /// Without a valid response for this long we stop sending. RFC 7675 section 5.1.
  public var consentExpiry: Duration = .seconds(30)
  /// A check that has no answer by then was lost: consent not renewed for this long is asked for by a probe each
  /// `weakProbeInterval`. With 20 % loss both ways a check in three fails, so six in a row in a night.
  public var consentRetryAfter: Duration = .seconds(7)
  /// A selected pair without authenticated traffic for this long is probed, independently of consent checks. Media and
  /// RTCP never pause that long and Chromium checks every 2.5 s, so a healthy path sees no extra checks.
  public var probeAfter: Duration = .seconds(3)
  /// The peer sends on another valid pair and nothing has come on the selected one for this long: it has moved.
  public var movedAfter: Duration = .seconds(1)
  /// The peer sends media on another valid pair and none has come on the selected one for this long and two round trips:
  /// it has left that one. Sound comes every 20 ms.
  public var leftAfter: Duration = .milliseconds(60)
  /// The interval between probes: several fit before `weakAfter`, so that one lost packet raises no alarm.
  public var probeInterval: Duration = .milliseconds(500)
  /// The same once the path is weak, so that recovery is noticed soon.
  public var weakProbeInterval: Duration = .seconds(1)
  /// A selected pair without authenticated traffic (response, request or data) for this long is weak: the state becomes
  /// `disconnected` and the other pairs are tried again. libwebrtc also reports this after about 5 s.
  public var weakAfter: Duration = .seconds(5)
  /// How long a controlling agent with a valid pair waits for one of higher priority that is still being checked. Data
  /// flows meanwhile, so waiting costs little, but peers that need the nomination should not wait long.
  public var nominationPatience: Duration = .milliseconds(50)
  /// With no working pair and no new candidate or check for this long, the agent has failed. RFC 8863 asks for 79 times
  /// the first timeout; twice that leaves time to carry a phone into range.
  public var failedAfter: Duration = .seconds(30)
  /// The same after end-of-candidates from the peer, when every pair has failed.
  public var failedAfterEndOfCandidates: Duration = .seconds(16)
  /// A board has a few interfaces with a few IPv6 addresses each.
  public var maximumLocalCandidates = 32
  /// Browsers send up to about 20; a night of NAT rebinding adds peer-reflexive ones, of which the oldest are evicted.
  public var maximumRemoteCandidates = 64
  /// Candidates that the peer names, in all generations and by trickling: `maximumRemoteCandidates` at once, then one more each
  /// time. Each is an address of its choice that gets a dozen checks. Nil: those of one generation alone are bounded.
  public var signalledCandidateInterval: Duration?
  /// RFC 8445 section 6.1.2.5.
  public var maximumPairs = 100
  /// Off: nothing goes through a relay of the peer's either. Its relayed candidates are left out, also where a check has
  /// come from one before it was announced.
  public var acceptsRelayedCandidates = true
  /// Authenticated checks received before the peer's credentials: one is kept per path, the oldest are evicted.
  public var maximumEarlyChecks = 16

  public init() {}
}
