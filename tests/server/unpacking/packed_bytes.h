// Compressed text for tests, made by the libraries themselves.
#pragma once

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "server/unpacking/packing.h"

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

inline std::string xz_packed(const std::string& text, lzma_check check = LZMA_CHECK_CRC64) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  const lzma_ret status = lzma_easy_buffer_encode(
      1, check, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
      reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  if (status != LZMA_OK) throw std::runtime_error("not compressed");
  out.resize(size);
  return out;
}

// `level`: the length of a block of text in 100 kB; a file that is cut off has whole blocks only.
inline std::string bzip2_packed(const std::string& text, int level = 1) {
  // As long as bzip2 asks for.
  std::string out(text.size() + text.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(out.size());
  // bzip2's interface lacks a const; it only reads.
  const int status = BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(text.data()),
                                              static_cast<unsigned>(text.size()), level, 0, 0);
  if (status != BZ_OK) throw std::runtime_error("not compressed");
  out.resize(size);
  return out;
}

inline constexpr std::array kPackings = {Packing::gzip, Packing::zstd, Packing::xz, Packing::bzip2};

// Below, `packing` is not `none`.
inline std::string suffix_of(Packing packing) {
  if (packing == Packing::xz) return ".xz";
  if (packing == Packing::bzip2) return ".bz2";
  return packing == Packing::gzip ? ".gz" : ".zst";
}

inline std::string packed_by(Packing packing, const std::string& text) {
  if (packing == Packing::xz) return xz_packed(text);
  if (packing == Packing::bzip2) return bzip2_packed(text);
  return packing == Packing::gzip ? gzipped(text) : zstd_packed(text);
}

}  // namespace llmb::unpacking
