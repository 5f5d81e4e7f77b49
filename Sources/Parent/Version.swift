/// The program's version, as `--version` gives it; the same as the child's of one release.
public let version = "0.1.0"
