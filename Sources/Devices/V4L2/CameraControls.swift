internal import CLinux
internal import DeviceNames
internal import Wire

/// A V4L2 control of a camera: kernel documentation, userspace-api/media/v4l/control.rst and vidioc-queryctrl.rst.
public struct CameraControlDescription: Codable, Hashable, Sendable {
  public enum Kind: String, Codable, Hashable, Sendable {
    case integer, boolean, menu, bitmask, button
    /// A menu whose entries are numbers.
    case integerMenu = "integer-menu"
  }

  public struct Entry: Codable, Hashable, Sendable {
    public var index: Int64
    public var name: String
  }

  /// For the configuration: `CameraControl.normalized` of the driver's name.
  public var name: String
  /// The driver's name.
  public var title: String
  public var kind: Kind
  public var minimum: Int64
  public var maximum: Int64
  public var step: Int64
  /// The driver's default.
  public var standard: Int64
  /// Nil if it cannot be read.
  public var value: Int64?
  /// A menu's entries; may leave indices out.
  public var entries: [Entry]
  public var isReadOnly: Bool
  /// It has no effect at the moment, most often because an automatic mode is on.
  public var isInactive: Bool

  /// `0 to 255`, or a menu's entries: `1 (Manual Mode), 3 (Aperture Priority Mode)`.
  public var range: String {
    switch kind {
    case .menu, .integerMenu: entries.map { "\($0.index) (\($0.name))" }.joined(separator: ", ")
    case .integer, .boolean, .bitmask, .button:
      "\(minimum) to \(maximum)" + (step > 1 ? " in steps of \(step)" : "")
    }
  }
}

/// The system calls for controls.
protocol ControlCalls {
  /// The control with the next higher id; nil after the last one.
  func next(after id: UInt32) -> v4l2_query_ext_ctrl?
  /// The name of a menu's entry; nil if there is none at this index.
  func entry(_ index: UInt32, of id: UInt32, isNumber: Bool) -> String?
  func value(of id: UInt32, isLong: Bool) -> Int64?
  /// 0 or the errno.
  func set(_ id: UInt32, isLong: Bool, to value: Int64) -> Int32
}

/// The controls of an open camera; `calls` must not outlive its descriptor.
struct CameraControls<Calls: ControlCalls> {
  let calls: Calls
  let all: [Found]

  struct Found {
    let id: UInt32
    let isLong: Bool
    let isVolatile: Bool
    var description: CameraControlDescription
  }

  /// Cameras have a few dozen; a broken driver may never end its list.
  private static var most: Int { 512 }
  private static var mostEntries: Int64 { 64 }

  init(_ calls: Calls) {
    self.calls = calls
    var found: [Found] = []
    var last: UInt32 = 0
    for _ in 0..<Self.most {
      guard let query = calls.next(after: last), query.id > last else { break }
      last = query.id
      if let control = Self.control(query, calls) { found.append(control) }
    }
    all = found
  }

