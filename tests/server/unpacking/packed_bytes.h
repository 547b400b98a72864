// Compressed text for tests, made by the libraries themselves.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <stdexcept>
#include <string>

namespace llmb::unpacking {

inline std::string gzipped(const std::string& text) {
  z_stream stream = {};
  constexpr int kWindowBitsForGzip = 15 + 16;
  if (deflateInit2(&stream, 6, Z_DEFLATED, kWindowBitsForGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("no gzip");
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  // zlib's interface lacks a const; it only reads.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("not compressed");
  return out;
}

inline std::string zstd_packed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

}  // namespace llmb::unpacking
