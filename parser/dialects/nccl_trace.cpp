#include "parser/dialects/nccl_trace.h"

#include <algorithm>
#include <tuple>

#include "parser/dialects/nccl_line.h"
#include "parser/foundation/bounded_numbers.h"
#include "parser/foundation/text_hash.h"
#include "parser/lines/delimiters.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

// Of one use, and of all: beyond, counts are lower bounds, and say so.
constexpr std::size_t kCommunicatorsMax = 64;
constexpr std::size_t kAllCommunicatorsMax = 2048;

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
  return mix_hash(number ^ (letters << 40U));
}

std::int64_t bytes_of(const NcclCall& call) {
  return call.element_count * nccl_datatype_bytes(call.datatype);
}

bool is_line_end(std::string_view text) {
  return text.starts_with('\n') || text.starts_with('\r');
}

std::uint64_t process_hash_of(std::string_view prefix) {
  return hash_text(nccl_process(prefix), 1);
}

}  // namespace

NcclTraceReader::Outcome NcclTraceReader::read(std::string_view line) {
  bool is_whole = true;
  bool is_trace = false;
  for (std::string_view rest = line; !rest.empty();) {
    const std::size_t at = rest.find(kLiteral);
    if (at == std::string_view::npos) break;
    if (const auto call = read_nccl_call(rest)) {
      const bool is_labelled = is_nccl_label(call->process);
      add(*call, is_labelled ? std::optional(process_hash_of(call->process)) : std::nullopt);
      is_trace = true;
      rest = call->rest;
      is_whole = is_whole && is_labelled && (rest.empty() || rest == "\x1b[0m");
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
  for (;;) {
    const std::size_t known = known_.add_up(lines.substr(done), prefix_, counts_);
    has_changed_ = has_changed_ || known != 0;
    done += known;
    const std::size_t length = read_first_of_run(lines.substr(done));
    if (length == 0) return done;
    done += length;
  }
}

// How long the first line is with its end; 0 where it is not read.
std::size_t NcclTraceReader::read_first_of_run(std::string_view lines) {
  if (is_line_end(lines)) return 1;  // an empty line
  // The ranks of a log print prefixes of mostly the same length: "[7] ", "node-3:4711:4712 [7] ".
  const StampShape stamp(lines.substr(0, stamp_length(lines)));
  if (lines.size() < prefix_.length() || stamp != prefix_.stamp ||
      !begins_with_nccl_info(lines.substr(prefix_.length()))) {
    const std::string_view begin = lines.substr(0, kNcclPrefixBytesMax + kNcclInfo.size());
    const std::size_t prefix_length = begin.find(kNcclInfo);
    if (prefix_length == std::string_view::npos || prefix_length < stamp.size()) return 0;
    prefix_ = {stamp, prefix_length - stamp.size()};
    if (const auto known = known_.add_up(lines, prefix_, counts_)) {
      has_changed_ = true;
      return known;
    }
  }
  return read_and_learn(lines);
}

std::size_t NcclTraceReader::read_and_learn(std::string_view lines) {
  const std::string_view prefix = lines.substr(0, prefix_.length());
  // What read() would take for another line, another call, or one that follows other words.
  if (first_delimiter(prefix, 0, prefix.size()) != kNoDelimiter ||
      prefix.find(kLiteral) != std::string_view::npos || !is_nccl_label(prefix)) {
    return 0;
  }
  const std::string_view text = lines.substr(prefix.size() + kNcclInfo.size());
  const std::size_t name_length = nccl_operation_length(text);
  if (name_length == 0 || name_length > kNcclOperationBytesMax) return 0;
  NcclCall call;
  call.operation = text.substr(0, name_length);
  if (!read_nccl_buffers(text.substr(name_length), call) || !read_nccl_meaning(call.rest, call) ||
      !read_nccl_stream(call.rest, call) || !is_line_end(call.rest)) {
    return 0;
  }
  const std::size_t length = lines.size() - call.rest.size() + 1;
  const std::size_t use = add(call, process_hash_of(prefix));
  known_.learn(lines.substr(0, length), prefix_, {use, use == kNcclUsesMax ? bytes_of(call) : 0});
  return length;
}

std::size_t NcclTraceReader::add(const NcclCall& call, std::optional<std::uint64_t> process_hash) {
  const std::size_t index = find_or_insert(call);
  ++counts_.calls[index];
  if (index == kNcclUsesMax) {
    counts_.other_bytes = bounded_sum(counts_.other_bytes, bytes_of(call));
  }
  has_changed_ = true;
  if (index == kNcclUsesMax) return index;
  NcclUse& use = trace_.uses[index];
  if (!process_hash) {
    use.communicators_are_complete = false;
  } else if (use.communicators_are_complete || has_room_for_communicators(index)) {
    see_communicator(index, hash_text(call.communicator, *process_hash));
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

bool NcclTraceReader::has_room_for_communicators(std::size_t index) const {
  return communicators_[index].hashes.size() < kCommunicatorsMax &&
         communicators_kept_ < kAllCommunicatorsMax;
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
  if (!has_room_for_communicators(index)) {
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
  for (std::size_t i = 0; i < sorted.uses.size(); ++i) sorted.uses[i].calls = counts_.calls[i];
  sorted.other_calls = counts_.calls[kNcclUsesMax];
  sorted.other_bytes = counts_.other_bytes;
  std::sort(sorted.uses.begin(), sorted.uses.end(), [](const NcclUse& a, const NcclUse& b) {
    return std::tie(a.operation, a.datatype, a.element_count, a.rank_count) <
           std::tie(b.operation, b.datatype, b.element_count, b.rank_count);
  });
  return sorted;
}

void NcclTraceReader::save(StateWriter& state) const {
  state.integer(trace_.torn_lines);
  state.integer(counts_.calls[kNcclUsesMax]);
  state.integer(counts_.other_bytes);
  state.unsigned_integer(trace_.uses.size());
  for (std::size_t i = 0; i < trace_.uses.size(); ++i) {
    const NcclUse& use = trace_.uses[i];
    state.text(use.operation);
    state.integer(use.datatype);
    state.integer(use.element_count);
    state.integer(use.rank_count);
    state.integer(counts_.calls[i]);
    state.boolean(use.communicators_are_complete);
    state.unsigned_integer(communicators_[i].hashes.size());
    for (const std::uint32_t hash : communicators_[i].hashes) state.unsigned_integer(hash);
  }
}

void NcclTraceReader::restore(StateReader& state) {
  *this = NcclTraceReader();
  trace_.torn_lines = state.integer();
  counts_.calls[kNcclUsesMax] = state.integer();
  counts_.other_bytes = state.integer();
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
    counts_.calls[i] = state.integer();
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
