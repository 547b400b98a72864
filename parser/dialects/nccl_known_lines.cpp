#include "parser/dialects/nccl_known_lines.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "parser/dialects/nccl_call.h"
#include "parser/foundation/text_hash.h"

namespace llmb::parser {
namespace {

constexpr unsigned kRankBits = 8;
constexpr unsigned kGuessBits = 14;
constexpr unsigned kSetBits = 11;  // four lines each
constexpr std::string_view kCount = " count ";

std::size_t upper(std::uint64_t hash, unsigned bits) {
  return hash >> (64 - bits);
}
std::uint32_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 20U) | 1U;
}

// Of what tells ranks apart: a host's name stands first, the rank last.
std::uint64_t hash_of_rank(const char* line, std::size_t prefix_length) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::uint64_t rank = prefix_length < kWord ? 0 : word_at(line + prefix_length - kWord);
  return mix_hash(word_at(line) + mix_hash(word_at(line + kWord) + mix_hash(rank)));
}

// Where " count " begins in `text`, which begins with an operation: nothing behind that has a "t"
// before it. Or npos.
std::size_t find_count(std::string_view text) {
  constexpr std::size_t kBytesMax = 160;
  constexpr std::size_t kBefore = kCount.find('t');
  const std::size_t name_length = text.substr(0, kNcclOperationBytesMax + 1).find(':');
  if (name_length == std::string_view::npos) return name_length;
  const std::size_t counter = name_length + kNcclOpCount.size();
  if (counter > text.size()) return std::string_view::npos;
  const std::size_t t = text.substr(counter, kBytesMax).find('t');
  return t == std::string_view::npos || t < kBefore ? std::string_view::npos
                                                    : counter + t - kBefore;
}

// Of what tells a rank's calls apart: the operation, and what follows " count ".
std::optional<std::uint64_t> hash_of_call(std::uint64_t rank, std::string_view text) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::size_t kWordCount = 7;
  const std::size_t count = find_count(text);
  if (count == std::string_view::npos || text.size() - count < kCount.size() + kWordCount * kWord) {
    return std::nullopt;
  }
  const char* const words = text.data() + count + kCount.size();
  std::uint64_t hash = rank ^ word_at(text.data());
  std::uint64_t factor = kHashFactor;
  for (std::size_t i = 0; i < kWordCount; ++i) {
    hash += word_at(words + i * kWord) * factor;
    factor += 2 * kHashFactor;
  }
  return mix_hash(hash);
}

// How many of the eight bytes of `word` are such digits, before the first that is none. Adding
// 0x80 - c to a byte sets its highest bit exactly when it is at least c, as long as it is below
// 0x80; bytes above it spoil those behind them only.
std::size_t hex_digits_of(std::uint64_t word) {
  constexpr std::uint64_t kEach = 0x0101010101010101ULL;
  const auto at_least = [word](std::uint64_t c) { return word + (0x80 - c) * kEach; };
  const std::uint64_t digits = at_least('0') & ~at_least('9' + 1);
  const std::uint64_t letters = at_least('a') & ~at_least('f' + 1);
  const std::uint64_t others = (~(digits | letters) | word) & (0x80 * kEach);
  return static_cast<std::size_t>(std::countr_zero(others)) / 8;
}

// Up to sixteen; reads as many bytes, whatever they are.
std::size_t hex_digits_at(const char* at) {
  const std::size_t first = hex_digits_of(word_at(at));
  return first < sizeof(std::uint64_t) ? first : first + hex_digits_of(word_at(at + first));
}

std::size_t hex_length(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789abcdef"), text.size());
}

// The digits of the pointers that may differ from call to call: buffers and stream. Other spellings
// of a pointer stay as they are. `tail`: what follows the counter.
void allow_pointers(std::string_view tail, BytePattern<256>& pattern) {
  constexpr std::string_view kPointer = " 0x";
  const std::size_t count = tail.find(kCount);
  const std::size_t stream = tail.find(" stream ", count);
  for (std::size_t at = 0; (at = tail.find(kPointer, at)) != std::string_view::npos;) {
    at += kPointer.size();
    if (at > count && at < stream) continue;
    pattern.allow_hex(at, hex_length(tail.substr(at)));
  }
}

}  // namespace

