import Storage
import TestSupport

extension TokenStore {
  init(file: AtomicFile) throws(StoreError) {
    try self.init(file: file, hashes: TestHashes())
  }
}

extension PairStore {
  init(file: AtomicFile) throws(StoreError) {
    try self.init(file: file, hashes: TestHashes())
  }
}
