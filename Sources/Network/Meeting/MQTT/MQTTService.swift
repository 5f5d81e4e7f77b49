internal import Glibc
internal import Linux
internal import Signaling
internal import Wire

/// Serves one connection to a broker, in a process of its own (`MeetingService`).
struct MQTTService: Sendable {
  let settings: MQTTSettings
  let mailbox: MQTTConnection.Mailbox
  /// Hands events on; without any it is a sign of life.
  let announce: @Sendable () -> Void

  /// For TCP, TLS, CONNACK and SUBACK together.
  private static let limit: Duration = .seconds(8)
  /// Before the other address family is tried.
  private static let familyLimit: Duration = .seconds(3)
  /// For the acknowledgement of the last publication.
  private static let farewellLimit: Duration = .seconds(2)
  /// How often the library looks whether a ping is due.
  private static let rest: Duration = .seconds(5)
  /// Publications that the broker has not acknowledged.
  private static let mostUnacknowledged = 256
  /// In bytes. A broker of MQTT 3.1.1 sends what somebody has left at the child's topic, however long it is, with every new
  /// connection; it is passed over as long as it costs little.
  private static let mostInflow: UInt64 = 8 << 20

  private func post(_ event: MQTTConnection.Event) {
    if mailbox.post(event) { announce() }
  }

  func run(within budget: ProcessorBudget) {
    var budget = budget
    for version in MQTTVersion.allCases {
      do throws(MQTTProblem) {
        return try connect(version, &budget)
      } catch {
        switch error {
        case .lost(let reason): return post(.closed(reason))
        case .closed: return post(.closed(MQTTWords.closed))
        case .malformed: return post(.closed(MQTTWords.malformed))
        case .abandoned: return post(.left)
        case .unsupportedVersion: continue
        }
      }
    }
    post(.closed("it speaks neither MQTT 5 nor MQTT 3.1.1"))
  }

  private func connect(_ version: MQTTVersion, _ budget: inout ProcessorBudget) throws(MQTTProblem) {
    guard let server = BrokerURL(settings.place.url) else {
      throw .lost("\(settings.place.url) is not \(BrokerURL.allowed)")
    }
    let patience = ContinuousClock.now + Self.limit
    var client = try MosquittoClient.make(settings, isEncrypted: server.isEncrypted, version: version)
    try client.connect(to: server, keepalive: settings.keepalive, from: nil)
    let family = Self.family(client.descriptor)
    do throws(MQTTProblem) {
      try reach(client, until: min(patience, .now + Self.familyLimit))
    } catch {
      // Many networks have an IPv6 that leads nowhere, and many names two addresses of which one has no broker.
      if case .abandoned = error { throw error }
      let first = error
      client = try MosquittoClient.make(settings, isEncrypted: server.isEncrypted, version: version)
      do throws(MQTTProblem) {
        try client.connect(
          to: server, keepalive: settings.keepalive, from: family == AF_INET6 ? "0.0.0.0" : "::")
      } catch {
        // There is none.
        throw first
      }
      try reach(client, until: patience)
    }
    var progress = Progress(end: patience)
    do throws(MQTTProblem) {
      try serve(client, version, &progress, &budget)
    } catch {
      guard version == .five, !progress.isAnswered else { throw error }
      switch error {
      // MQTT 5 section 3.1.2.2: a broker that does not know the version says so; one of MQTT 3.1.1 says it in a packet that is
      // none of MQTT 5, which libmosquitto 2.0.21 does not tell from any other. Older ones just close.
      case .closed, .malformed: throw .unsupportedVersion
      case .lost, .unsupportedVersion, .abandoned: throw error
      }
    }
  }

