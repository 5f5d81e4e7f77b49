import Foundation
import Testing

/// Rows of the fault table that take little time (docs/FAULTS.md); `make test-faults` has all. Needs root, as CI has.
extension RealPeers {
  @Suite struct FaultTests {
    @Test(arguments: ["child-killed", "child-stopped", "network-3s", "network-10s", "camera-frozen"])
    func theBoundsHold(row: String) throws {
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let (output, error, status) = try ChildProcess.run(
        "python3",
        [
          root.appending(path: "Tests/Faults/run").path, "--busy", "--row", row, "--child", ChildProcess.program.path,
          "--parent",
          ParentProcess.program.path,
        ])
      #expect(status == 0, "\(output)\(error)")
    }
  }
}
