import Signaling
import Testing
import Wire

@Suite struct HTTPURLTests {
  @Test func urlsAreReadAndWritten() throws {
    let cases = [
      ("https://child.local:8443/whep?camera=a%20b#x", "https://child.local:8443/whep?camera=a%20b"),
      ("HTTP://Child.Local.:80", "http://child.local/"), ("https://192.0.2.7:443/", "https://192.0.2.7/"),
      ("https://[2001:DB8::7]:8443", "https://[2001:db8::7]:8443/"), ("https://[::1]:/a", "https://[::1]/a"),
      ("https://a?b=/../c", "https://a/?b=/../c"), ("https://a/b/./c/../d//e/..", "https://a/b/d//"),
      ("https://a/../../b", "https://a/b"), ("https://a_b.c-d/%2e", "https://a_b.c-d/%2e"),
      ("https://a/?", "https://a/?"),
    ]
    for (text, written) in cases {
      let url = try HTTPURL(text)
      #expect(url.description == written)
      #expect(try HTTPURL(written) == url)
    }
    let url = try HTTPURL("https://[2001:db8::7]:8443/whep?a")
    #expect(url.origin.authority == "[2001:db8::7]:8443" && url.origin.host.description == "2001:db8::7")
    #expect(url.target == "/whep?a" && url.path == "/whep" && url.query == "a")
    #expect(try HTTPURL("https://a").origin == HTTPURL("https://A:443/b").origin)
    #expect(try HTTPURL("https://a").origin != HTTPURL("http://a").origin)
  }

  @Test(arguments: [
    "", "child.local", "/whep", "//child/whep", "ftp://child/", "https:", "https:whep", "https://", "https:///whep",
    "https://user@child/", "https://user:password@child/", "https://child@evil.example/", "https://child:0/",
    "https://child:65536/", "https://child:+1/", "https://child:8443x/", "https://::1/", "https://[::1/",
    "https://[::1]x/",
    "https://[1.2.3.4]/", "https://[fe80::1%25eth0]/", "https://1.2.3/", "https://256.1.1.1/", "https://0x7f000001/",
    "https://a b/", "https://a/ b", "https://a/\r\nX: y", "https://ä/", "https://a/\\b", "https://a..b/", "https://.a/",
    "https://a%2eb/", "https://a/\u{7f}",
  ])
  func whatIsNoURLIsRefused(text: String) {
    #expect(throws: HTTPURLError.self) { try HTTPURL(text) }
  }

  @Test func hugeTextIsRefused() {
    #expect(throws: HTTPURLError.self) { try HTTPURL("https://a/" + String(repeating: "b", count: 5000)) }
    #expect(throws: HTTPURLError.self) { try HTTPURL("https://" + String(repeating: "b.", count: 500) + "c") }
    #expect(throws: HTTPURLError.self) { try HTTPURL("https://" + String(repeating: "b", count: 64)) }
  }

  @Test func referencesResolveAsRFC3986Shows() throws {
    // Section 5.4, those that stay with http.
    let base = try HTTPURL("http://a/b/c/d;p?q")
    let cases = [
      ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
      ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
      (";x", "http://a/b/c/;x"), ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
      ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
      ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
      ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
      ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g?y/../x", "http://a/b/c/g?y/../x"),
      ("https://x:8443/y", "https://x:8443/y"),
    ]
    for (reference, expected) in cases {
      #expect(try base.resolving(reference).description == expected, "\(reference)")
    }
    for reference in ["g:h", "http:g", "mailto:a@b", "//user@g", "a b"] {
      #expect(throws: HTTPURLError.self) { try base.resolving(reference) }
    }
  }
}