  private static func family(_ descriptor: Int32) -> Int32 {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutableBytes(of: &address) { bytes in
      getsockname(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
    }
    return result == 0 ? Int32(address.ss_family) : AF_UNSPEC
  }

  /// Waits until TCP is connected. The library would wait for ever.
  private func reach(_ client: borrowing MosquittoClient, until patience: ContinuousClock.Instant) throws(MQTTProblem) {
    while true {
      if case .none = mailbox.takeOrders().ending {} else { throw .abandoned }
      let ready = mailbox.wait(client.descriptor, for: Int16(POLLOUT), until: patience)
      if ready != 0 { break }
      if ContinuousClock.now >= patience { throw .lost(MQTTWords.silent) }
    }
    var error: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(client.descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
    if error != 0 { throw MQTTWords.system(error) }
  }
}

extension MQTTService {
  /// POLLRDHUP, which glibc declares for _GNU_SOURCE alone: the other side sends nothing any more.
  private static let hangup: Int16 = 0x2000

  /// What is known of a connection while it lasts.
  private struct Progress {
    /// The broker has accepted the connection.
    var isAnswered = false
    /// Answers to come.
    var subscribing = 0
    var isOpen = false
    /// By their numbers.
    var unacknowledged: [Int32: String] = [:]
    /// The last publication, once it has been made.
    var farewell: Int32?
    var isLeaving = false
    var end: ContinuousClock.Instant?
  }

  private func serve(
    _ client: borrowing MosquittoClient, _ version: MQTTVersion, _ progress: inout Progress,
    _ budget: inout ProcessorBudget
  ) throws(MQTTProblem) {
    var flow = InflowLimit(most: Self.mostInflow)
    while true {
      announce()
      let (publications, ending) = mailbox.takeOrders()
      for publication in publications { try publish(publication, client, version, &progress) }
      switch ending {
      case .none: break
      case .abandon: throw .abandoned
      case .leave(let farewell):
        if !progress.isLeaving {
          progress.isLeaving = true
          progress.end = .now + Self.farewellLimit
          if progress.isOpen, let farewell { progress.farewell = try client.publish(farewell, version: version) }
        }
        if progress.farewell == nil {
          client.disconnect()
          return post(.left)
        }
      }
      let now = ContinuousClock.now
      if let end = progress.end, now >= end {
        if progress.isLeaving { client.disconnect() }
        throw .lost(MQTTWords.silent)
      }
      let pause = [flow.pause(client.descriptor), budget.pause()].compactMap(\.self).max()
      let rest = min(now + Self.rest, progress.end ?? now + Self.rest, pause ?? now + Self.rest)
      try turn(client, isReading: pause == nil, until: rest, version, &progress)
      // First: where bytes come faster than they are read, one turn takes a whole message, however long.
      if flow.isExceeded(client.descriptor) { throw .lost(InflowLimit.words) }
      for entry in client.record.take() { try handle(entry, client, version, &progress, &flow) }
      if client.descriptor < 0 { throw .closed }
    }
  }

  private func turn(
    _ client: borrowing MosquittoClient, isReading: Bool, until end: ContinuousClock.Instant, _ version: MQTTVersion,
    _ progress: inout Progress
  ) throws(MQTTProblem) {
    guard isReading else {
      _ = mailbox.wait(-1, for: 0, until: end)
      return try client.work(canRead: false, canWrite: client.wantsToWrite)
    }
    let writing = client.wantsToWrite ? Int16(POLLOUT) : 0
    let ready = mailbox.wait(client.descriptor, for: Int16(POLLIN) | Self.hangup | writing, until: end)
    let isOver = ready & (Self.hangup | Int16(POLLHUP | POLLERR)) != 0
    do throws(MQTTProblem) {
      try client.work(canRead: ready & Int16(POLLIN) != 0 || isOver, canWrite: ready & Int16(POLLOUT) != 0)
      // Within a TLS handshake the library does not see that the other side has gone.
      if isOver, client.descriptor >= 0, InflowLimit.waiting(client.descriptor) == 0 { throw .closed }
    } catch {
      // The reason that the broker gave comes first.
      var flow = InflowLimit()
      for entry in client.record.take() { try handle(entry, client, version, &progress, &flow) }
      throw error
    }
  }

  private func publish(
    _ publication: MQTTPublication, _ client: borrowing MosquittoClient, _ version: MQTTVersion,
    _ progress: inout Progress
  ) throws(MQTTProblem) {
    guard progress.isOpen, progress.unacknowledged.count < Self.mostUnacknowledged else { return }
    if let number = try client.publish(publication, version: version) {
      progress.unacknowledged[number] = publication.topic
    } else {
      post(.received(.published(topic: publication.topic, refusal: "it is longer than the broker allows")))
    }
  }

  private func handle(
    _ entry: MosquittoRecord.Entry, _ client: borrowing MosquittoClient, _ version: MQTTVersion,
    _ progress: inout Progress, _ flow: inout InflowLimit
  ) throws(MQTTProblem) {
    flow.restart(client.descriptor)
    switch entry {
    case .connected(0):
      progress.isAnswered = true
      // What is kept is asked for, or not, by packet.
      for wantsRetained in [true, false] {
        let topics = settings.subscriptions.filter { $0.wantsRetained == wantsRetained }.map(\.topic)
        guard !topics.isEmpty else { continue }
        progress.subscribing += 1
        try client.subscribe(topics, wantsRetained: wantsRetained)
      }
    case .connected(let code):
      throw MQTTWords.isUnsupportedVersion(code) ? .unsupportedVersion : .lost(MQTTWords.refusal(code))
    case .subscribed(let codes):
      // MQTT 5 section 3.9.3, MQTT 3.1.1 section 3.9.3.
      guard codes.allSatisfy({ (0..<128).contains($0) }) else {
        throw .lost("this account may not read its topics")
      }
      progress.subscribing -= 1
      guard progress.subscribing == 0 else { return }
      progress.isOpen = true
      if !progress.isLeaving { progress.end = nil }
      post(.open)
    case .message(let message, let isRetained):
      let isWanted = settings.subscriptions.contains { $0.topic == message.topic && ($0.wantsRetained || !isRetained) }
      if isWanted { post(.received(.message(message))) }
    case .unusable: break
    case .acknowledged(let number, let reason):
      if number == progress.farewell { progress.farewell = nil }
      guard let topic = progress.unacknowledged.removeValue(forKey: number) else { return }
      post(.received(.published(topic: topic, refusal: reason < 128 ? nil : MQTTWords.reason(reason))))
    case .disconnected(let reason):
      // Smaller ones are the library's, which returns them as well.
      if reason >= 128 { throw .lost(MQTTWords.reason(reason)) }
    }
  }
}
