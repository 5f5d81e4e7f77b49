internal import ArgumentParser

/// Options that take the path of a file or a directory.
public enum PathOption {
  /// Throws a usage error for a path that was given and is empty, as an unset variable of a script makes it.
  public static func check(_ paths: KeyValuePairs<String, String?>) throws {
    for (option, path) in paths where path?.isEmpty == true {
      throw ValidationError("\(option) is empty. Name a path, or leave the option out.")
    }
  }
}
