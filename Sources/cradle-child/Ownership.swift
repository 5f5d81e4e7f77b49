/// What commands say while nobody may let others in and remove them.
enum Ownership {
  static let missing = "Nobody owns this camera. Whoever pairs by this command does: cradle-child pair --admin"
}
