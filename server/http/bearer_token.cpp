#include "server/http/bearer_token.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "parser/foundation/hex.h"
#include "parser/foundation/text.h"

namespace llmb::http {
namespace {

constexpr std::string_view kScheme = "bearer ";

}  // namespace

std::string new_token() {
  std::array<unsigned char, 32> bits = {};
  if (RAND_bytes(bits.data(), static_cast<int>(bits.size())) != 1) {
    throw std::runtime_error("the system gives no random numbers");
  }
  return "llmb_" + parser::hex_text(bits);
}

std::string token_sha256(std::string_view token) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return parser::hex_text(digest);
}

std::optional<std::string> bearer_token(const Request& request) {
  const std::optional<std::string> value = request.header("authorization");
  if (!value || value->size() <= kScheme.size()) return std::nullopt;
  if (!std::equal(kScheme.begin(), kScheme.end(), value->begin(),
                  [](char wanted, char given) { return wanted == parser::lower(given); })) {
    return std::nullopt;
  }
  return value->substr(kScheme.size());
}

}  // namespace llmb::http
