import Pairing
import Signaling

/// Every signature is as good as another.
struct BlindSignatures: MessageVerifier, IdentitySigner {
  let publicKeySPKI: [UInt8] = []

  func isSignature(_ signature: [UInt8], over message: [UInt8], by publicKey: [UInt8]) -> Bool { true }
  func sign(_ message: [UInt8]) -> [UInt8] { Array(repeating: 1, count: IdentityKey.signatureByteCount) }
}
