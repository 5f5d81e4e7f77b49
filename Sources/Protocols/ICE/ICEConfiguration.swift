public import STUN

/// Every timer and limit of an agent, each with its default and reason.
public struct ICEConfiguration: Hashable, Sendable {
  /// Ta: the least time between two checks that we begin of our own. RFC 8445 section 14.2 has 50 ms as default and
  /// 5 ms as the floor; 20 ms lets a home's handful of pairs be tried within 100 ms. Checks that answer a peer's check
  /// do not wait: the peer has proven itself and the path.
  public var pacing: Duration = .milliseconds(20)
  /// How checks and nominations are repeated. RFC 8445 section 14.3 begins at 500 ms for paths across the Internet;
  /// at home the loss of a first check would be most of the connecting time, so this begins at 200 ms, and bad Wi-Fi
  /// loses several, so the doubling stops at 800 ms. 18 requests give up after 15.8 s, 79 times the first timeout.
  public var retransmission = STUNRetransmission(
    initialTimeout: .milliseconds(200), maximumTimeout: .milliseconds(800), maximumRequests: 18)
  /// The time between consent checks, spread by a factor of 0.8...1.2. RFC 7675 section 5.1.
  public var consentInterval: Duration = .seconds(5)
  /// Without a valid response for this long we stop sending. RFC 7675 section 5.1.
  public var consentExpiry: Duration = .seconds(30)
  /// A selected path from which nothing authenticated came for this long is checked again, out of turn of consent.
  /// Media and RTCP never pause that long and Chromium checks every 2.5 s, so a healthy path has no extra checks.
  public var probeAfter: Duration = .seconds(3)
  /// The time between such checks: several fit before `weakAfter`, so that one lost packet raises no alarm.
  public var probeInterval: Duration = .milliseconds(500)
  /// The same once the path is weak: recovery is to be seen soon after it happens.
  public var weakProbeInterval: Duration = .seconds(1)
  /// A selected path from which nothing authenticated (response, request or data) came for this long is weak: the
  /// state becomes `disconnected` and the other pairs are tried again. libwebrtc reports after about 5 s too.
  public var weakAfter: Duration = .seconds(5)
  /// How long a controlling agent that has a valid pair waits for a pair of higher priority that is still being checked.
  /// Data flows meanwhile, so waiting costs little; peers that wait for nomination should not wait long.
  public var nominationPatience: Duration = .milliseconds(50)
  /// With no working pair and no new candidate or check for this long, the agent has failed. RFC 8863 asks for 79 times
  /// the first timeout; a person who walks a phone into range has twice that.
  public var failedAfter: Duration = .seconds(30)
  /// The same when the peer has said that no more candidates come and every pair has failed.
  public var failedAfterEndOfCandidates: Duration = .seconds(16)
  /// A board has a few interfaces with a few IPv6 addresses each.
  public var maximumLocalCandidates = 32
  /// Browsers send up to about 20; the peer-reflexive ones of a night of rebinding NATs come on top, the oldest give way.
  public var maximumRemoteCandidates = 64
  /// RFC 8445 section 6.1.2.5.
  public var maximumPairs = 100
  /// Authenticated checks that came before the peer's credentials: one per path is kept, the oldest give way.
  public var maximumEarlyChecks = 16

  public init() {}
}
