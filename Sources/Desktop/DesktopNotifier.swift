internal import CDBus
internal import Frames
internal import Glibc
internal import Linux
internal import Synchronization

/// Notifications of the desktop, org.freedesktop.Notifications, over libdbus: Avahi's client library brings it along
/// anyway, while `notify-send`, `gdbus` and `busctl` are not on every machine. Where there is no session bus or nobody who
/// shows notifications, nothing happens.
///
/// One notification at a time; a thread of its own waits for the desktop.
public final class DesktopNotifier: Sendable {
  private enum Order: Sendable {
    case show(title: String, body: String)
    case withdraw
  }

  private let orders = Mailbox<Order>(capacity: 4)
  private let hasBegun = Atomic<Bool>(false)

  public init() {}

  /// Shows a notification in place of the one before. From any thread; returns at once.
  public func show(title: String, body: String) {
    begin()
    orders.put(.show(title: title, body: body))
  }

  /// Takes the notification away.
  public func withdraw() {
    if hasBegun.load(ordering: .relaxed) { orders.put(.withdraw) }
  }

  /// No more of them; one that is shown goes with the connection.
  public func close() {
    orders.close()
  }

  private func begin() {
    guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
    let orders = orders
    _ = WorkerThread(name: "notify") {
      var bus: OpaquePointer?
      var number: UInt32 = 0
      while let order = orders.take() {
        if let known = bus, cdbus_drain(known) == 0 {
          cdbus_close(known)
          (bus, number) = (nil, 0)
        }
        switch order {
        case .show(let title, let body):
          if bus == nil { bus = Self.address.flatMap { cdbus_open($0) } }
          if let bus { number = cdbus_notify(bus, number, title, body) }
        case .withdraw:
          if let bus, number != 0 { cdbus_withdraw(bus, number) }
          number = 0
        }
      }
      if let bus {
        if number != 0 { cdbus_withdraw(bus, number) }
        cdbus_close(bus)
      }
    }
  }

  /// The session's bus, if there is one; libdbus by itself would start another.
  private static var address: String? {
    if let address = getenv("DBUS_SESSION_BUS_ADDRESS") { return String(cString: address) }
    guard let folder = getenv("XDG_RUNTIME_DIR") else { return nil }
    let path = String(cString: folder) + "/bus"
    return access(path, R_OK | W_OK) == 0 ? "unix:path=\(path)" : nil
  }
}
