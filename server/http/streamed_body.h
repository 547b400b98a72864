// StreamedBody: a body of any size that is not held: read piece by piece while it is sent, as the
// client takes it, and put into the form in which it goes out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/http/compression.h"
#include "server/http/message.h"

namespace llmb::http {

class StreamedBody {
 public:
  enum class Framing {
    counted,  // as many bytes as Content-Length said
    chunked,
    until_close,  // for HTTP/1.0 where nobody knows the length
  };

  // A body of which the size is known and that is not compressed is counted.
  StreamedBody(BodyStream source, Encoding encoding, bool is_http_1_0);

  Framing framing() const { return framing_; }
  std::uint64_t counted_bytes() const { return source_.size_bytes.value_or(0); }

  // The next bytes as they go out, empty at the end. Reads, and may take long. Throws what the
  // source throws, and std::runtime_error where a counted one gives another number of bytes: then
  // the body cannot be brought to an end.
  std::string next();

 private:
  std::string next_encoded();

  const BodyStream source_;
  const std::unique_ptr<CompressionStream> compression_;
  const Framing framing_;
  std::uint64_t read_bytes_ = 0;
  bool has_ended_ = false;
};

}  // namespace llmb::http
