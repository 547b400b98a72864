#include "parser/dialects/nccl_known_lines.h"

#include <algorithm>
#include <optional>

#include "parser/dialects/nccl_call.h"
#include "parser/foundation/bounded_numbers.h"
#include "parser/foundation/text_hash.h"
#include "parser/lines/delimiters.h"
#include "parser/lines/literal_scanner.h"
#include "parser/lines/pattern_engines.h"

namespace llmb::parser {
namespace {

constexpr unsigned kRankBits = 10;
constexpr unsigned kGuessBits = 16;
constexpr unsigned kSetBits = 11;  // four lines each
// By how much a line may be shorter than the one before it, for its end to be found at first sight.
// No call's line is as short as that.
constexpr std::size_t kLengthMargin = 24;
constexpr std::string_view kCount = " count ";

std::size_t upper(std::uint64_t hash, unsigned bits) {
  return hash >> (64 - bits);
}
std::uint32_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 20U) | 1U;
}

// A hash of what tells ranks apart: a host's name stands first, the rank last.
class RankHash {
 public:
  explicit RankHash(std::size_t label_length)
      : last_word_(label_length < kWord ? 0 : label_length - kWord),
        second_word_(std::min(last_word_, kWord)),
        // Of a product's bits the lower ones depend on the lower ones of its factors only.
        shift_(label_length < kWord ? std::min<std::size_t>(64 - 8 * label_length, 63) : 0) {}

  std::uint64_t operator()(const char* label) const {
    const std::uint64_t hash = word_at(label) * kHashFactor +
                               word_at(label + second_word_) * 0xff51afd7ed558ccdULL +
                               word_at(label + last_word_) * 0xc4ceb9fe1a85ec53ULL;
    return hash << shift_;
  }

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::size_t last_word_;
  std::size_t second_word_;
  std::size_t shift_;
};

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

// Of lines that begin with their label.
struct NoStamp {
  static constexpr std::size_t size() { return 0; }
  static constexpr bool is_like(const char*) { return true; }
};

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

std::size_t hex_length(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789abcdef"), text.size());
}

