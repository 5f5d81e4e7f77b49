public import DeviceNames
public import ICE

extension ICEServerURL: ConfigurationText {}
