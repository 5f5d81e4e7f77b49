internal import Messages

/// The program's version, as `--version` gives it; the same as the child's of one release.
public var version: String { productVersion }