// The digits of the pointers that may differ from call to call: buffers and stream. Other spellings
// of a pointer stay as they are. `tail`: what follows the counter.
void allow_pointers(std::string_view tail, LinePattern& pattern) {
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

std::size_t NcclKnownLines::add_up(std::string_view lines, const Prefix& prefix, Counts& counts) {
  if (lines_.empty() || to_skip_ > 0) return 0;
  std::size_t done = 0;
  if (lines.size() >= kReach) {
    done = add_up_within_reach(lines, lines.size() - kReach + 1, prefix, counts);
  }
  const std::string_view rest = lines.substr(done);
  if (rest.empty() || rest.size() >= kReach || to_skip_ > 0) return done;
  // The last few are looked at where something can be read behind them.
  std::array<char, 2 * kReach> room;
  rest.copy(room.data(), rest.size());
  std::fill_n(room.data() + rest.size(), kReach, '\0');
  return done + add_up_within_reach({room.data(), rest.size()}, rest.size(), prefix, counts);
}

std::size_t NcclKnownLines::add_up_within_reach(std::string_view lines, std::size_t end,
                                                const Prefix& prefix, Counts& counts) {
  if (prefix.stamp.size() == 0) {
    return add_up_stamped(lines, end, NoStamp(), prefix.label_length, counts);
  }
  return add_up_stamped(lines, end, prefix.stamp, prefix.label_length, counts);
}

// Those that begin before `end`, from where kReach bytes can be read. Where the next line begins is
// known before this one has been compared, and what its rank will print was guessed when it printed
// the last: the processor is at several lines at once.
template <typename Stamp>
std::size_t NcclKnownLines::add_up_stamped(std::string_view lines, std::size_t end,
                                           const Stamp& stamp, std::size_t label_length,
                                           Counts& counts) {
  const RankHash hash(label_length);
  const auto loop = [&](const auto& engine) __attribute__((always_inline)) {
    // Copies, for what is captured would be read again for each line.
    const RankHash hash_of_rank = hash;
    const Stamp stamp_of_line = stamp;
    std::int64_t* const calls = counts.calls.data();
    const Known* const known_lines = lines_.data();
    Rank* const ranks = ranks_.data();
    Number* const guesses = guesses_.data();
    std::size_t length_min = length_min_;
    const char* line = lines.data();
    const char* const last = line + end;
    while (line < last && stamp_of_line.is_like(line)) {
      const char* const label = line + stamp_of_line.size();
      std::size_t length = engine.line_length(label, length_min);
      const std::uint64_t rank_hash = hash_of_rank(label);
      Rank& rank = ranks[upper(rank_hash, kRankBits)];
      std::size_t number = rank.expected;
      if (!engine.are_like(known_lines[number].pattern, label, length)) [[unlikely]] {
        const char* const behind = lines.data() + lines.size();
        if (label >= behind) break;
        const auto left = static_cast<std::size_t>(behind - label);
        const Found found = look_for({label, left}, label_length, rank_hash);
        if (found.number == 0) break;
        number = found.number;
        length = found.length;
      }
      line = label + length;
      length_min = length - kLengthMargin;
      const Call& call = known_lines[number].call;
      ++calls[call.use];
      if (call.use == kNcclUsesMax) [[unlikely]]
        counts.other_bytes = bounded_sum(counts.other_bytes, call.other_bytes);
      rank.history = rank.history << 16U | number;
      rank.expected = guesses[upper((rank.history << 16U) * kHashFactor, kGuessBits)];
    }
    length_min_ = length_min;
    return static_cast<std::size_t>(line - lines.data());
  };
  const std::size_t done = with_pattern_engine(engine_, loop);
  constexpr std::size_t kBytesOfLine = 256;  // about
  misses_ = std::max(misses_ - static_cast<std::int32_t>(done / kBytesOfLine), 0);
  return done;
}

// The line in front, where it is not the one that its rank was expected to print, or not as long as
// the one before it.
NcclKnownLines::Found NcclKnownLines::look_for(std::string_view lines, std::size_t label_length,
                                               std::uint64_t rank_hash) {
  if (lines.size() < label_length || !begins_with_nccl_info(lines.substr(label_length))) return {};
  const std::string_view begin = lines.substr(0, LinePattern::kLineBytesMax);
  const std::size_t end = first_delimiter(begin, 0, begin.size());
  if (end == kNoDelimiter) return {};
  const auto is_like = [&](Number number) {
    return PatternByParts<Comparison16>().are_like(lines_[number].pattern, lines.data(), end + 1);
  };
  const Rank& rank = ranks_[upper(rank_hash, kRankBits)];
  if (is_like(rank.expected)) return {rank.expected, end + 1};
  if (const auto hash = hash_of_call(rank_hash, lines.substr(label_length + kNcclInfo.size()))) {
    const Set& set = sets_[upper(*hash, kSetBits)];
    for (std::size_t i = 0; i < set.tags.size(); ++i) {
      if (set.tags[i] != tag_of(*hash) || !is_like(set.lines[i])) continue;
      guess_after(rank.history) = set.lines[i];
      return {set.lines[i], end + 1};
    }
  }
  note_miss();
  return {};
}

void NcclKnownLines::note_miss() {
  constexpr std::int32_t kMissesMax = 1024;
  constexpr std::int32_t kSkipped = 16'384;
  if (++misses_ < kMissesMax) return;
  misses_ = kMissesMax / 2;
  to_skip_ = kSkipped;
}

void NcclKnownLines::learn(std::string_view line, const Prefix& prefix, Call call) {
  if (to_skip_ > 0) {
    --to_skip_;
    return;
  }
  line.remove_prefix(prefix.stamp.size());
  const std::uint64_t rank_hash = RankHash(prefix.label_length)(line.data());
  const auto hash = hash_of_call(rank_hash, line.substr(prefix.label_length + kNcclInfo.size()));
  if (!hash) return;
  if (sets_.empty()) {
    sets_.resize(std::size_t{1} << kSetBits);
    ranks_.resize(std::size_t{1} << kRankBits);
    guesses_.resize(std::size_t{1} << kGuessBits);
    lines_.resize(1);
  }
  Number number = 0;
  Known* const known = place_for(*hash, number);
  if (known == nullptr) return;
  const std::size_t counter = line.find(kNcclOpCount, prefix.label_length) + kNcclOpCount.size();
  const std::string_view tail = line.substr(counter + hex_length(line.substr(counter)));
  // Where they are no pattern, the line is not known.
  if (known->pattern.assign(line.substr(0, counter), tail)) allow_pointers(tail, known->pattern);
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
    set.lines[place] = static_cast<Number>(lines_.size());
    lines_.emplace_back();
  }
  number = set.lines[place];
  return &lines_[number];
}

NcclKnownLines::Number& NcclKnownLines::guess_after(std::uint64_t history) {
  return guesses_[upper((history << 16U) * kHashFactor, kGuessBits)];
}

void NcclKnownLines::go_on(Rank& rank, Number line) {
  rank.history = rank.history << 16U | line;
  rank.expected = guess_after(rank.history);
}

}  // namespace llmb::parser
