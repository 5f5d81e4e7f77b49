import Control
import Notifications
import Signaling
import WebPush
import Wire

/// What a browser says about its push service, and what is then sent there. Three lines: endpoint, key, secret; the rest is the
/// event's detail.
enum PushSubscriptionFuzz: FuzzBody {
  static let name = "push subscription"

  static let seeds: [[UInt8]] = [
    "https://fcm.googleapis.com/fcm/send/abc:APA91b\nBCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7V"
      + "d8pZGH6SRpkNtoIAiw4\nBTBZMqHH6r4Tts7J_aSIgg\nno such device",
    "https://192.168.1.1/x\nBA\nAA\n", "https://[64:ff9b::c0a8:101]:8443/a?b#c\n\n\n\u{1}", "http://localhost\n-\n_",
  ].map { Array($0.utf8) }

  /// Takes every key that begins as one.
  private struct BlindCrypto: WebPushCrypto {
    let hashes: any Hashes = BlindHashes()
    func ephemeralKey(seed: [UInt8]) -> EphemeralKey? {
      EphemeralKey(privateKey: [], publicKey: [UInt8](repeating: 4, count: 65))
    }
    func sharedSecret(_ key: EphemeralKey, with publicKey: [UInt8]) -> [UInt8]? { [UInt8](repeating: 7, count: 32) }
    func isPublicKey(_ bytes: [UInt8]) -> Bool { bytes.first == 4 }
    func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
      plaintext + [UInt8](repeating: 7, count: EncryptedContent.tagBytes)
    }
  }

  private struct BlindSigner: VAPIDSigner {
    let publicKey = [UInt8](repeating: 4, count: 65)
    func sign(_ message: [UInt8]) -> [UInt8] { [UInt8](repeating: 7, count: 64) }
  }

  static func run(_ input: [UInt8]) {
    let lines = input.split(separator: 10, maxSplits: 3, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard lines.count >= 3, let endpoint = try? PushEndpoint(lines[0], mayBePrivate: false) else { return }
    precondition(endpoint.url.origin.scheme == .https, "nothing is sent in the clear")
    if case .address(let address) = endpoint.url.origin.host {
      precondition(
        address.isPublic && !address.isLoopback && !address.isLinkLocal && !address.isUniqueLocal, "no house")
    }
    let again = try? PushEndpoint(endpoint.url.description, mayBePrivate: false)
    precondition(
      again == endpoint || endpoint.url.description.utf8.count > PushEndpoint.maximumBytes, "it can be stored")
    guard let key = Base64URL.decode(lines[1]), let secret = Base64URL.decode(lines[2]),
      let keys = SubscriptionKeys(publicKey: key, secret: secret, crypto: BlindCrypto())
    else { return }
    let text = lines.count > 3 ? lines[3] : ""
    var notification = Notification(kind: "camera-lost", level: .alarm, time: 0, name: text, id: text, detail: text)
    notification.kind = text
    var random = SystemRandomNumberGenerator()
    let request = PushRequest(
      notification, child: text, to: PushSubscription(endpoint: endpoint, keys: keys), contact: "mailto:a@b",
      unixTime: .max, random: PushRandom(using: &random), signer: BlindSigner(), crypto: BlindCrypto())
    precondition(request.map { $0.body.count <= MessageEncryption.maximumBodyBytes } == true, "a push service takes it")
  }
}
