// The TLS settings of the server: PEM files, TLS 1.2 and later, forward-secret AEAD ciphers.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

namespace llmb::http {

// Throws std::runtime_error that names the file at fault.
std::unique_ptr<boost::asio::ssl::context> make_tls_context(const std::string& certificate_file,
                                                            const std::string& key_file);

}  // namespace llmb::http
