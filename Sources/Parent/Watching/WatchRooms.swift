internal import Monitoring
internal import Wire

/// Several rooms that are watched at once. Pure.
public enum WatchRooms {
  /// Whose alarm "I'm on it" is for: the one that has been wrong for longest; where nothing rings, the chosen room's.
  public static func answered(_ views: [WatchView], chosen: Int) -> Int {
    let ringing = views.indices.filter { views[$0].isRinging }
    return ringing.min { (views[$0].alarm?.since ?? .zero) < (views[$1].alarm?.since ?? .zero) } ?? chosen
  }
}
