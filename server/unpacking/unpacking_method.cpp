#include "server/unpacking/unpacking_method.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cstdint>
#include <new>

namespace llmb::unpacking {
namespace {

class Gzip : public UnpackingMethod {
 public:
  Gzip() {
    constexpr int kWindowBitsForGzip = 15 + 16;
    if (inflateInit2(&stream_, kWindowBitsForGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Progress unpack(std::string_view packed, std::vector<char>& text) override {
    // zlib's interface lacks a const; it only reads.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
    stream_.next_out = reinterpret_cast<Bytef*>(text.data());
    stream_.avail_out = static_cast<uInt>(text.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    Progress progress;
    progress.taken = packed.size() - stream_.avail_in;
    progress.made = text.size() - stream_.avail_out;
    progress.is_at_end = status == Z_STREAM_END;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      progress.damage = stream_.msg != nullptr ? stream_.msg : zError(status);
    }
    if (progress.is_at_end) inflateReset(&stream_);
    return progress;
  }
  std::size_t padding_unit() const override { return 1; }

 private:
  z_stream stream_ = {};
};

class Zstd : public UnpackingMethod {
 public:
  Zstd() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~Zstd() override { ZSTD_freeDStream(stream_); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  Progress unpack(std::string_view packed, std::vector<char>& text) override {
    ZSTD_inBuffer in = {packed.data(), packed.size(), 0};
    ZSTD_outBuffer out = {text.data(), text.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream_, &out, &in);
    Progress progress;
    progress.taken = in.pos;
    progress.made = out.pos;
    progress.is_at_end = left == 0;
    if (ZSTD_isError(left) == 0U) return progress;
    progress.damage = ZSTD_getErrorName(left);
    if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge) {
      progress.refusal =
          "it was compressed by `zstd --long`, and needs more than 128 MiB of memory: unpack it "
          "yourself";
    }
    return progress;
  }
  std::size_t padding_unit() const override { return 0; }

 private:
  ZSTD_DStream* stream_;
};

class Xz : public UnpackingMethod {
 public:
  Xz() { begin(); }
  ~Xz() override { lzma_end(&stream_); }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;

  Progress unpack(std::string_view packed, std::vector<char>& text) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream_.avail_in = packed.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(text.data());
    stream_.avail_out = text.size();
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    Progress progress;
    progress.taken = packed.size() - stream_.avail_in;
    progress.made = text.size() - stream_.avail_out;
    progress.is_at_end = status == LZMA_STREAM_END;
    // The library's word for calls that bring nothing, which are none of damage without new bytes.
    const bool goes_on = status == LZMA_OK || (status == LZMA_BUF_ERROR && packed.empty());
    if (progress.is_at_end) {
      begin();
    } else if (!goes_on) {
      explain(status, progress);
    }
    return progress;
  }
  // As the format has it.
  std::size_t padding_unit() const override { return 4; }

 private:
  // Of dictionaries, which xz -9 makes 64 MiB long. They are asked for by a few bytes, and kept
  // until the end.
  static constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{256} << 20U;

  // Keeps what memory there is. All checks are made; one of a kind that the library cannot make is
  // told, too.
  void begin() {
    if (lzma_stream_decoder(&stream_, kMemoryBytesMax, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }

  // The library has no words for what it finds.
  static void explain(lzma_ret status, Progress& progress) {
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status == LZMA_MEMLIMIT_ERROR) {
      progress.refusal =
          "it was compressed by xz with a larger dictionary than `xz -9` has, and needs more than "
          "256 MiB of memory: unpack it yourself";
    } else if (status == LZMA_OPTIONS_ERROR || status == LZMA_UNSUPPORTED_CHECK) {
      progress.refusal =
          "it was compressed by xz with a filter or a check that is not known here: unpack it "
          "yourself";
    } else if (status == LZMA_FORMAT_ERROR) {
      progress.damage = "what begins there is no xz";
    } else {
      progress.damage = "its data, or what they are checked by, are wrong";
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class Bzip2 : public UnpackingMethod {
 public:
  Bzip2() { begin(); }
  ~Bzip2() override { BZ2_bzDecompressEnd(&stream_); }
  Bzip2(const Bzip2&) = delete;
  Bzip2& operator=(const Bzip2&) = delete;

  Progress unpack(std::string_view packed, std::vector<char>& text) override {
    // bzip2's interface lacks a const; it only reads.
    stream_.next_in = const_cast<char*>(packed.data());
    stream_.avail_in = static_cast<unsigned>(packed.size());
    stream_.next_out = text.data();
    stream_.avail_out = static_cast<unsigned>(text.size());
    const int status = BZ2_bzDecompress(&stream_);
    if (status == BZ_MEM_ERROR) throw std::bad_alloc();
    Progress progress;
    progress.taken = packed.size() - stream_.avail_in;
    progress.made = text.size() - stream_.avail_out;
    progress.is_at_end = status == BZ_STREAM_END;
    if (progress.is_at_end) {
      BZ2_bzDecompressEnd(&stream_);
      begin();
    } else if (status != BZ_OK) {
      // The library has no words for it.
      progress.damage = status == BZ_DATA_ERROR_MAGIC
                            ? "what begins there is no bzip2"
                            : "its data, or what they are checked by, are wrong";
    }
    return progress;
  }
  std::size_t padding_unit() const override { return 1; }

 private:
  // At most 3.7 MB.
  void begin() {
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }

  bz_stream stream_ = {};
};

}  // namespace

std::unique_ptr<UnpackingMethod> unpacking_method_of(Packing packing) {
  switch (packing) {
    case Packing::none:
    case Packing::gzip:
      break;
    case Packing::zstd:
      return std::make_unique<Zstd>();
    case Packing::xz:
      return std::make_unique<Xz>();
    case Packing::bzip2:
      return std::make_unique<Bzip2>();
  }
  return std::make_unique<Gzip>();
}

}  // namespace llmb::unpacking
