public import Signaling

// Signed messages (ES256, RFC 7518 section 3.4) are verified like pairing signatures.
extension PairingPrimitives: MessageVerifier {}
