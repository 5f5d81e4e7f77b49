extension Alarm.Kind {
  /// What is wrong, for people; ASCII, which the window's font has.
  public var title: String {
    switch self {
    case .revoked: "This machine is no longer paired"
    case .link: "No contact with the camera"
    case .microphone: "No sound from your baby's room"
    case .digitalSilence: "The microphone is sending nothing"
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
    case .microphone: "The microphone is not delivering sound. You would not hear crying."
    case .digitalSilence:
      """
      Not even room noise. Check its plug and mute switch. \
      If it only mutes itself in a quiet room, set may-be-silent: true in the camera's child.yaml.
      """
    case .camera: "The camera is unplugged or not working. Sound may still come through."
    case .frozenPicture: "You are looking at an old picture. Check on your child."
    case .ownSound: "Sound arrives, but the speaker is missing. It is used as soon as it is there."
    case .test: "This is how the alarm looks and sounds."
    case .childStopped: "It said goodbye and is not watching any more."
    }
  }
}