NcclKnownLines::Match NcclKnownLines::look_for(std::string_view lines, std::size_t prefix_length) {
  const std::uint64_t rank_hash = hash_of_rank(lines.data(), prefix_length);
  Rank& rank = ranks_[upper(rank_hash, kRankBits)];
  if (rank.expected != 0) {
    const Known& known = lines_[rank.expected - std::size_t{1}];
    if (const std::size_t length = length_if_like(known, lines); length != 0) {
      go_on(rank, rank.expected);
      return {length, known.call};
    }
  }
  const auto hash = hash_of_call(rank_hash, lines.substr(prefix_length + kNcclInfo.size()));
  if (!hash) return {};
  const Set& set = sets_[upper(*hash, kSetBits)];
  for (std::size_t i = 0; i < set.tags.size(); ++i) {
    if (set.tags[i] != tag_of(*hash)) continue;
    const Known& known = lines_[set.lines[i] - std::size_t{1}];
    const std::size_t length = length_if_like(known, lines);
    if (length == 0) continue;
    guess_after(rank.history) = set.lines[i];
    go_on(rank, set.lines[i]);
    return {length, known.call};
  }
  return {};
}

void NcclKnownLines::note(bool is_found) {
  constexpr std::int32_t kMissesMax = 1024;
  constexpr std::int32_t kSkipped = 16'384;
  if (is_found) {
    if (misses_ > 0) --misses_;
  } else if (++misses_ == kMissesMax) {
    misses_ = kMissesMax / 2;
    to_skip_ = kSkipped;
  }
}

// Of the line with its end, or 0.
std::size_t NcclKnownLines::length_if_like(const Known& known, std::string_view lines) const {
  if (!matcher_.matches(known.head, lines.data())) return 0;
  const std::size_t digits = hex_digits_at(lines.data() + known.head.size());
  const std::size_t tail = known.head.size() + digits;
  return digits != 0 && matcher_.matches(known.tail, lines.data() + tail) ? tail + known.tail.size()
                                                                          : 0;
}

void NcclKnownLines::learn(std::string_view line, std::size_t prefix_length, Call call) {
  if (to_skip_ > 0) {
    --to_skip_;
    return;
  }
  const std::uint64_t rank_hash = hash_of_rank(line.data(), prefix_length);
  const auto hash = hash_of_call(rank_hash, line.substr(prefix_length + kNcclInfo.size()));
  if (!hash) return;
  if (sets_.empty()) {
    sets_.resize(std::size_t{1} << kSetBits);
    ranks_.resize(std::size_t{1} << kRankBits);
    guesses_.resize(std::size_t{1} << kGuessBits);
  }
  Number number = 0;
  Known* const known = place_for(*hash, number);
  if (known == nullptr) return;
  const std::size_t counter = line.find(kNcclOpCount, prefix_length) + kNcclOpCount.size();
  const std::string_view tail = line.substr(counter + hex_length(line.substr(counter)));
  // Where one of them is no pattern, the line is not known.
  if (known->head.assign(line.substr(0, counter)) && known->tail.assign(tail)) {
    allow_pointers(tail, known->tail);
  }
  known->call = call;
  Rank& rank = ranks_[upper(rank_hash, kRankBits)];
  guess_after(rank.history) = number;
  go_on(rank, number);
}

// Where a set is full of others, one line in a few takes the place of the oldest: where there are
// more of them than there is room, most stay, and learning costs little.
NcclKnownLines::Known* NcclKnownLines::place_for(std::uint64_t hash, Number& number) {
  constexpr std::uint32_t kPassedOver = 8;
  Set& set = sets_[upper(hash, kSetBits)];
  std::size_t place = 0;
  while (place < set.tags.size() && set.tags[place] != tag_of(hash) && set.tags[place] != 0) {
    ++place;
  }
  if (place == set.tags.size()) {
    if (++passed_over_ % kPassedOver != 0) return nullptr;
    place = set.oldest;
    set.oldest = static_cast<std::uint32_t>((place + 1) % set.tags.size());
  }
  set.tags[place] = tag_of(hash);
  if (set.lines[place] == 0) {
    lines_.emplace_back();
    set.lines[place] = static_cast<Number>(lines_.size());
  }
  number = set.lines[place];
  return &lines_[number - std::size_t{1}];
}

NcclKnownLines::Number& NcclKnownLines::guess_after(std::uint64_t history) {
  constexpr std::uint64_t kThreeLines = (std::uint64_t{1} << 48U) - 1;
  return guesses_[upper((history & kThreeLines) * kHashFactor, kGuessBits)];
}

void NcclKnownLines::go_on(Rank& rank, Number line) {
  rank.history = rank.history << 16U | line;
  rank.expected = guess_after(rank.history);
}

}  // namespace llmb::parser
