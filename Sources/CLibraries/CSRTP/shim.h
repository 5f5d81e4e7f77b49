// libsrtp 2: SRTP and SRTCP (RFC 3711, RFC 7714).
#pragma once

#include <srtp2/srtp.h>
