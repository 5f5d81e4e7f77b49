internal import Wire

extension ConfigurationSection {
  /// Up to 8 IP addresses; none if the key is missing or refused.
  func addresses(_ key: String) -> Set<IPAddress> {
    var result: Set<IPAddress> = []
    for node in list(key, maximum: 8) ?? [] {
      guard let text = node.scalar?.string, let address = IPAddress(text) else {
        reader.report(node, path(key), "must be addresses, such as \"127.0.0.1\"; but one is \(node.kind)")
        continue
      }
      result.insert(address)
    }
    return result
  }
}
