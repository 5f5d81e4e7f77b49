internal import Pairing
public import Wire

/// A child's proof to a room server elsewhere that the room's name is that of its key, so that nobody else can take the
/// host's place in it.
public struct HostProof: Hashable, Sendable {
  /// The child's id, which is the room's name.
  public var child: String
  /// The server's name as the child knows it, in lower case. A proof for one server is of no use at another.
  public var server: String
  /// Of the registration.
  public var challenge: String
  /// DER SubjectPublicKeyInfo of the identity key.
  public var publicKeySPKI: [UInt8]

  public init(child: String, server: String, challenge: String, publicKeySPKI: [UInt8]) {
    self.child = child
    self.server = server
    self.challenge = challenge
    self.publicKeySPKI = publicKeySPKI
  }
}

/// Who may host a room, as a server knows it that many children share.
public struct RoomHosts: Sendable {
  /// The server's own names, in lower case.
  private let names: Set<String>
  /// Ids of the children that may use it; nil: any.
  private let children: Set<String>?
  private let verifier: any MessageVerifier
  private let hashes: any Hashes

  public init(
    names: Set<String>, children: Set<String>?, verifier: any MessageVerifier, hashes: any Hashes
  ) {
    self.names = names
    self.children = children
    self.verifier = verifier
    self.hashes = hashes
  }

  /// Whether a child of this id may have a room here.
  func mayHost(_ room: String) -> Bool {
    SignedMessage.isNodeID(room) && children?.contains(room) ?? true
  }

  /// Accepts the proof, or says why not.
  func check(_ proof: String, room: String, challenge: String) throws(RoomError) {
    do throws(SignalingRefusal) {
      let form = try SignedCompactForm(parsing: proof)
      let claim = try SignedMessageJSON.hostProof(ofPayload: form.payload)
      guard try SignedMessageJSON.signer(ofHeader: form.header) == room, claim.child == room,
        IdentityKey.id(publicKeySPKI: claim.publicKeySPKI, hashes: hashes) == room
      else { throw .wrongSender }
      guard claim.challenge == challenge else { throw .wrongChallenge }
      guard names.contains(claim.server) else { throw .wrongRecipient }
      guard verifier.isSignature(form.signature, over: form.signingInput, by: claim.publicKeySPKI) else {
        throw .badSignature
      }
    } catch .wrongRecipient {
      throw RoomError(
        .refused, "the proof is for a server of another name; this one is \(names.sorted().joined(separator: ", "))")
    } catch {
      throw RoomError(.refused, "no proof that this is the room's child: \(error)")
    }
  }
}
