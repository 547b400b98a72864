#include "server/http/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>

#include "parser/foundation/text.h"

namespace llmb::http {
namespace {

// Thousandths. A weight that is none counts as 0: what the client cannot say is not sent to it.
int parse_weight(std::string_view parameters) {
  parameters = parser::trimmed(parameters);
  if (parameters.empty()) return 1000;
  if (!parser::equal_but_for_case(parameters.substr(0, 2), "q=")) return 1000;
  const std::string_view text = parser::trimmed(parameters.substr(2));
  if (text.empty() || (text[0] != '0' && text[0] != '1')) return 0;
  int weight = (text[0] - '0') * 1000;
  if (text.size() > 1 && (text[1] != '.' || text.size() > 5)) return 0;
  int unit = 100;
  for (const char c : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (c < '0' || c > '9') return 0;
    weight += (c - '0') * unit;
    unit /= 10;
  }
  return std::min(weight, 1000);
}

int gzip_level(Effort effort) {
  return effort == Effort::once ? 1 : effort == Effort::kept ? 5 : 9;
}

int zstd_level(Effort effort) {
  return effort == Effort::once ? 1 : effort == Effort::kept ? 3 : 15;
}

constexpr int kWindowBitsForGzip = 15 + 16;
// By which the output of a CompressionStream grows.
constexpr std::size_t kPartBytes = std::size_t{64} * 1024;

std::string gzip(std::string_view bytes, int level) {
  if (bytes.size() > std::numeric_limits<uInt>::max()) {
    throw std::length_error("cannot gzip a body of 4 GiB or more");
  }
  z_stream stream = {};
  if (deflateInit2(&stream, level, Z_DEFLATED, kWindowBitsForGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  // zlib's interface lacks a const; it only reads.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("gzip of a response's body failed");
  return out;
}

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
using ZstdCompressor = std::unique_ptr<ZSTD_CCtx, FreeCompressor>;

std::string zstd(std::string_view bytes, int level) {
  thread_local const ZstdCompressor context(ZSTD_createCCtx());
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compressCCtx(context.get(), out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) != 0) throw std::runtime_error("zstd of a response's body failed");
  out.resize(size);
  return out;
}

}  // namespace

std::string_view encoding_name(Encoding encoding) {
  switch (encoding) {
    case Encoding::gzip:
      return "gzip";
    case Encoding::zstd:
      return "zstd";
    case Encoding::identity:
      break;
  }
  return "identity";
}

Encoding negotiate_encoding(std::string_view accept_encoding) {
  int any = 0;
  int gzip_weight = -1;
  int zstd_weight = -1;
  std::string_view rest = accept_encoding;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t semicolon = std::min(item.find(';'), item.size());
    const std::string_view name = parser::trimmed(item.substr(0, semicolon));
    const int weight = parse_weight(item.substr(std::min(semicolon + 1, item.size())));
    if (name == "*") any = weight;
    if (parser::equal_but_for_case(name, "gzip") || parser::equal_but_for_case(name, "x-gzip"))
      gzip_weight = weight;
    if (parser::equal_but_for_case(name, "zstd")) zstd_weight = weight;
  }
  // "*" stands for what is not named.
  if (gzip_weight < 0) gzip_weight = any;
  if (zstd_weight < 0) zstd_weight = any;
  if (zstd_weight > 0 && zstd_weight >= gzip_weight) return Encoding::zstd;
  return gzip_weight > 0 ? Encoding::gzip : Encoding::identity;
}

bool is_compressible(std::string_view content_type) {
  const std::string_view type = parser::trimmed(content_type.substr(0, content_type.find(';')));
  return type.starts_with("text/") || type == "application/json" || type.ends_with("+json") ||
         type.ends_with("+xml") || type == "application/javascript" ||
         type == "application/openmetrics-text" || type == "application/wasm";
}

std::string compress(std::string_view bytes, Encoding encoding, Effort effort) {
  switch (encoding) {
    case Encoding::gzip:
      return gzip(bytes, gzip_level(effort));
    case Encoding::zstd:
      return zstd(bytes, zstd_level(effort));
    case Encoding::identity:
      break;
  }
  return std::string(bytes);
}

class CompressionStream::Gzip {
 public:
  explicit Gzip(int level) {
    if (deflateInit2(&stream_, level, Z_DEFLATED, kWindowBitsForGzip, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Gzip() { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  std::string add(std::string_view piece, bool is_last) {
    std::string out;
    // zlib's interface lacks a const; it only reads.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    do {
      const std::size_t begin = out.size();
      out.resize(begin + kPartBytes);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + begin);
      stream_.avail_out = kPartBytes;
      if (deflate(&stream_, is_last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR) {
        throw std::runtime_error("gzip of a response's block failed");
      }
      out.resize(begin + kPartBytes - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return out;
  }

 private:
  z_stream stream_ = {};
};

class CompressionStream::Zstd {
 public:
  explicit Zstd(int level) : context_(ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  }

  std::string add(std::string_view piece, bool is_last) {
    std::string out;
    ZSTD_inBuffer in = {piece.data(), piece.size(), 0};
    std::size_t left = 0;
    do {
      const std::size_t begin = out.size();
      out.resize(begin + kPartBytes);
      ZSTD_outBuffer part = {out.data() + begin, kPartBytes, 0};
      left =
          ZSTD_compressStream2(context_.get(), &part, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0) throw std::runtime_error("zstd of a response's block failed");
      out.resize(begin + part.pos);
    } while (is_last ? left > 0 : in.pos < in.size);
    return out;
  }

 private:
  const ZstdCompressor context_;
};

CompressionStream::CompressionStream(Encoding encoding, Effort effort) {
  if (encoding == Encoding::gzip) gzip_ = std::make_unique<Gzip>(gzip_level(effort));
  if (encoding == Encoding::zstd) zstd_ = std::make_unique<Zstd>(zstd_level(effort));
}

CompressionStream::~CompressionStream() = default;

std::string CompressionStream::add(std::string_view piece, bool is_last) {
  if (gzip_) return gzip_->add(piece, is_last);
  if (zstd_) return zstd_->add(piece, is_last);
  return std::string(piece);
}

tl::expected<std::string, ZstdError> decompress_zstd(std::string_view bytes,
                                                     std::size_t bytes_max) {
  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;
  constexpr int kWindowLogMax = 23;  // 8 MiB: what a frame may make the decoder keep
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kWindowLogMax);
  std::string out;
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  std::size_t missing = 1;
  for (;;) {
    const std::size_t begin = out.size();
    out.resize(std::min(begin + kPieceBytes, bytes_max + 1));
    ZSTD_outBuffer piece = {out.data() + begin, out.size() - begin, 0};
    missing = ZSTD_decompressStream(context.get(), &piece, &in);
    if (ZSTD_isError(missing) != 0) return tl::unexpected(ZstdError::damaged);
    out.resize(begin + piece.pos);
    if (out.size() > bytes_max) return tl::unexpected(ZstdError::too_long);
    const bool has_all = in.pos == in.size && piece.pos < piece.size;
    if (has_all || (missing == 0 && in.pos == in.size)) break;
  }
  if (missing != 0) return tl::unexpected(ZstdError::damaged);
  return out;
}

}  // namespace llmb::http
