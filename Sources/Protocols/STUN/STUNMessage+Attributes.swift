public import Wire

/// The first attribute of a kind; later ones are ignored (RFC 8489 section 14).
extension STUNMessage {
  public var username: String? {
    first { if case .username(let text) = $0 { text } else { nil } }
  }

  /// XOR-MAPPED-ADDRESS, or MAPPED-ADDRESS from a server that sends no other.
  public var mappedAddress: TransportAddress? {
    first { if case .xorMappedAddress(let address) = $0 { address } else { nil } }
      ?? first { if case .mappedAddress(let address) = $0 { address } else { nil } }
  }

  public var errorCode: Int? {
    first { if case .errorCode(let code, _) = $0 { code } else { nil } }
  }

  public var priority: UInt32? {
    first { if case .priority(let priority) = $0 { priority } else { nil } }
  }

  public var usesCandidate: Bool {
    attributes.contains(.useCandidate)
  }

  /// The number of this nomination, from a peer that numbers them.
  public var nomination: UInt32? {
    first { if case .nomination(let number) = $0 { number } else { nil } }
  }

  /// The tie-breaker of a sender in the controlling role.
  public var iceControlling: UInt64? {
    first { if case .iceControlling(let tieBreaker) = $0 { tieBreaker } else { nil } }
  }

  /// The tie-breaker of a sender in the controlled role.
  public var iceControlled: UInt64? {
    first { if case .iceControlled(let tieBreaker) = $0 { tieBreaker } else { nil } }
  }

  /// The reason that comes with `errorCode`, as the sender wrote it.
  public var errorReason: String? {
    first { if case .errorCode(_, let reason) = $0 { reason } else { nil } }
  }

  public var realm: String? {
    first { if case .realm(let text) = $0 { text } else { nil } }
  }

  public var nonce: [UInt8]? {
    first { if case .nonce(let bytes) = $0 { bytes } else { nil } }
  }

  /// In seconds.
  public var lifetime: UInt32? {
    first { if case .lifetime(let seconds) = $0 { seconds } else { nil } }
  }

  public var peerAddress: TransportAddress? {
    first { if case .xorPeerAddress(let address) = $0 { address } else { nil } }
  }

  public var relayedAddress: TransportAddress? {
    first { if case .xorRelayedAddress(let address) = $0 { address } else { nil } }
  }

  public var alternateServer: TransportAddress? {
    first { if case .alternateServer(let address) = $0 { address } else { nil } }
  }

  public var channelNumber: UInt16? {
    first { if case .channelNumber(let number) = $0 { number } else { nil } }
  }

  /// What is relayed.
  public var data: [UInt8]? {
    first { if case .data(let bytes) = $0 { bytes } else { nil } }
  }

  /// Unknown comprehension-required attributes: those without a case here, except `understood`, and those of TURN in a
  /// Binding request. A request with any is answered with 420. RFC 8489 section 6.3.1.
  public func unknownComprehensionRequired(understood: Set<STUNAttributeType> = []) -> [STUNAttributeType] {
    attributes.compactMap { attribute in
      let type = attribute.type
      var isUnknown = method == .binding && type.isOfTURN
      if case .raw = attribute { isUnknown = type.isComprehensionRequired }
      return isUnknown && !understood.contains(type) ? type : nil
    }
  }

  /// The error response to this request. RFC 8489 sections 6.3.1.1 and 14.9.
  public func errorResponse(
    code: Int, reason: String, unknownAttributes: [STUNAttributeType] = []
  ) -> STUNMessage {
    var attributes: [STUNAttribute] = [.errorCode(code: code, reason: reason)]
    if code == 420 { attributes.append(.unknownAttributes(unknownAttributes)) }
    return STUNMessage(.errorResponse, method, transactionID: transactionID, attributes: attributes)
  }

  private func first<Value>(_ value: (STUNAttribute) -> Value?) -> Value? {
    for attribute in attributes {
      if let found = value(attribute) { return found }
    }
    return nil
  }
}

/// The key of the long-term credential mechanism: MD5 over `username:realm:password`. RFC 8489 section 9.2.2.
///
/// Non-ASCII text must already be prepared with OpaqueString (RFC 8265).
public func stunLongTermKey(username: String, realm: String, password: String, hashes: any Hashes) -> [UInt8] {
  hashes.md5(Array("\(username):\(realm):\(password)".utf8))
}
