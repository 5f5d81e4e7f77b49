import Testing

/// Tests that start real programs. One at a time: two cores do not carry several browsers and a child at once.
@Suite(.serialized) enum RealPeers {}
