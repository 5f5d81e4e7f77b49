// libstrophe: an XMPP client (RFC 6120).
#pragma once

#include <strophe.h>
