public import Foundation

/// Inputs that are kept with the sources.
public enum SavedInputs {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

  /// What libFuzzer found to reach different code, minimised: Corpus/‹body›/*.
  public static func corpus(of body: any FuzzBody.Type) -> [[UInt8]] {
    files(in: folder.appending(path: "Corpus/\(body.slug)")).compactMap(bytes)
  }

  /// What once trapped or hung: Findings/‹body›-‹what›.bin, kept for ever.
  public static func findings(of body: any FuzzBody.Type) -> [[UInt8]] {
    files(in: folder.appending(path: "Findings")).filter { file in
      // A longer slug may begin with this one.
      let owner = FuzzBodies.all.filter { file.lastPathComponent.hasPrefix($0.slug + "-") }
        .max { $0.slug.count < $1.slug.count }
      return owner?.slug == body.slug
    }.compactMap(bytes)
  }

  /// The folder's files in the order of their names; none where there is no folder.
  public static func files(in folder: URL) -> [URL] {
    let found = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return (found ?? []).sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  private static func bytes(_ file: URL) -> [UInt8]? {
    (try? Data(contentsOf: file)).map { [UInt8]($0) }
  }
}
