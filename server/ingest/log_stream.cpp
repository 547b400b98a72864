#include "server/ingest/log_stream.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "parser/foundation/content_hash.h"
#include "server/ingest/file_identity.h"

namespace llmb::ingest {
namespace {

using Failure = LogStream::Failure;

constexpr std::uint64_t kPieceBytes = std::uint64_t{256} << 10U;

tl::unexpected<Failure> unreadable(const parser::Error& error) {
  return tl::unexpected(Failure{false, error.message});
}

tl::unexpected<Failure> other_log() {
  return tl::unexpected(Failure{true, "it was rewritten"});
}

}  // namespace

LogStream::LogStream(OpenLog log, const storage::LogCursor& cursor)
    : log_(std::move(log)), cursor_(cursor) {
  if (log_.is_packed()) {
    unpacker_ = std::make_unique<unpacking::Unpacker>(log_.file.get(), log_.packing);
  }
}

LogStream::Answer<std::shared_ptr<LogStream>> LogStream::begin(OpenLog log,
                                                               const storage::LogCursor& cursor) {
  if (!log.is_packed()) {
    const auto identity = check_identity(log.file.get(), cursor);
    if (!identity) return unreadable(identity.error());
    if (*identity != Identity::same) return other_log();
  }
  return std::shared_ptr<LogStream>(new LogStream(std::move(log), cursor));
}

std::optional<std::uint64_t> LogStream::size_bytes() const {
  if (unpacker_) return std::nullopt;
  return log_.facts.size_bytes;
}

LogStream::Answer<std::string> LogStream::next() {
  auto piece = unpacker_ ? unpack() : read();
  if (!piece) return piece;
  if (!take(*piece) || !is_as_it_was()) return other_log();
  return piece;
}

LogStream::Answer<std::string> LogStream::read() {
  const std::uint64_t wanted = std::min(kPieceBytes, log_.facts.size_bytes - given_);
  auto piece = read_at(log_.file.get(), given_, static_cast<std::size_t>(wanted));
  if (!piece) return unreadable(piece.error());
  if (piece->size() < wanted) return tl::unexpected(Failure{true, "it became shorter"});
  return *std::move(piece);
}

LogStream::Answer<std::string> LogStream::unpack() {
  if (flaw_is_told_) return std::string();
  const auto block = unpacker_->next();
  // What was read of it ends there, too (see unpacking::unpack_file).
  const bool is_at_flaw = !block && !unpacker_->flaw().empty();
  if (!block && !is_at_flaw) return unreadable(block.error());
  const std::string_view text = is_at_flaw ? std::string_view() : *block;
  if (text.empty() && given_ < cursor_.offset) return other_log();
  if (!is_at_flaw) return std::string(text);
  flaw_is_told_ = true;
  return gap_line();
}

std::string LogStream::gap_line() const {
  const bool is_within_line = !tail_.empty() && tail_.back() != '\n';
  return fmt::format("{}[llmb-report: the rest of the log is missing: {}]\n",
                     is_within_line ? "\n" : "", unpacker_->flaw());
}

bool LogStream::is_as_it_was() const {
  if (unpacker_) {
    struct stat status {};
    if (fstat(log_.file.get(), &status) != 0) return false;
    const FileFacts now = file_facts(status);
    return now.size_bytes == log_.facts.size_bytes && now.modified_ns == log_.facts.modified_ns;
  }
  const int file = log_.file.get();
  const auto head = read_at(file, 0, head_.size());
  const auto tail = read_at(file, given_ - tail_.size(), tail_.size());
  return head && tail && *head == head_ && *tail == tail_;
}

bool LogStream::take(std::string_view piece) {
  if (head_.size() < kHeadLength) head_ += piece.substr(0, kHeadLength - head_.size());
  const bool is_cursors = !unpacker_ || is_cursors_text(piece);
  given_ += piece.size();
  tail_ += piece.substr(piece.size() - std::min<std::size_t>(piece.size(), kTailLength));
  tail_.erase(0, tail_.size() - std::min<std::size_t>(tail_.size(), kTailLength));
  return is_cursors;
}

bool LogStream::is_cursors_text(std::string_view piece) const {
  const bool ends_in_it = given_ < cursor_.offset && cursor_.offset <= given_ + piece.size();
  if (!ends_in_it) return true;
  std::string before = tail_;
  before += piece.substr(0, static_cast<std::size_t>(cursor_.offset - given_));
  const std::string_view head = std::string_view(head_).substr(0, cursor_.head_length);
  const std::string_view tail =
      std::string_view(before).substr(before.size() - cursor_.tail_length);
  return parser::content_hash(head) == cursor_.head_hash &&
         parser::content_hash(tail) == cursor_.tail_hash;
}

}  // namespace llmb::ingest
