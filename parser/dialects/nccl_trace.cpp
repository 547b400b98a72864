#include "parser/dialects/nccl_trace.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

namespace llmb::parser {
namespace {

// Of one use, and of all: beyond, counts are lower bounds, and say so.
constexpr std::size_t kCommunicatorsMax = 64;
constexpr std::size_t kAllCommunicatorsMax = 2048;
constexpr std::size_t kPrefixes = 256;
// Half a megabyte, for those who read a long trace.
constexpr std::size_t kKnownSets = 1024;
constexpr std::size_t kCallsBeforeKnowing = 2048;
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;

std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 33U;
  value *= 0xff51afd7ed558ccdULL;
  return value ^ (value >> 33U);
}

std::uint64_t word_at(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint64_t hash_bytes(std::string_view text, std::uint64_t seed) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::uint64_t hash = mix(seed ^ (text.size() * kOdd));
  if (text.size() < kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), text.size());
    return mix(hash ^ word);
  }
  for (std::size_t at = 0; at + kWord < text.size(); at += kWord) {
    hash = mix(hash ^ word_at(text.data() + at));
  }
  return mix(hash ^ word_at(text.data() + text.size() - kWord));  // may overlap
}

std::uint64_t hash_of(std::string_view operation, std::int64_t datatype, std::int64_t elements,
                      std::int64_t ranks) {
  const auto number = static_cast<std::uint64_t>(elements) * 31 +
                      static_cast<std::uint64_t>(datatype) * 1'000'003 +
                      static_cast<std::uint64_t>(ranks) * 7'919;
  // The first and last letters tell NCCL's operations apart well enough for a hash.
  const auto letters =
      static_cast<std::uint64_t>(operation.size()) * 65'537 +
      static_cast<std::uint64_t>(static_cast<unsigned char>(operation.front())) * 257 +
      static_cast<std::uint64_t>(static_cast<unsigned char>(operation.back()));
  return mix(number ^ (letters << 40U));
}

bool is_line_end(std::string_view text) {
  return text.starts_with('\n') || text.starts_with('\r');
}

// "host:pid" of "host:pid:tid [0] ": the threads of a process share its communicators.
std::string_view process_of(std::string_view prefix) {
  const std::size_t bracket = prefix.rfind(" [");
  if (bracket == std::string_view::npos) return prefix;
  const std::string_view name = prefix.substr(0, bracket);
  const std::size_t thread = name.rfind(':');
  return thread == std::string_view::npos ? name : name.substr(0, thread);
}

}  // namespace

NcclTraceReader::Outcome NcclTraceReader::read(std::string_view line) {
  bool is_whole = true;
  bool is_trace = false;
  for (std::string_view rest = line; !rest.empty();) {
    const std::size_t at = rest.find(kLiteral);
    if (at == std::string_view::npos) break;
    if (const auto call = read_nccl_call(rest)) {
      add(*call, hash_bytes(process_of(call->process), 1));
      is_trace = true;
      rest = call->rest;
      is_whole = is_whole && (rest.empty() || rest == "\x1b[0m");
    } else {
      is_trace = is_trace || rest.find(kNcclInfo) < at;
      is_whole = false;
      rest.remove_prefix(at + kLiteral.size());
    }
  }
  if (!is_trace) return Outcome::no_trace;
  if (is_whole) return Outcome::whole;
  ++trace_.torn_lines;
  has_changed_ = true;
  return Outcome::torn;
}

std::size_t NcclTraceReader::read_run(std::string_view lines) {
  std::size_t done = 0;
  while (const std::size_t length = read_first_of_run(lines.substr(done))) done += length;
  return done;
}

// How long the first line is with its end; 0 where it is not read.
std::size_t NcclTraceReader::read_first_of_run(std::string_view lines) {
  if (is_line_end(lines)) return 1;  // an empty line
  const Prefix* const prefix = find_prefix(lines);
  if (prefix == nullptr) return 0;
  const std::string_view text = lines.substr(prefix->length + kNcclInfo.size());
  const std::size_t name_length = text.substr(0, kNcclOperationBytesMax + 1).find(':');
  if (name_length == std::string_view::npos || name_length == 0) return 0;
  NcclCall call;
  call.operation = text.substr(0, name_length);
  if (!read_nccl_buffers(text.substr(name_length), call)) return 0;
  const std::string_view meaning = call.rest;
  const Place place = place_of(meaning, prefix->process_hash);
  const KnownMeaning* const known =
      find_known(place, meaning, call.operation, prefix->process_hash);
  if (known != nullptr && read_nccl_stream(meaning.substr(known->length), call) &&
      is_line_end(call.rest)) {
    has_changed_ = true;
    ++trace_.uses[known->use].calls;
    return lines.size() - call.rest.size() + 1;
  }
  if (nccl_operation_length(call.operation) != name_length) return 0;
  if (!read_nccl_meaning(meaning, call)) return 0;
  const std::size_t length = meaning.size() - call.rest.size();
  if (!read_nccl_stream(call.rest, call) || !is_line_end(call.rest)) return 0;
  const std::size_t use = add(call, prefix->process_hash);
  remember(place, meaning.substr(0, length), use, prefix->process_hash);
  return lines.size() - call.rest.size() + 1;
}

