#include "server/http/streamed_body.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace llmb::http {
namespace {

std::unique_ptr<CompressionStream> compression_for(Encoding encoding) {
  if (encoding == Encoding::identity) return nullptr;
  return std::make_unique<CompressionStream>(encoding, Effort::once);
}

StreamedBody::Framing framing_for(const BodyStream& source, Encoding encoding, bool is_http_1_0) {
  if (source.size_bytes && encoding == Encoding::identity) return StreamedBody::Framing::counted;
  return is_http_1_0 ? StreamedBody::Framing::until_close : StreamedBody::Framing::chunked;
}

}  // namespace

StreamedBody::StreamedBody(BodyStream source, Encoding encoding, bool is_http_1_0)
    : source_(std::move(source)),
      compression_(compression_for(encoding)),
      framing_(framing_for(source_, encoding, is_http_1_0)) {}

std::string StreamedBody::next() {
  if (has_ended_) return {};
  std::string bytes = next_encoded();
  if (framing_ != Framing::chunked) return bytes;
  const bool is_last = has_ended_;
  std::string chunk;
  if (!bytes.empty()) chunk = fmt::format("{:x}\r\n", bytes.size()).append(bytes).append("\r\n");
  if (is_last) chunk += "0\r\n\r\n";
  return chunk;
}

// Empty at the end only.
std::string StreamedBody::next_encoded() {
  std::string bytes;
  while (bytes.empty() && !has_ended_) {
    std::string piece = source_.next();
    has_ended_ = piece.empty();
    read_bytes_ += piece.size();
    if (source_.size_bytes &&
        (has_ended_ ? read_bytes_ != *source_.size_bytes : read_bytes_ > *source_.size_bytes)) {
      throw std::runtime_error(fmt::format("it was to have {} bytes, and has {}{}",
                                           *source_.size_bytes, read_bytes_,
                                           has_ended_ ? "" : " or more"));
    }
    bytes = compression_ ? compression_->add(piece, has_ended_) : std::move(piece);
  }
  return bytes;
}

}  // namespace llmb::http
