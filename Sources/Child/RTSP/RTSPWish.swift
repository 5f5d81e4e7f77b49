internal import RTSP
internal import Signaling

/// What a player asks for in its address: `?camera=ID&video=…&audio=…`. interfaces/wire.md, "RTSP".
struct RTSPWish {
  /// Index; as asked for, or the one that is streamed.
  var camera = 0
  /// Nil: none.
  var picture: RTSPTrack.Media? = .vp8
  var sound: RTSPTrack.Media? = .opus

  init() {}

  /// Throws `Problem` for what is not known; the camera is looked up by the caller.
  init(_ query: URLQuery) throws(Problem) {
    switch try query.value(of: "video") {
    case nil, "vp8": break
    case "h264": picture = .h264
    case "none": picture = nil
    default: throw Problem(400, "video is vp8, h264 or none")
    }
    switch try query.value(of: "audio") {
    case nil, "opus": break
    case "pcmu": sound = .pcmu
    case "none": sound = nil
    default: throw Problem(400, "audio is opus, pcmu or none")
    }
  }
}