// By the bytes that differ from use to use and from rank to rank, as far as they are at a place
// that is known before they are read.
NcclTraceReader::Place NcclTraceReader::place_of(std::string_view meaning,
                                                 std::uint64_t process_hash) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::size_t kFirst = std::string_view(" count ").size();
  constexpr std::size_t kWords = 7;
  if (known_.empty()) {
    if (++calls_in_runs_ < kCallsBeforeKnowing) return {};
    known_.resize(kKnownSets);
  }
  if (meaning.size() < kFirst + kWords * kWord) return {};
  std::uint64_t hash = process_hash;
  for (std::size_t i = 0; i < kWords; ++i) {
    hash = std::rotl(hash, 23) ^ (word_at(meaning.data() + kFirst + i * kWord) * kOdd);
  }
  hash = mix(hash * kOdd);
  return {&known_[hash % kKnownSets], static_cast<std::uint32_t>(hash >> 32U) | 1U};
}

const NcclTraceReader::KnownMeaning* NcclTraceReader::find_known(const Place& place,
                                                                 std::string_view meaning,
                                                                 std::string_view operation,
                                                                 std::uint64_t process_hash) const {
  if (place.set == nullptr) return nullptr;
  for (std::size_t i = 0; i < place.set->tags.size(); ++i) {
    if (place.set->tags[i] != place.tag) continue;
    const KnownMeaning& known = place.set->meanings[i];
    if (known.process_hash == process_hash &&
        meaning.starts_with(std::string_view(known.text.data(), known.length)) &&
        trace_.uses[known.use].operation == operation) {
      return &known;
    }
  }
  return nullptr;
}

void NcclTraceReader::remember(const Place& place, std::string_view meaning, std::size_t use,
                               std::uint64_t process_hash) {
  if (place.set == nullptr || use == kNcclUsesMax || meaning.size() > KnownMeaning::kBytesMax) {
    return;
  }
  KnownSet& set = *place.set;
  KnownMeaning& known = set.meanings[set.oldest];
  set.tags[set.oldest] = place.tag;
  set.oldest = (set.oldest + 1) % set.tags.size();
  known.process_hash = process_hash;
  meaning.copy(known.text.data(), meaning.size());
  known.length = static_cast<std::uint8_t>(meaning.size());
  known.use = static_cast<std::uint16_t>(use);
}

// The first line's; null where it has none that read() would take for one.
const NcclTraceReader::Prefix* NcclTraceReader::find_prefix(std::string_view lines) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  // The ranks of a log print prefixes of mostly the same length: "[7] ", "node-3:4711:4712 [7] ".
  std::size_t length = prefix_length_;
  if (!lines.substr(std::min(length, lines.size())).starts_with(kNcclInfo)) {
    length = lines.substr(0, Prefix::kBytesMax + kNcclInfo.size()).find(kNcclInfo);
    if (length == std::string_view::npos) return nullptr;
    prefix_length_ = length;
  }
  const std::string_view text = lines.substr(0, length);
  // NCCL's own words follow a short prefix, so that a word can be read there, too.
  const std::size_t word = length < kWord ? 0 : length - kWord;
  if (word + kWord > lines.size()) return nullptr;
  const std::uint64_t key = mix(length ^ word_at(lines.data() + word));
  if (prefixes_.empty()) prefixes_.resize(kPrefixes);
  Prefix& prefix = prefixes_[key % kPrefixes];
  const bool is_known = prefix.is_set && prefix.length == length &&
                        std::memcmp(prefix.text.data(), text.data(), length) == 0;
  if (is_known) return &prefix;
  if (text.find_first_of("\r\n") != std::string_view::npos ||
      text.find(kLiteral) != std::string_view::npos) {
    return nullptr;
  }
  text.copy(prefix.text.data(), length);
  prefix.length = static_cast<std::uint32_t>(length);
  prefix.is_set = true;
  prefix.process_hash = hash_bytes(process_of(text), 1);
  return &prefix;
}

std::size_t NcclTraceReader::add(const NcclCall& call, std::uint64_t process_hash) {
  has_changed_ = true;
  const std::size_t index = find_or_insert(call);
  if (index == kNcclUsesMax) {
    ++trace_.other_calls;
    trace_.other_bytes += call.element_count * nccl_datatype_bytes(call.datatype);
    return index;
  }
  NcclUse& use = trace_.uses[index];
  ++use.calls;
  if (use.communicators_are_complete) {
    see_communicator(index, hash_bytes(call.communicator, process_hash));
  }
  return index;
}

