internal import Control
internal import Frames
internal import Pipelines
internal import Server
internal import Wire

/// Key frames for players that never ask for one by RTCP: what one misses it misses for good, and who opens a stream second that
/// such a player passes on sees nothing. While others watch the same rendition, those players get an encoder of their own, so
/// that nobody else pays for their key frames. One for each camera. Pure.
struct PictureRefresh {
  /// The time between two key frames at least: with what encoding takes and a camera of a few fps, 4 s at most.
  static let spacing = Duration.milliseconds(3500)

  /// Of the time, what the encoders may take before there is another one, and with it.
  private static let idleShare = 0.3
  private static let busyShare = 0.6

  /// How long a machine that was too slow for another encoder is not asked again.
  private static let retryAfter = Duration.seconds(60)

  /// Who is on `refreshed`. It stays there, even if it asks or is alone now: to come back costs a key frame as well.
  private(set) var separate: Set<PeerID> = []
  private var measured: (at: Instant, nanoseconds: Int64)?
  /// Of the last second, what the encoders took.
  private var share = 0.0
  private var busyUntil: Instant?

  /// Call each second with the time that all encoders of the camera have taken so far.
  mutating func measure(encodeNanoseconds: Int64, now: Instant) {
    if let last = measured, now > last.at {
      share = Double(encodeNanoseconds - last.nanoseconds) / Double((now - last.at).nanoseconds)
    }
    measured = (now, encodeNanoseconds)
    guard share > (separate.isEmpty ? Self.idleShare : Self.busyShare) else { return }
    if !separate.isEmpty { busyUntil = now + Self.retryAfter }
    separate = []
  }

  /// Moves those that never ask to an encoder of their own where others are on `high` and the machine has time for it.
  ///
  /// - Parameter isRecorded: `high` goes on without viewers.
  mutating func divide(
    _ allocation: inout RenditionAllocator.Allocation, silent: Set<PeerID>, isRecorded: Bool, now: Instant
  ) {
    let high = allocation.assignments.filter { $0.value.rendition == .high && $0.value.step == .high }
    separate.formIntersection(high.keys)
    let quiet = high.keys.filter(silent.contains)
    let mayBegin = share <= Self.idleShare && busyUntil.map { now >= $0 } ?? true
    if quiet.count < high.count, mayBegin || !separate.isEmpty { separate.formUnion(quiet) }
    guard !separate.isEmpty else { return }
    for id in separate { allocation.assignments[id]?.rendition = .refreshed }
    allocation.targets[.refreshed] = allocation.targets[.high]
    if separate.count == high.count, !isRecorded { allocation.targets[.high] = nil }
  }

  /// Renditions of which a key frame is due at least each `spacing`.
  ///
  /// - Parameter viewers: what each that never asks is sent, and whether it could ask. One that could has no room for key frames
  ///   that it does not need where its path carries the smallest picture alone.
  static func due(_ viewers: [(assignment: PictureAssignment, canAsk: Bool)]) -> Set<Rendition> {
    Set(
      viewers.compactMap { viewer in
        let hasRoom = viewer.assignment.step >= .middle || viewer.assignment.step == .low && !viewer.canAsk
        return hasRoom ? viewer.assignment.rendition : nil
      })
  }
}
