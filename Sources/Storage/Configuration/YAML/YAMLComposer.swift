internal import CYAML

/// Builds nodes from libyaml's events. Refuses everything that a configuration never needs or that could take unbounded
/// time or stack: anchors, aliases, tags, deep nesting, a second document, duplicate keys.
struct YAMLComposer: ~Copyable {
  static let maximumBytes = 256 << 10
  /// Nesting depth of lists and mappings; the configuration needs 4.
  static let maximumDepth = 32

  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let text: UnsafeBufferPointer<UInt8>

  /// The only document in `bytes`; nil if there is none.
  static func compose(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode? {
    guard bytes.count <= maximumBytes else {
      throw YAMLError(mark: YAMLMark(line: 1, column: 1), message: "the file is larger than \(maximumBytes >> 10) KiB")
    }
    let bytes = bytes.withoutByteOrderMark
    guard !bytes.starts(with: [0xff, 0xfe]), !bytes.starts(with: [0xfe, 0xff]) else {
      throw YAMLError(message: "is UTF-16 text; save it as UTF-8")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
      let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
      throw YAMLError(mark: line.map { YAMLMark(line: $0 + 1) }, message: "is not UTF-8 text")
    }
    // libyaml keeps the pointer, so all work happens while it is valid.
    let result: Result<YAMLNode?, YAMLError> = bytes.withUnsafeBufferPointer { buffer in
      do throws(YAMLError) {
        let composer = try YAMLComposer(buffer)
        return .success(try composer.document())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private init(_ buffer: UnsafeBufferPointer<UInt8>) throws(YAMLError) {
    text = buffer
    parser = .allocate(capacity: 1)
    guard yaml_parser_initialize(parser) == 1 else {
      parser.deallocate()
      throw YAMLError(message: "out of memory")
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, buffer.baseAddress, buffer.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  private func document() throws(YAMLError) -> YAMLNode? {
    _ = try next()  // The start of the stream.
    guard case .document = try next().kind else { return nil }
    let root = try node(try next(), depth: 0)
    _ = try next()  // The end of the document.
    let after = try next()
    guard case .end = after.kind else {
      throw YAMLError(mark: after.mark, message: "a second document begins here; a configuration is one")
    }
    return root
  }

  private func node(_ event: Event, depth: Int) throws(YAMLError) -> YAMLNode {
    guard depth <= Self.maximumDepth else {
      throw YAMLError(mark: event.mark, message: "lists and keys are nested too deeply")
    }
    switch event.kind {
    case .scalar(let scalar):
      return YAMLNode(content: .scalar(scalar), mark: event.mark)
    case .sequence:
      var items: [YAMLNode] = []
      while true {
        let item = try next()
        if case .end = item.kind { return YAMLNode(content: .sequence(items), mark: event.mark) }
        items.append(try node(item, depth: depth + 1))
      }
    case .mapping:
      return YAMLNode(content: .mapping(try pairs(depth: depth)), mark: event.mark)
    case .document, .end, .other:
      throw YAMLError(mark: event.mark, message: "not YAML: a value is missing here")
    }
  }

  private func pairs(depth: Int) throws(YAMLError) -> [(key: YAMLNode, value: YAMLNode)] {
    var pairs: [(key: YAMLNode, value: YAMLNode)] = []
    var lines: [String: Int] = [:]
    while true {
      let event = try next()
      if case .end = event.kind { return pairs }
      let key = try node(event, depth: depth + 1)
      if let name = key.scalar?.string {
        if let first = lines[name] {
          throw YAMLError(mark: key.mark, key: name, message: "stands twice, first in line \(first)")
        }
        lines[name] = key.mark.line
      }
      pairs.append((key, try node(try next(), depth: depth + 1)))
    }
  }

  // MARK: - Events

  private struct Event {
    enum Kind {
      case document
      case scalar(YAMLScalar)
      case sequence
      case mapping
      /// Closes the current list, mapping, document or stream.
      case end
      case other
    }

    var kind: Kind
    var mark: YAMLMark
  }

  private func next() throws(YAMLError) -> Event {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
    defer { yaml_event_delete(&event) }
    let mark = YAMLMark(event.start_mark)
    switch event.type {
    case YAML_DOCUMENT_START_EVENT:
      return Event(kind: .document, mark: mark)
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      try refuse(anchor: scalar.anchor, tag: scalar.tag, at: mark)
      let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      return Event(
        kind: .scalar(YAMLScalar(string: text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)), mark: mark)
    case YAML_SEQUENCE_START_EVENT:
      try refuse(anchor: event.data.sequence_start.anchor, tag: event.data.sequence_start.tag, at: mark)
      return Event(kind: .sequence, mark: mark)
    case YAML_MAPPING_START_EVENT:
      try refuse(anchor: event.data.mapping_start.anchor, tag: event.data.mapping_start.tag, at: mark)
      return Event(kind: .mapping, mark: mark)
    case YAML_ALIAS_EVENT:
      throw YAMLError(mark: mark, message: Self.noAnchors)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT, YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT:
      return Event(kind: .end, mark: mark)
    default:
      return Event(kind: .other, mark: mark)
    }
  }

  private static let noAnchors = "anchors and aliases are not used here; put such text in quotes"

  private func refuse(
    anchor: UnsafeMutablePointer<UInt8>?, tag: UnsafeMutablePointer<UInt8>?, at mark: YAMLMark
  ) throws(YAMLError) {
    if anchor != nil { throw YAMLError(mark: mark, message: Self.noAnchors) }
    if tag != nil {
      throw YAMLError(mark: mark, message: "tags are not used here; put such text in quotes")
    }
  }

  /// libyaml's error message, in one line.
  private func failure() -> YAMLError {
    let problem = parser.pointee.problem.map { String(cString: $0) } ?? "out of memory"
    guard parser.pointee.error != YAML_READER_ERROR else {
      // The reader is ahead of its mark; it reports the byte offset.
      let line = text.prefix(parser.pointee.problem_offset).count { $0 == 0x0a } + 1
      return YAMLError(mark: YAMLMark(line: line), message: "not YAML: \(problem)")
    }
    let context = parser.pointee.context.map { context in
      "\(String(cString: context)) (line \(parser.pointee.context_mark.line + 1)): "
    }
    return YAMLError(
      mark: YAMLMark(parser.pointee.problem_mark), message: "not YAML: \(context ?? "")\(problem)")
  }
}

extension YAMLMark {
  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }
}
