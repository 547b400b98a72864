#include "server/unpacking/unpacker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "server/unpacking/unpacking_method.h"

namespace llmb::unpacking {
namespace {

constexpr std::size_t kPackedBytes = std::size_t{64} << 10U;
constexpr std::size_t kTextBytes = std::size_t{256} << 10U;

}  // namespace

Unpacker::Unpacker(int fd, Packing packing, std::string head)
    : fd_(fd),
      method_(unpacking_method_of(packing)),
      room_(std::move(head)),
      packed_(room_),
      text_(kTextBytes) {}

Unpacker::~Unpacker() = default;

parser::Result<std::string_view> Unpacker::next() {
  while (true) {
    if (!damage_.empty()) return damaged(damage_);
    if (packed_.empty() && !may_have_more_) {
      if (auto read = read_packed(); !read) return tl::unexpected(read.error());
      if (packed_.empty() && is_in_middle_) return cut_off();
    }
    if (!is_in_middle_) {
      const bool is_at_end = packed_.empty();
      pass_over_padding();
      if (packed_.empty() && !is_at_end) continue;
      if (auto passed = end_padding(); !passed) return tl::unexpected(passed.error());
      if (is_at_end) return std::string_view();
    }
    const Progress progress = method_->unpack(packed_, text_);
    packed_.remove_prefix(progress.taken);
    if (progress.refusal != nullptr) return parser::fail(progress.refusal);
    // What came before it in the same call is text as any other.
    if (progress.damage != nullptr) damage_ = progress.damage;
    is_in_middle_ = !progress.is_at_end;
    may_have_more_ = is_in_middle_ && progress.made == text_.size();
    if (progress.made > 0) return given(progress.made);
  }
}

std::string Unpacker::flaw() const {
  if (is_cut_off_ && text_bytes_ > 0) {
    return fmt::format(
        "the compressed file ends in the middle, after {} bytes of text: it is still being "
        "written, or was cut off",
        text_bytes_);
  }
  if (!damage_.empty() && has_whole_line_) {
    return fmt::format("the compressed file is damaged behind {} bytes of text: {}", text_bytes_,
                       damage_);
  }
  return {};
}

std::string_view Unpacker::given(std::size_t bytes) {
  const std::string_view text(text_.data(), bytes);
  text_bytes_ += bytes;
  has_whole_line_ = has_whole_line_ || text.find('\n') != std::string_view::npos;
  return text;
}

tl::unexpected<parser::Error> Unpacker::cut_off() {
  is_cut_off_ = true;
  return parser::fail(
      "the compressed file ends in the middle: it is still being written, or was cut off");
}

tl::unexpected<parser::Error> Unpacker::damaged(std::string how) {
  damage_ = std::move(how);
  return parser::fail(fmt::format("the compressed file is damaged: {}", damage_));
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

void Unpacker::pass_over_padding() {
  if (method_->padding_unit() == 0) return;
  const std::size_t zeros = std::min(packed_.find_first_not_of('\0'), packed_.size());
  packed_.remove_prefix(zeros);
  padding_bytes_ += zeros;
}

parser::Result<void> Unpacker::end_padding() {
  const std::uint64_t bytes = std::exchange(padding_bytes_, 0);
  const std::size_t unit = method_->padding_unit();
  if (unit == 0 || bytes % unit == 0) return {};
  return damaged(fmt::format("{} zeros stand behind it, not a multiple of {}", bytes, unit));
}

}  // namespace llmb::unpacking