// kNcclUsesMax where there is no room for it.
std::size_t NcclTraceReader::find_or_insert(const NcclCall& call) {
  const std::uint64_t hash =
      hash_of(call.operation, call.datatype, call.element_count, call.rank_count);
  std::size_t slot = hash % slots_.size();
  for (; slots_[slot] != 0; slot = (slot + 1) % slots_.size()) {
    const std::size_t index = slots_[slot] - std::size_t{1};
    const NcclUse& use = trace_.uses[index];
    if (use.element_count == call.element_count && use.datatype == call.datatype &&
        use.rank_count == call.rank_count && use.operation == call.operation) {
      return index;
    }
  }
  if (trace_.uses.size() == kNcclUsesMax) return kNcclUsesMax;
  NcclUse use;
  use.operation = call.operation;
  use.datatype = call.datatype;
  use.element_count = call.element_count;
  use.rank_count = call.rank_count;
  trace_.uses.push_back(std::move(use));
  communicators_.emplace_back();
  slots_[slot] = static_cast<std::uint16_t>(trace_.uses.size());
  return trace_.uses.size() - 1;
}

void NcclTraceReader::see_communicator(std::size_t index, std::uint64_t hash) {
  Communicators& known = communicators_[index];
  std::vector<std::uint32_t>& hashes = known.hashes;
  const auto wanted = static_cast<std::uint32_t>(hash);
  // The ranks of a log take turns, mostly the same ones.
  if (!hashes.empty()) {
    if (hashes[known.newest] == wanted) return;
    known.newest = known.newest + 1 < hashes.size() ? known.newest + 1 : 0;
    if (hashes[known.newest] == wanted) return;
  }
  const auto found = std::find(hashes.begin(), hashes.end(), wanted);
  known.newest = static_cast<std::size_t>(found - hashes.begin());
  if (found != hashes.end()) return;
  if (hashes.size() == kCommunicatorsMax || communicators_kept_ == kAllCommunicatorsMax) {
    known.newest = 0;
    trace_.uses[index].communicators_are_complete = false;
    return;
  }
  hashes.push_back(wanted);
  ++communicators_kept_;
  ++trace_.uses[index].communicator_count;
}

NcclTrace NcclTraceReader::take_snapshot() {
  has_changed_ = false;
  NcclTrace sorted = trace_;
  std::sort(sorted.uses.begin(), sorted.uses.end(), [](const NcclUse& a, const NcclUse& b) {
    return std::tie(a.operation, a.datatype, a.element_count, a.rank_count) <
           std::tie(b.operation, b.datatype, b.element_count, b.rank_count);
  });
  return sorted;
}

void NcclTraceReader::save(StateWriter& state) const {
  state.integer(trace_.torn_lines);
  state.integer(trace_.other_calls);
  state.integer(trace_.other_bytes);
  state.unsigned_integer(trace_.uses.size());
  for (std::size_t i = 0; i < trace_.uses.size(); ++i) {
    const NcclUse& use = trace_.uses[i];
    state.text(use.operation);
    state.integer(use.datatype);
    state.integer(use.element_count);
    state.integer(use.rank_count);
    state.integer(use.calls);
    state.boolean(use.communicators_are_complete);
    state.unsigned_integer(communicators_[i].hashes.size());
    for (const std::uint32_t hash : communicators_[i].hashes) state.unsigned_integer(hash);
  }
}

void NcclTraceReader::restore(StateReader& state) {
  *this = NcclTraceReader();
  trace_.torn_lines = state.integer();
  trace_.other_calls = state.integer();
  trace_.other_bytes = state.integer();
  const std::size_t count = state.count(kNcclUsesMax);
  for (std::size_t i = 0; i < count && !state.failed(); ++i) {
    const std::string operation = state.text();
    NcclCall call;
    call.operation = operation;
    call.datatype = state.integer();
    call.element_count = state.integer();
    call.rank_count = state.integer();
    if (operation.empty() || find_or_insert(call) != i) return state.fail();
    NcclUse& use = trace_.uses[i];
    use.calls = state.integer();
    use.communicators_are_complete = state.boolean();
    std::vector<std::uint32_t>& hashes = communicators_[i].hashes;
    hashes.resize(state.count(kCommunicatorsMax));
    for (std::uint32_t& hash : hashes) {
      hash = static_cast<std::uint32_t>(state.unsigned_integer());
    }
    use.communicator_count = static_cast<std::int64_t>(hashes.size());
    communicators_kept_ += hashes.size();
  }
  has_changed_ = true;
}

}  // namespace llmb::parser
