/// Lets a rig that is copied about hold a value that must not be.
public final class Owned<Value: ~Copyable> {
  public var value: Value

  public init(_ value: consuming Value) {
    self.value = value
  }
}
