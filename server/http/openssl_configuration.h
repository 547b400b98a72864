// What OpenSSL reads of the machine when it is first used.
#pragma once

namespace llmb::http {

// From here on it reads no openssl.cnf: for static programs, which cannot load the modules that the
// file of a machine may name. Has to come before any other call into OpenSSL.
void leave_openssl_configuration_unread();

}  // namespace llmb::http
