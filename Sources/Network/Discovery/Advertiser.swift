internal import Linux
internal import Synchronization
internal import Wire

/// Keeps a child registered: again after the daemon has restarted, and under another name if its own is taken.
final class Advertiser: Advertising {
  private let wish: AdvertisingWish

  init(_ advertisement: Advertisement, stateChanged: @escaping @Sendable (AdvertisingState) -> Void) {
    wish = AdvertisingWish(advertisement)
    _ = WorkerThread(name: "dns-sd-announce") { [wish] in
      var run = AdvertiserRun(wish: wish, stateChanged: stateChanged)
      run.run()
    }
  }

  deinit { stop() }

  func setPairing(_ pairing: PairingWindow) {
    wish.change { $0?.pairing = pairing }
  }

  func stop() {
    wish.change { $0 = nil }
  }
}

/// The advertisement to publish; nil once stopped. Set by the owner, applied by the thread.
private final class AdvertisingWish: Sendable {
  let wake = EventDescriptor()
  private let advertisement: Mutex<Advertisement?>

  init(_ advertisement: Advertisement) {
    self.advertisement = Mutex(advertisement)
  }

  var current: Advertisement? { advertisement.withLock { $0 } }

  func change(_ body: (inout Advertisement?) -> Void) {
    advertisement.withLock { body(&$0) }
    wake.raise()
  }
}

/// The thread's main loop.
private struct AdvertiserRun {
  let wish: AdvertisingWish
  let stateChanged: @Sendable (AdvertisingState) -> Void
  private var reported: AdvertisingState?
  private var backoff = Backoff.daemon

  init(wish: AdvertisingWish, stateChanged: @escaping @Sendable (AdvertisingState) -> Void) {
    self.wish = wish
    self.stateChanged = stateChanged
  }

  mutating func run() {
    guard let first = wish.current else { return }
    let name = ServiceNames.fitting(first.name)
    var tried = name
    while let wanted = wish.current {
      let failure: ServiceFailure
      do throws(ServiceFailure) {
        let text = ServiceText(wanted).bytes
        try serve(ServiceReference.register(name: tried, port: wanted.port, text: text), text: text)
        return
      } catch {
        failure = error
      }
      // Avahi renames a service if another machine has its name, but not if another local program has it.
      if failure.isNameConflict, let next = ServiceReference.alternative(to: tried) {
        tried = next
      } else {
        tried = name
        report(.waiting(failure.problem))
      }
      sleep(backoff.nextDelay())
    }
  }

  /// Returns when stopped.
  private mutating func serve(_ registration: ServiceReference, text: [UInt8]) throws(ServiceFailure) {
    var text = text
    while let wanted = wish.current {
      let wantedText = ServiceText(wanted).bytes
      if wantedText != text {
        try registration.update(text: wantedText)
        text = wantedText
      }
      guard wish.wake.wait(for: [registration], limit: nil) == [true] else { continue }
      for reply in registration.takeReplies() {
        switch reply {
        case .registered(let name):
          backoff.reset()
          report(.advertised(name: name))
        case .failed(let failure): throw failure
        case .found, .lost, .resolved, .address: break
        }
      }
    }
  }

  private mutating func report(_ state: AdvertisingState) {
    guard state != reported, wish.current != nil else { return }
    reported = state
    stateChanged(state)
  }

  /// Returns early when stopped.
  private func sleep(_ duration: Duration) {
    let end = ContinuousClock.now + duration
    while wish.current != nil, ContinuousClock.now < end {
      _ = wish.wake.wait(for: [], limit: end - ContinuousClock.now)
    }
  }
}
