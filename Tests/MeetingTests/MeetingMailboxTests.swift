import Testing

@testable import Meeting

/// Between the event loop and the thread of a connection.
@Suite struct MeetingMailboxTests {
  /// The loop may end as soon as it has said that it wants to know nothing more, also between an event and its announcement.
  @Test(arguments: [true, false])
  func anEventLoopThatMayHaveEndedIsNotToldOfAnything(isAbandoned: Bool) {
    let mailbox = XMPPConnection.Mailbox()
    #expect(mailbox.post(.open), "it has to be told")
    var isTold = false
    mailbox.whileHeard { isTold = true }
    #expect(isTold)
    if isAbandoned { mailbox.end(.abandon) } else { mailbox.end(.leave(nil), isUnheard: true) }
    isTold = false
    mailbox.whileHeard { isTold = true }
    #expect(!isTold && !mailbox.post(.left))
  }
}
