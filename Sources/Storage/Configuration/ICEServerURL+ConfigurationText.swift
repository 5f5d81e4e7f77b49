public import DeviceNames
public import TURN

extension ICEServerURL: ConfigurationText {}
