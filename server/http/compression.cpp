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

std::string gzip(std::string_view bytes, int level) {
  if (bytes.size() > std::numeric_limits<uInt>::max()) {
    throw std::length_error("cannot gzip a body of 4 GiB or more");
  }
  z_stream stream = {};
  constexpr int kWindowBitsForGzip = 15 + 16;
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

std::string zstd(std::string_view bytes, int level) {
  struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
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
    case Encoding::gzip: {
      const int level = effort == Effort::once ? 1 : effort == Effort::kept ? 5 : 9;
      return gzip(bytes, level);
    }
    case Encoding::zstd: {
      const int level = effort == Effort::once ? 1 : effort == Effort::kept ? 3 : 15;
      return zstd(bytes, level);
    }
    case Encoding::identity:
      break;
  }
  return std::string(bytes);
}

std::optional<std::string> decompress_zstd(std::string_view bytes, std::size_t bytes_max) {
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
    if (ZSTD_isError(missing) != 0) return std::nullopt;
    out.resize(begin + piece.pos);
    if (out.size() > bytes_max) return std::nullopt;
    const bool has_all = in.pos == in.size && piece.pos < piece.size;
    if (has_all || (missing == 0 && in.pos == in.size)) break;
  }
  return missing == 0 ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace llmb::http
