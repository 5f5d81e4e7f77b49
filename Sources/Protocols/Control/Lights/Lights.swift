public import Wire

/// All lights of a child. A command names one by its id; without an id it means the first.
public struct Lights: Sendable {
  private var controllers: [LightController]

  public init(_ controllers: [LightController]) {
    self.controllers = controllers
  }

  /// `light.set`. Returns the new state. Throws `bad-parameters` for an unknown id; `unavailable` when there is no light,
  /// it does not answer, or it cannot do this.
  public mutating func set(_ setting: LightSet, now: Instant) throws(ControlError) -> LightDocument {
    let index = try index(of: setting.id)
    try controllers[index].set(setting, now: now)
    return controllers[index].state.document(now: now)
  }

  /// `light.flash`. Returns and throws as `set` does.
  public mutating func flash(_ pattern: LightFlash, now: Instant) throws(ControlError) -> LightDocument {
    let index = try index(of: pattern.id)
    try controllers[index].flash(pattern, now: now)
    return controllers[index].state.document(now: now)
  }

  /// The program ends: all lights go out.
  public mutating func restore() {
    for index in controllers.indices { controllers[index].restore() }
  }

  /// Sets whether the device can be driven, and, when known, whether it can be dimmed.
  public mutating func setPresent(_ present: Bool, isDimmable: Bool? = nil, id: String) {
    guard let index = controllers.firstIndex(where: { $0.id == id }) else { return }
    controllers[index].setPresent(present, isDimmable: isDimmable)
  }

  /// The next device to drive and its level in percent; nil when there is nothing to do.
  public mutating func poll() -> (id: String, level: Int)? {
    for index in controllers.indices {
      if let level = controllers[index].poll() { return (controllers[index].id, level) }
    }
    return nil
  }

  public var nextDeadline: Instant? { controllers.compactMap(\.nextDeadline).min() }

  public mutating func handleTimeout(now: Instant) {
    for index in controllers.indices { controllers[index].handleTimeout(now: now) }
  }

  public var states: [LightState] { controllers.map(\.state) }

  private func index(of id: String?) throws(ControlError) -> Int {
    guard !controllers.isEmpty else { throw ControlError(.unavailable, "The baby unit has no light.") }
    guard let id else { return 0 }
    guard let index = controllers.firstIndex(where: { $0.id == id }) else {
      let known = controllers.map(\.id).joined(separator: ", ")
      throw ControlError(.badParameters, "No light called \"\(id)\". There are: \(known).")
    }
    return index
  }
}
