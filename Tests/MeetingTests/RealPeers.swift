import Testing

/// Tests with servers that we did not write.
@Suite(.serialized) enum RealPeers {}
