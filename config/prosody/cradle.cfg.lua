-- prosody as a rendezvous server of a Cradle baby unit, on a machine with a public address. docs/OPERATORS.md has the steps.
-- As /etc/prosody/conf.d/cradle.cfg.lua; `systemctl restart prosody` takes changes over.

-- The part of both accounts behind the "@". DNS names the machine for it: by an address, or by an SRV record of
-- _xmpp-client._tcp, as every XMPP server's.
VirtualHost "xmpp.example.org"

-- The certificate is for that name. The account `prosody` has to be able to read the key.
ssl = {
  certificate = "/etc/prosody/certs/cradle-fullchain.pem";
  key = "/etc/prosody/certs/cradle-privkey.pem";
}

-- Passwords are sent over TLS or not at all.
c2s_require_encryption = true

-- Child and parents have their accounts here. Nobody gets one without `prosodyctl adduser`, and nobody of another server
-- writes to them.
allow_registration = false
modules_disabled = { "s2s", "register", "invites", "invites_adhoc", "invites_register" }
