// libsrtp 2: SRTP and SRTCP (RFC 3711, RFC 7714).
#pragma once

#include <srtp2/srtp.h>
#include <srtp2/cipher.h>

// Exported, but declared only in a header that is not installed.
extern const srtp_cipher_type_t srtp_aes_icm_128;

// Debian's libsrtp takes its ciphers from NSS, which it loads with the first cipher and unloads after the last one: again
// for each self-test of srtp_init, which costs 60 ms. A cipher that is never freed keeps it loaded; call this first, once.
static inline srtp_err_status_t csrtp_keep_crypto_loaded(void) {
  srtp_cipher_t *kept = 0;
  return srtp_cipher_type_alloc(&srtp_aes_icm_128, &kept, SRTP_AES_ICM_128_KEY_LEN_WSALT, 0);
}
