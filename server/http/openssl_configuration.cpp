#include "server/http/openssl_configuration.h"

#include <openssl/ssl.h>

namespace llmb::http {

void leave_openssl_configuration_unread() {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
}

}  // namespace llmb::http
