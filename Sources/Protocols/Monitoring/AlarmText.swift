extension Alarm.Kind {
  /// What is wrong, for people; ASCII, which the window's font has.
  public var title: String {
    switch self {
    case .revoked: "This machine is no longer paired"
    case .link: "No contact with the child"
    case .microphone: "No sound from the child"
    case .digitalSilence: "The microphone is dead"
    case .camera: "No picture from the camera"
    case .frozenPicture: "The picture is frozen"
    case .ownSound: "This machine plays no sound"
    case .test: "This is a test"
    case .childStopped: "The camera was switched off"
    }
  }

  /// What to do.
  public var advice: String {
    switch self {
    case .revoked: "This machine's access was removed. Pair again: cradle-parent pair."
    case .link:
      "Nothing is arriving. Reconnecting. Go and check on your child; then the network and the camera's power."
    case .microphone: "The microphone delivers nothing. You would not hear crying."
    case .digitalSilence:
      """
      It delivers perfect silence, which no room has. Plug it in again, or check whether it is switched off. \
      If it only mutes itself in a quiet room, set may-be-silent: true in the camera's child.yaml.
      """
    case .camera: "The camera is unplugged or does not work. Sound may still come."
    case .frozenPicture: "You are looking at an old picture. Check on your child."
    case .ownSound: "Sound arrives, but the speaker is missing. It is used as soon as it is there."
    case .test: "This is how the alarm looks and sounds."
    case .childStopped: "It said goodbye and does not watch any more."
    }
  }
}
