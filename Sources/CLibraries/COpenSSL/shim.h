// OpenSSL 3: TLS, DTLS, certificates, keys and signatures, P-256 points, hashes, AES-GCM. Macros that Swift cannot import stand here as functions.
#pragma once

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/time.h>

/// What a DTLS context of ours switches off: MTU discovery (the size is fixed), everything that outlives one
/// association (tickets, resumption, renegotiation), and compression.
static inline uint64_t copenssl_dtls_options(void) {
  return SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
         SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE;
}

/// Pins a context to one protocol version, such as DTLS1_2_VERSION. 1 when it could.
static inline int copenssl_set_only_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version) == 1 && SSL_CTX_set_max_proto_version(context, version) == 1;
}

/// SSL_CTX_set_session_cache_mode(SSL_SESS_CACHE_OFF).
static inline void copenssl_disable_session_cache(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/// SSL_CTX_set1_groups_list; 1 when all names are known.
static inline int copenssl_set_groups(SSL_CTX *context, const char *names) {
  return (int)SSL_CTX_set1_groups_list(context, names);
}

/// SSL_set_mtu: the largest datagram that a handshake flight is cut into.
static inline void copenssl_set_mtu(SSL *ssl, long bytes) {
  SSL_set_mtu(ssl, bytes);
}

/// Microseconds until the retransmission timer runs out by the wall clock, or -1 while it does not run.
static inline int64_t copenssl_timeout_left(SSL *ssl) {
  struct timeval left;
  if (DTLSv1_get_timeout(ssl, &left) != 1) return -1;
  return (int64_t)left.tv_sec * 1000000 + left.tv_usec;
}

/// DTLSv1_handle_timeout: above 0 after a retransmission, 0 when the timer has not run out, below 0 on failure.
static inline int copenssl_handle_timeout(SSL *ssl) {
  return (int)DTLSv1_handle_timeout(ssl);
}

/// What a TLS context of ours switches off: everything that outlives one connection (tickets, resumption,
/// renegotiation), and compression.
static inline uint64_t copenssl_tls_options(void) {
  return SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
         SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE;
}

/// Raises a context's lowest protocol version, unless the machine's configuration asks for more. 1 when it could.
static inline int copenssl_set_minimum_version(SSL_CTX *context, int version) {
  if (SSL_CTX_get_min_proto_version(context) >= version) return 1;
  return (int)SSL_CTX_set_min_proto_version(context, version);
}

/// SSL_MODE_RELEASE_BUFFERS: an idle connection holds no record buffers.
static inline void copenssl_release_buffers(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

/// Whether an error code is this reason of this library.
static inline int copenssl_is_reason(unsigned long code, int library, int reason) {
  return ERR_GET_LIB(code) == library && ERR_GET_REASON(code) == reason;
}

/// SSL_set_tlsext_host_name: SNI. 1 when the name could be set.
static inline int copenssl_set_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline void copenssl_bio_set_retry_read(BIO *bio) {
  BIO_set_retry_read(bio);
}

static inline void copenssl_bio_clear_retry(BIO *bio) {
  BIO_clear_retry_flags(bio);
}

/// BIO_get_mem_data: how many bytes a memory BIO holds, and where.
static inline long copenssl_bio_memory(BIO *bio, const unsigned char **bytes) {
  return BIO_get_mem_data(bio, (char **)bytes);
}

/// EVP_EC_gen: a new key on P-256, or NULL.
static inline EVP_PKEY *copenssl_generate_p256(void) {
  return EVP_EC_gen("P-256");
}

/// EVP_PKEY_check: 1 when the private key is in range and belongs to the public one.
static inline int copenssl_check_private_key(EVP_PKEY *key) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
  int valid = context != NULL && EVP_PKEY_check(context) == 1;
  EVP_PKEY_CTX_free(context);
  return valid;
}

/// Makes an extension from OpenSSL's configuration syntax and adds it. 1 when it could.
static inline int copenssl_add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
  if (extension == NULL) return 0;
  int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added;
}
