/// `GET /metrics`: the status in Prometheus' text format 0.0.4.
enum MetricsText {
  static func make(_ status: StatusReport) -> String {
    var text = ""
    func family(_ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: Double)]) {
      guard !samples.isEmpty else { return }
      text += "# HELP cradle_\(name) \(help)\n# TYPE cradle_\(name) \(type)\n"
      for sample in samples { text += "cradle_\(name)\(sample.labels) \(sample.value)\n" }
    }
    func one(_ name: String, _ type: String, _ help: String, _ value: Double) {
      family(name, type, help, [("", value)])
    }
    family("info", "gauge", "The node.", [("{id=\"\(status.id)\",version=\"\(status.version)\"}", 1)])
    one("uptime_seconds", "gauge", "Time since the node started.", status.uptimeSeconds)
    one("viewers", "gauge", "Viewers that are here now.", Double(status.viewers.count))
    one("alarms", "gauge", "Things that are wrong now.", Double(status.alarms.count))
    let cameras = { (value: (StatusReport.Camera) -> Double) in
      status.cameras.map { (labels: "{camera=\"\(escape($0.id))\"}", value: value($0)) }
    }
    family("camera_up", "gauge", "1 while the camera delivers.", cameras { $0.state == "running" ? 1 : 0 })
    family("frames_captured_total", "counter", "Pictures from the camera.", cameras { Double($0.captured) })
    family("frames_encoded_total", "counter", "Pictures encoded.", cameras { Double($0.encoded) })
    family("key_frames_encoded_total", "counter", "Key frames encoded.", cameras { Double($0.keyFrames) })
    family(
      "frames_dropped_total", "counter", "Pictures encoded, but dropped while the node could not send.",
      cameras { Double($0.dropped) })
    family("video_target_kbps", "gauge", "The encoder's target rate.", cameras { Double($0.targetKbps) })
    let renditions = { (value: (StatusReport.Rendition) -> Double) in
      status.cameras.flatMap { camera in
        camera.renditions.map { rendition in
          (
            labels: "{camera=\"\(escape(camera.id))\",rendition=\"\(rendition.name)\"}", value: value(rendition)
          )
        }
      }
    }
    family(
      "rendition_target_kbps", "gauge", "Target rate of each encoder that somebody is on.",
      renditions { Double($0.targetKbps) })
    family("rendition_viewers", "gauge", "Viewers on each encoder.", renditions { Double($0.viewers) })
    one("microphone_up", "gauge", "1 while the microphone delivers.", status.microphone.state == "running" ? 1 : 0)
    one("audio_blocks_captured_total", "counter", "Blocks of 20 ms heard.", Double(status.microphone.captured))
    one("audio_level_decibels", "gauge", "RMS sound level, dB below full scale.", status.microphone.levelDb)
    let viewers = { (value: (StatusReport.Viewer) -> Double) in
      status.viewers.enumerated().map { index, viewer in
        (labels: "{viewer=\"\(escape(viewer.name))\",number=\"\(index)\"}", value: value(viewer))
      }
    }
    family("viewer_bytes_sent_total", "counter", "Bytes sent to a viewer.", viewers { Double($0.bytesSent) })
    family(
      "viewer_packets_retransmitted_total", "counter", "Packets sent again.",
      viewers { Double($0.packetsRetransmitted) })
    family(
      "viewer_picture", "gauge", "What a viewer is sent of the picture: 4 high, 3 middle, 2 low, 1 stills, 0 none.",
      status.viewers.enumerated().compactMap { index, viewer in
        guard let picture = viewer.picture, let number = pictureNumbers[picture] else { return nil }
        return (labels: "{viewer=\"\(escape(viewer.name))\",number=\"\(index)\"}", value: number)
      })
    one(
      "datagrams_lost_total", "counter", "Datagrams that the kernel refused or that waited too long to be sent.",
      Double(status.datagrams.lost))
    one(
      "datagrams_ignored_total", "counter", "Datagrams from strangers.", Double(status.datagrams.ignored))
    return text
  }

  private static let pictureNumbers: [String: Double] = ["high": 4, "middle": 3, "low": 2, "stills": 1, "none": 0]

  /// Label values escape backslash, quote and line feed.
  private static func escape(_ value: String) -> String {
    value.reduce(into: "") { result, character in
      switch character {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.append(character)
      }
    }
  }
}
