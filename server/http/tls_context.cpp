#include "server/http/tls_context.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace llmb::http {
namespace {

namespace ssl = boost::asio::ssl;

constexpr const char* kCiphersOfTls12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";

void check(const boost::system::error_code& ec, const std::string& what) {
  if (ec) throw std::runtime_error(what + ": " + ec.message());
}

// Of what a client offers by ALPN, HTTP/1.1 is spoken here; a client without it is served too.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  constexpr std::string_view kHttp11 = "http/1.1";
  const unsigned char* const end = offered + offered_size;
  for (const unsigned char* name = offered; name < end; name += 1 + *name) {
    if (std::equal(name + 1, std::min(name + 1 + *name, end), kHttp11.begin(), kHttp11.end())) {
      *out = name + 1;
      *out_size = *name;
      return SSL_TLSEXT_ERR_OK;
    }
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

std::unique_ptr<ssl::context> make_tls_context(const std::string& certificate_file,
                                               const std::string& key_file) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);  // idle connections hold no record buffers
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  if (SSL_CTX_set_cipher_list(native, kCiphersOfTls12) != 1) {
    throw std::runtime_error("OpenSSL has none of the TLS 1.2 ciphers that the server offers");
  }
  boost::system::error_code ec;
  context->use_certificate_chain_file(certificate_file, ec);
  check(ec, "cannot use the TLS certificate " + certificate_file +
                " (a PEM file with the server's certificate first, then its chain)");
  context->use_private_key_file(key_file, ssl::context::pem, ec);
  check(ec, "cannot use the TLS key " + key_file +
                " (a PEM file with the key of that certificate, readable by this user)");
  return context;
}

}  // namespace llmb::http