  /// Nil for what cannot be set to a number: titles of groups, texts, arrays.
  private static func control(_ query: v4l2_query_ext_ctrl, _ calls: Calls) -> Found? {
    guard query.flags & CLINUX_CTRL_FLAG_DISABLED == 0, let kind = kind(ofType: query.type) else { return nil }
    let title = withUnsafeBytes(of: query.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self).printable() }
    let isLong = query.type == V4L2_CTRL_TYPE_INTEGER64.rawValue
    var entries: [CameraControlDescription.Entry] = []
    if kind == .menu || kind == .integerMenu {
      let last = min(query.maximum, mostEntries)
      for index in stride(from: max(0, query.minimum), through: last, by: 1) {
        if let name = calls.entry(UInt32(index), of: query.id, isNumber: kind == .integerMenu) {
          entries.append(.init(index: index, name: name))
        }
      }
    }
    let isReadable = query.flags & CLINUX_CTRL_FLAG_WRITE_ONLY == 0 && kind != .button
    return Found(
      id: query.id, isLong: isLong, isVolatile: query.flags & CLINUX_CTRL_FLAG_VOLATILE != 0,
      description: CameraControlDescription(
        name: CameraControl.normalized(title), title: title, kind: kind, minimum: query.minimum,
        maximum: query.maximum, step: Int64(clamping: query.step), standard: query.default_value,
        value: isReadable ? calls.value(of: query.id, isLong: isLong) : nil, entries: entries,
        isReadOnly: query.flags & CLINUX_CTRL_FLAG_READ_ONLY != 0,
        isInactive: query.flags & CLINUX_CTRL_FLAG_INACTIVE != 0))
  }

  private static func kind(ofType type: UInt32) -> CameraControlDescription.Kind? {
    switch type {
    case V4L2_CTRL_TYPE_INTEGER.rawValue, V4L2_CTRL_TYPE_INTEGER64.rawValue: .integer
    case V4L2_CTRL_TYPE_BOOLEAN.rawValue: .boolean
    case V4L2_CTRL_TYPE_MENU.rawValue: .menu
    case V4L2_CTRL_TYPE_INTEGER_MENU.rawValue: .integerMenu
    case V4L2_CTRL_TYPE_BITMASK.rawValue: .bitmask
    case V4L2_CTRL_TYPE_BUTTON.rawValue: .button
    default: nil
    }
  }

  /// By its name, or by the name that another version of the kernel gives it.
  func find(_ name: String) -> Found? {
    if let control = all.first(where: { $0.description.name == name }) { return control }
    guard let id = CameraControlNames.both[name] else { return nil }
    return all.first { $0.id == id }
  }

  // MARK: Setting

  /// Sets one control after the other, in the order written: what an automatic mode governs can be set after that mode.
  ///
  /// - Returns: a sentence for each one that could not be set, or that will have no effect.
  func apply(_ settings: [CameraControl]) -> [String] {
    settings.compactMap(apply)
  }

  private func apply(_ setting: CameraControl) -> String? {
    let (name, value) = (setting.name, setting.value)
    guard let control = find(name) else { return unknown(name) }
    if let refusal = refusal(of: value, control.description) { return "control \(name): \(refusal)" }
    let number = calls.set(control.id, isLong: control.isLong, to: value)
    // What was set before may have changed its flags.
    let now = calls.next(after: control.id - 1).flatMap { $0.id == control.id ? Self.control($0, calls) : nil }
    let isInactive = (now ?? control).description.isInactive
    let hint = "an automatic control governs it: set that one before it"
    if number != 0 {
      let error = DeviceError(device: name, reason: .io(operation: "VIDIOC_S_EXT_CTRLS", errno: number))
      return "control \(name): \(error.summary)" + (isInactive ? "; \(hint)" : "")
    }
    if isInactive { return "control \(name): \(value) has no effect, \(hint)" }
    if let took = now?.description.value, took != value, !control.isVolatile {
      return "control \(name): the camera took \(took) instead of \(value)"
    }
    return nil
  }

  private func refusal(of value: Int64, _ control: CameraControlDescription) -> String? {
    if control.kind == .button { return "it is a button, which has no value" }
    if control.isReadOnly { return "it can only be read" }
    switch control.kind {
    case .menu, .integerMenu:
      return control.entries.contains { $0.index == value }
        ? nil : "there is no entry \(value); there are \(control.range)"
    case .bitmask:
      // A bit mask has its maximum in 32 bits without a sign.
      let allowed = control.maximum & 0xffff_ffff
      return value >= 0 && value & ~allowed == 0 ? nil : "\(value) has bits beyond \(allowed)"
    case .integer, .boolean, .button:
      return value >= control.minimum && value <= control.maximum
        ? nil : "\(value) is beyond its range, \(control.range)"
    }
  }

  private func unknown(_ name: String) -> String {
    let settable = all.map(\.description).filter { !$0.isReadOnly && $0.kind != .button }
    guard let nearest = settable.min(by: { name.distance(to: $0.name) < name.distance(to: $1.name) }) else {
      return "control \(name): the camera has no controls"
    }
    return "control \(name): the camera has none of that name; the nearest is \(nearest.name), \(nearest.range)"
  }
}

/// Controls that kernels name differently: uvcvideo had names of its own until Linux 5.15, and has the V4L2 core's since.
private enum CameraControlNames {
  static let both: [String: UInt32] = [
    "exposure_auto": CLINUX_CID_EXPOSURE_AUTO, "auto_exposure": CLINUX_CID_EXPOSURE_AUTO,
    "exposure_absolute": CLINUX_CID_EXPOSURE_ABSOLUTE, "exposure_time_absolute": CLINUX_CID_EXPOSURE_ABSOLUTE,
    "exposure_auto_priority": CLINUX_CID_EXPOSURE_AUTO_PRIORITY,
    "exposure_dynamic_framerate": CLINUX_CID_EXPOSURE_AUTO_PRIORITY,
    "white_balance_temperature_auto": CLINUX_CID_AUTO_WHITE_BALANCE,
    "white_balance_automatic": CLINUX_CID_AUTO_WHITE_BALANCE,
    "focus_auto": CLINUX_CID_FOCUS_AUTO, "focus_automatic_continuous": CLINUX_CID_FOCUS_AUTO,
  ]
}

/// ioctl(2) on a camera's descriptor, which the owner keeps open.
struct SystemControlCalls: ControlCalls {
  let descriptor: Int32

  func next(after id: UInt32) -> v4l2_query_ext_ctrl? {
    var query = v4l2_query_ext_ctrl()
    return clinux_next_control(descriptor, id, &query) == 0 ? query : nil
  }

  func entry(_ index: UInt32, of id: UInt32, isNumber: Bool) -> String? {
    var value: Int64 = 0
    var name = [CChar](repeating: 0, count: 32)
    guard clinux_control_menu(descriptor, id, index, &name, &value) == 0 else { return nil }
    if isNumber { return "\(value)" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).printable()
  }

  func value(of id: UInt32, isLong: Bool) -> Int64? {
    var value: Int64 = 0
    return clinux_control_value(descriptor, 0, id, isLong ? 1 : 0, &value) == 0 ? value : nil
  }

  func set(_ id: UInt32, isLong: Bool, to value: Int64) -> Int32 {
    var value = value
    return -clinux_control_value(descriptor, 1, id, isLong ? 1 : 0, &value)
  }
}

extension String {
  /// Levenshtein's distance, in bytes.
  fileprivate func distance(to other: String) -> Int {
    let other = Array(other.utf8)
    var row = Array(0...other.count)
    for (line, byte) in utf8.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in other.indices {
        let changed = diagonal + (other[column] == byte ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(changed, row[column] + 1, diagonal + 1)
      }
    }
    return row[other.count]
  }
}
