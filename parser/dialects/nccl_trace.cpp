#include "parser/dialects/nccl_trace.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace llmb::parser {
namespace {

constexpr std::string_view kInfo = "NCCL INFO ";
constexpr std::size_t kOperationBytesMax = 40;
// Of one use, and of all: beyond, counts are lower bounds, and say so.
constexpr std::size_t kCommunicatorsMax = 64;
constexpr std::size_t kAllCommunicatorsMax = 2048;
// Larger counts are damage: 2^40 elements.
constexpr std::int64_t kElementsMax = std::int64_t{1} << 40;
constexpr std::int64_t kRanksMax = 10'000'000;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Reads a line from left to right. After the first thing that is not as expected, it has failed.
class Fields {
 public:
  explicit Fields(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  void literal(std::string_view text) {
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (left < text.size() || std::string_view(at_, text.size()) != text) return fail();
    at_ += text.size();
  }

  bool take(std::string_view text) {
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (left < text.size() || std::string_view(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }

  std::int64_t decimal(std::int64_t max) {
    const char* begin = at_;
    std::int64_t value = 0;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9' && at_ - begin < 18) {
      value = value * 10 + (*at_++ - '0');
    }
    if (at_ == begin || value > max) fail();
    return value;
  }

  std::uint64_t hexadecimal() {
    const char* begin = at_;
    std::uint64_t value = 0;
    while (at_ != end_ && is_hex(*at_) && at_ - begin < 16) {
      value = value * 16 + static_cast<std::uint64_t>(*at_ <= '9' ? *at_ - '0' : *at_ - 'a' + 10);
      ++at_;
    }
    if (at_ == begin) fail();
    return value;
  }

  // "0x7f50", "(nil)", and what some C libraries print for %p: "7f50".
  std::string_view pointer() {
    const char* begin = at_;
    if (take("(nil)")) return {begin, 5};
    take("0x");
    const char* digits = at_;
    while (at_ != end_ && is_hex(*at_)) ++at_;
    if (at_ == digits || at_ - digits > 16) fail();
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  bool failed() const { return failed_; }
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

 private:
  void fail() {
    failed_ = true;
    at_ = end_;
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

// The letters before `end`, after "NCCL INFO ".
std::string_view operation_before(std::string_view line, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_letter(line[begin - 1])) --begin;
  const bool is_named = begin < end && end - begin <= kOperationBytesMax && begin >= kInfo.size() &&
                        line.substr(begin - kInfo.size(), kInfo.size()) == kInfo;
  return is_named ? line.substr(begin, end - begin) : std::string_view();
}

std::uint64_t hash_bytes(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = seed ^ 0x9e3779b97f4a7c15ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash ^ (hash >> 29U);
}

std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 33U;
  value *= 0xff51afd7ed558ccdULL;
  return value ^ (value >> 33U);
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

// "host:pid" of "host:pid:tid [0] ": the threads of a process share its communicators.
std::string_view process_of(std::string_view prefix) {
  const std::size_t bracket = prefix.rfind(" [");
  if (bracket == std::string_view::npos) return prefix;
  const std::string_view name = prefix.substr(0, bracket);
  const std::size_t thread = name.rfind(':');
  return thread == std::string_view::npos ? name : name.substr(0, thread);
}

}  // namespace

std::optional<NcclCall> read_nccl_call(std::string_view line) {
  const std::size_t at = line.find(NcclTraceReader::kLiteral);
  if (at == std::string_view::npos) return std::nullopt;
  NcclCall call;
  call.operation = operation_before(line, at);
  if (call.operation.empty()) return std::nullopt;
  call.process = line.substr(0, at - call.operation.size() - kInfo.size());
  Fields fields(line.substr(at + NcclTraceReader::kLiteral.size()));
  call.op_count = fields.hexadecimal();
  fields.literal(" sendbuff ");
  fields.pointer();
  fields.literal(" recvbuff ");
  fields.pointer();
  if (fields.take(" acc ")) fields.pointer();  // RCCL
  fields.literal(" count ");
  call.element_count = fields.decimal(kElementsMax);
  fields.literal(" datatype ");
  call.datatype = fields.decimal(1'000);
  fields.literal(" op ");
  fields.decimal(kElementsMax);
  fields.literal(" root ");
  fields.decimal(kElementsMax);
  fields.literal(" comm ");
  call.communicator = fields.pointer();
  if (fields.take(" [nranks=")) {
    call.rank_count = fields.decimal(kRanksMax);
    fields.literal("]");
  }
  fields.literal(" stream ");
  fields.pointer();
  if (fields.take(" task ")) {  // RCCL
    fields.decimal(kElementsMax);
    fields.literal(" globalrank ");
    fields.decimal(kElementsMax);
  }
  if (fields.failed()) return std::nullopt;
  call.rest = fields.rest();
  return call;
}

bool NcclTraceReader::read(std::string_view line) {
  bool is_whole = true;
  bool is_trace = false;
  for (std::string_view rest = line; !rest.empty();) {
    const std::size_t at = rest.find(kLiteral);
    if (at == std::string_view::npos) break;
    if (const auto call = read_nccl_call(rest)) {
      add(*call);
      is_trace = true;
      rest = call->rest;
      is_whole = is_whole && (rest.empty() || rest == "\r" || rest == "\x1b[0m");
    } else {
      is_trace = is_trace || rest.find(kInfo) < at;
      is_whole = false;
      rest.remove_prefix(at + kLiteral.size());
    }
  }
  if (is_trace && !is_whole) {
    ++trace_.torn_lines;
    has_changed_ = true;
  }
  return is_trace && is_whole;
}

void NcclTraceReader::add(const NcclCall& call) {
  has_changed_ = true;
  const std::size_t index = find_or_insert(call);
  if (index == kNcclUsesMax) {
    ++trace_.other_calls;
    trace_.other_bytes += call.element_count * nccl_datatype_bytes(call.datatype);
    return;
  }
  ++trace_.uses[index].calls;
  see_communicator(index, call);
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

void NcclTraceReader::see_communicator(std::size_t index, const NcclCall& call) {
  NcclUse& use = trace_.uses[index];
  if (!use.communicators_are_complete) return;
  const std::uint64_t process = hash_bytes(process_of(call.process), 1);
  const auto hash = static_cast<std::uint32_t>(mix(hash_bytes(call.communicator, process)));
  Communicators& known = communicators_[index];
  // The ranks of a log take turns: the newest is often the one.
  if (std::find(known.rbegin(), known.rend(), hash) != known.rend()) return;
  if (known.size() == kCommunicatorsMax || communicators_kept_ == kAllCommunicatorsMax) {
    use.communicators_are_complete = false;
    return;
  }
  known.push_back(hash);
  ++communicators_kept_;
  ++use.communicator_count;
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
    state.unsigned_integer(communicators_[i].size());
    for (const std::uint32_t hash : communicators_[i]) state.unsigned_integer(hash);
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
    communicators_[i].resize(state.count(kCommunicatorsMax));
    for (std::uint32_t& hash : communicators_[i]) {
      hash = static_cast<std::uint32_t>(state.unsigned_integer());
    }
    use.communicator_count = static_cast<std::int64_t>(communicators_[i].size());
    communicators_kept_ += communicators_[i].size();
  }
  has_changed_ = true;
}

}  // namespace llmb::parser
