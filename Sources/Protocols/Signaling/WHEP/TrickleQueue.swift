internal import SDP

/// Our candidates that have not been sent to the server yet. RFC 8840 section 4.
struct TrickleQueue: Sendable {
  /// Lines of the offer that each fragment repeats to name its ICE session.
  private var header = TrickleFragment()
  private var mid = ""
  private var mediaLine = ""
  private var sent: Set<String> = []
  private var waiting: [String] = []
  private var isEndTold = false
  private var isEndWaiting = false

  /// Candidates in the offer count as sent.
  init(offer: SessionDescription) {
    // RFC 9725 section 4.3.2: the fragment has the offerer-tagged section of the bundle group alone.
    let tagged = offer.bundle?.first.flatMap(offer.media(mid:)) ?? offer.media.first
    guard let tagged else { return }
    header = TrickleFragment(
      ufrag: tagged.iceUfrag, pwd: tagged.icePwd, iceOptions: tagged.iceOptions, bundle: offer.bundle ?? [])
    mid = tagged.mid ?? ""
    mediaLine = "\(tagged.kind.name) 9 \(tagged.transport) \(tagged.formats.joined(separator: " "))"
    sent = Set(offer.media.flatMap(\.candidates))
    isEndTold = tagged.endOfCandidates
  }

  mutating func add(_ candidate: String) {
    guard !isEndTold, !isEndWaiting, sent.count < SDPLimits.candidates, sent.insert(candidate).inserted else { return }
    waiting.append(candidate)
  }

  mutating func end() {
    isEndWaiting = !isEndTold
  }

  /// A new ICE session of ours; unsent candidates of the old one are dropped.
  mutating func restart(ufrag: String, pwd: String) {
    header.ufrag = ufrag
    header.pwd = pwd
    sent = []
    waiting = []
    isEndTold = false
    isEndWaiting = false
  }

  /// A fragment with the first candidates of an ICE session.
  mutating func fragment(_ candidates: [String]) -> TrickleFragment {
    sent.formUnion(candidates)
    let first = Set(candidates)
    let later = waiting.filter { !first.contains($0) }
    waiting = []
    defer {
      if isEndWaiting { isEndTold = true }
      isEndWaiting = false
    }
    return fragment(candidates + later, isEnd: isEndWaiting)
  }

  /// Takes all unsent candidates; nil without any.
  mutating func takeBatch() -> TrickleFragment? {
    guard !waiting.isEmpty || isEndWaiting else { return nil }
    let batch = fragment(waiting, isEnd: isEndWaiting)
    waiting = []
    if isEndWaiting { isEndTold = true }
    isEndWaiting = false
    return batch
  }

  private func fragment(_ candidates: [String], isEnd: Bool) -> TrickleFragment {
    var fragment = header
    fragment.sections = [
      .init(
        mid: mid, mediaLine: mediaLine, candidates: Array(candidates.prefix(SDPLimits.candidates)),
        endOfCandidates: isEnd)
    ]
    return fragment
  }
}
