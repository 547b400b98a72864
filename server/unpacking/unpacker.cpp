#include "server/unpacking/unpacker.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace llmb::unpacking {

// What one call of a library did.
struct Progress {
  std::size_t taken = 0;         // of the packed bytes
  std::size_t made = 0;          // bytes of text
  bool is_at_end = false;        // of one compressed file; another may follow
  const char* damage = nullptr;  // in the library's words; none: there is none
  bool is_too_long = false;      // what the library keeps of the text, of `zstd --long=28` and more
};

class UnpackingMethod {
 public:
  virtual ~UnpackingMethod() = default;
  virtual Progress unpack(std::string_view packed, std::vector<char>& text) = 0;
  // How many of the bytes behind a compressed file only fill its last block, as tapes do.
  virtual std::size_t padding(std::string_view /*packed*/) const { return 0; }
};

namespace {

constexpr std::size_t kPackedBytes = std::size_t{64} << 10U;
constexpr std::size_t kTextBytes = std::size_t{256} << 10U;

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

  std::size_t padding(std::string_view packed) const override {
    return std::min(packed.find_first_not_of('\0'), packed.size());
  }

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
    if (ZSTD_isError(left) != 0U) {
      progress.damage = ZSTD_getErrorName(left);
      progress.is_too_long = ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge;
    }
    return progress;
  }

 private:
  ZSTD_DStream* stream_;
};

std::unique_ptr<UnpackingMethod> method_of(Packing packing) {
  if (packing == Packing::gzip) return std::make_unique<Gzip>();
  return std::make_unique<Zstd>();
}

}  // namespace

Unpacker::Unpacker(int fd, Packing packing, std::string head)
    : fd_(fd),
      method_(method_of(packing)),
      room_(std::move(head)),
      packed_(room_),
      text_(kTextBytes) {}

Unpacker::~Unpacker() = default;

parser::Result<std::string_view> Unpacker::next() {
  while (true) {
    if (packed_.empty() && !may_have_more_) {
      if (auto read = read_packed(); !read) return tl::unexpected(read.error());
      if (packed_.empty() && !is_in_middle_) return std::string_view();
      if (packed_.empty()) {
        return parser::fail(
            "the compressed file ends in the middle: it is still being written, or was cut off");
      }
    }
    if (!is_in_middle_) packed_.remove_prefix(method_->padding(packed_));
    if (!is_in_middle_ && packed_.empty()) continue;
    const Progress progress = method_->unpack(packed_, text_);
    packed_.remove_prefix(progress.taken);
    if (progress.is_too_long) {
      return parser::fail(
          "it was compressed by `zstd --long`, and needs more than 128 MiB of memory: unpack it "
          "yourself");
    }
    if (progress.damage != nullptr) {
      return parser::fail(fmt::format("the compressed file is damaged: {}", progress.damage));
    }
    is_in_middle_ = !progress.is_at_end;
    may_have_more_ = is_in_middle_ && progress.made == text_.size();
    if (progress.made > 0) return std::string_view(text_.data(), progress.made);
  }
}

// Leaves `packed_` empty at the file's end.
parser::Result<void> Unpacker::read_packed() {
  room_.resize(kPackedBytes);
  while (true) {
    const ssize_t got = ::read(fd_, room_.data(), room_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return parser::fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    packed_ = std::string_view(room_).substr(0, static_cast<std::size_t>(got));
    return {};
  }
}

}  // namespace llmb::unpacking
