public import Signaling

// Signed messages (ES256, RFC 7518 section 3.4) are checked as pairing checks its signatures.
extension PairingPrimitives: MessageVerifier {}
