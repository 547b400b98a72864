// Compression of response bodies: which encoding a client wants, and the two that there are.
// The functions are pure and thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "parser/result.h"

namespace llmb::http {

enum class Encoding { identity, gzip, zstd };

std::string_view encoding_name(Encoding encoding);

// By the q-values of an Accept-Encoding header; between equals zstd, which is quicker.
Encoding negotiate_encoding(std::string_view accept_encoding);

// Text, JSON, scripts, SVG: what gets smaller. `content_type` may carry parameters.
bool is_compressible(std::string_view content_type);

// How hard to try: `once` for a body that is sent once, `kept` for one that will be sent again,
// `embedded` for one that is compressed a single time in the program's life.
enum class Effort { once, kept, embedded };

std::string compress(std::string_view bytes, Encoding encoding, Effort effort);

// Compresses bytes that come piece by piece: what it gives, put together, is one stream, whatever
// the pieces were. Not thread-safe.
class CompressionStream {
 public:
  CompressionStream(Encoding encoding, Effort effort);  // gzip or zstd
  ~CompressionStream();
  CompressionStream(const CompressionStream&) = delete;
  CompressionStream& operator=(const CompressionStream&) = delete;

  // The next part of the stream, which may be empty; with the last piece its end.
  std::string add(std::string_view piece, bool is_last);

 private:
  class Gzip;
  class Zstd;
  std::unique_ptr<Gzip> gzip_;
  std::unique_ptr<Zstd> zstd_;
};

enum class ZstdError {
  damaged,   // no such data, cut off, or of a window beyond 8 MiB
  too_long,  // it would become longer than allowed
};
// What zstd compressed. Fails where it would become longer than `bytes_max`, of which no more is
// made.
tl::expected<std::string, ZstdError> decompress_zstd(std::string_view bytes, std::size_t bytes_max);

}  // namespace llmb::http
