import Control
import Frames
import Pipelines
import Wire

@testable import Child
@testable import Server

/// One camera's viewers in fake time, looked at ten times a second.
struct RenditionHouse {
  var allocator = RenditionAllocator(settings: .init(range: 150...2500, startKbps: 1500))
  var viewers: [RenditionAllocator.Viewer] = []
  var now = Instant.zero + .seconds(100)
  var size = (width: 1280, height: 720)
  var allocation = RenditionAllocator.Allocation(assignments: [:], targets: PerRendition { _ in nil })
  /// How often each viewer's step has changed.
  var changes: [PeerID: Int] = [:]

  /// Viewers whose connections have been up for long.
  init(_ estimates: Int...) {
    for estimate in estimates { add(estimate, since: .zero) }
    look()
    changes = [:]
  }

  mutating func add(_ estimate: Int?, since: Instant? = nil, isLent: Bool = false) {
    let id = PeerID(number: UInt64(viewers.count))
    viewers.append(.init(id: id, estimateKbps: estimate, soundKbps: 50, since: since ?? now, isLent: isLent))
  }

  mutating func look(isRecorded: Bool = false) {
    let before = allocation
    allocation = allocator.allocate(viewers, size: size, isRecorded: isRecorded, now: now)
    for (id, assignment) in allocation.assignments
    where before.assignments[id].map({ $0.step != assignment.step }) ?? false {
      changes[id, default: 0] += 1
    }
  }

  mutating func run(seconds: Double, each: (inout RenditionHouse) -> Void = { _ in }) {
    let end = now + .seconds(seconds)
    while now < end {
      now = now + .milliseconds(100)
      each(&self)
      look()
    }
  }

  mutating func repair(
    _ rendition: Rendition, _ index: Int, isShared: Bool = true
  ) -> RenditionAllocator.Repair {
    allocator.repair(rendition, for: viewers[index].id, isShared: isShared, size: size, now: now)
  }

  func assignment(_ index: Int) -> PictureAssignment? { allocation.assignments[viewers[index].id] }
  func step(_ index: Int) -> PictureStep? { assignment(index)?.step }
  var steps: [PictureStep?] { viewers.indices.map(step) }
  func kbps(_ rendition: Rendition) -> Int? { allocation.targets[rendition]?.kbps }
  func changes(_ index: Int) -> Int { changes[viewers[index].id] ?? 0 }
}
