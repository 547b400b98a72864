#include "server/http/static_files.h"

#include <openssl/sha.h>

#include <array>

#include "parser/foundation/hex.h"
#include "server/http/compression.h"

namespace llmb::http {
namespace {

constexpr std::size_t kFileCompressedFromBytes = 1024;

std::string etag_of(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return parser::hex_text(std::span(digest).first<12>());
}

std::shared_ptr<const std::string> packed(std::string_view bytes, Encoding encoding) {
  auto body = std::make_shared<const std::string>(compress(bytes, encoding, Effort::embedded));
  return body->size() < bytes.size() ? body : nullptr;
}

Response response_of(const StaticFile& file) {
  Response response;
  response.content_type = file.content_type;
  response.body = std::make_shared<const std::string>(file.bytes);
  response.body_is_shared = true;
  response.etag = etag_of(file.bytes);
  response.cache_control = file.is_immutable ? "public, max-age=31536000, immutable" : "no-cache";
  if (file.bytes.size() > kFileCompressedFromBytes && is_compressible(file.content_type)) {
    response.gzip_body = packed(file.bytes, Encoding::gzip);
    response.zstd_body = packed(file.bytes, Encoding::zstd);
  }
  return response;
}

bool is_page_of_the_dashboard(std::string_view path) {
  const bool is_api = path == "/api" || path.starts_with("/api/");
  const std::string_view last_part = path.substr(path.rfind('/') + 1);
  return !is_api && last_part.find('.') == std::string_view::npos;
}

}  // namespace

StaticFiles::StaticFiles(const std::vector<StaticFile>& files) {
  for (const StaticFile& file : files) responses_.emplace(file.path, response_of(file));
}

Response StaticFiles::serve(const Request& request) const {
  auto found = responses_.find(request.path);
  if (found == responses_.end() && is_page_of_the_dashboard(request.path)) {
    found = responses_.find("/index.html");
  }
  if (found != responses_.end()) return found->second;
  return problem(404, "Not found", "nothing is served at " + request.path);
}

}  // namespace llmb::http
