internal import Control

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
            labels: "{camera=\"\(escape(camera.id))\",rendition=\"\(rendition.name)\""
              + ",codec=\"\(rendition.codec ?? "VP8")\"}", value: value(rendition)
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
    pathFamilies(of: status).forEach(family)
    one(
      "datagrams_lost_total", "counter", "Datagrams that the kernel refused or that waited too long to be sent.",
      Double(status.datagrams.lost))
    one(
      "datagrams_ignored_total", "counter", "Datagrams from strangers.", Double(status.datagrams.ignored))
    return text
  }

  /// What is known of the path to each viewer.
  private static func pathFamilies(
    of status: StatusReport
  ) -> [(name: String, type: String, help: String, samples: [(labels: String, value: Double)])] {
    let paths = { (value: (PathDocument) -> Double?) in
      status.viewers.enumerated().compactMap { index, viewer -> (labels: String, value: Double)? in
        guard let value = viewer.path.flatMap(value) else { return nil }
        return (labels: "{viewer=\"\(escape(viewer.name))\",number=\"\(index)\"}", value: value)
      }
    }
    return [
      (
        "viewer_estimate_kbps", "gauge", "What the path to a viewer is thought to carry.",
        paths { Double($0.estimateKbps) }
      ),
      ("viewer_target_kbps", "gauge", "What a viewer may be sent now.", paths { Double($0.targetKbps) }),
      (
        "viewer_queue_seconds", "gauge", "How long packets wait on the path to a viewer.",
        paths { $0.queueMs.map { $0 / 1000 } }
      ),
      (
        "viewer_round_trip_seconds", "gauge", "Round-trip time by a viewer's reports.",
        paths { $0.roundTripMs.map { $0 / 1000 } }
      ),
      (
        "viewer_loss_ratio", "gauge", "Packets of the last seconds that a viewer reports as lost, 0 to 1.",
        paths { $0.lossPercent / 100 }
      ),
      ("viewer_probes_total", "counter", "Bursts that probed the path.", paths { Double($0.probesSent) }),
      (
        "viewer_probes_succeeded_total", "counter", "Bursts that arrived at about their rate.",
        paths { Double($0.probesSucceeded) }
      ),
      (
        "viewer_sound_copies", "gauge", "Earlier packets that each packet of sound repeats.",
        paths { Double($0.soundCopies) }
      ),
      (
        "viewer_congested", "gauge", "1 while the path was just found to carry less than was sent.",
        paths { $0.isCongested ? 1 : 0 }
      ),
    ]
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
