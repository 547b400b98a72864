#include "parser/dialects/nccl_call.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

// Larger counts are damage: 2^40 elements.
constexpr std::int64_t kElementsMax = std::int64_t{1} << 40;
constexpr std::int64_t kRanksMax = 10'000'000;

constexpr std::uint8_t kNoHex = 0xff;
constexpr std::array<std::uint8_t, 256> kHexValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoHex);
  for (std::size_t i = 0; i < 10; ++i) values['0' + i] = static_cast<std::uint8_t>(i);
  for (std::size_t i = 0; i < 6; ++i) values['a' + i] = static_cast<std::uint8_t>(10 + i);
  return values;
}();

std::uint8_t hex_digit_value(char c) {
  return kHexValues[static_cast<unsigned char>(c)];
}
bool is_hex(char c) {
  return hex_digit_value(c) != kNoHex;
}

// Eight hexadecimal digits from `at` on. Adding 0x80 - c to a byte sets its highest bit exactly
// when the byte is at least c, as long as it is below 0x80.
bool are_eight_hex(const char* at) {
  constexpr std::uint64_t kEach = 0x0101010101010101ULL;
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  if ((word & (0x80 * kEach)) != 0) return false;
  const auto at_least = [word](std::uint64_t c) { return word + (0x80 - c) * kEach; };
  const std::uint64_t digits = at_least('0') & ~at_least('9' + 1);
  const std::uint64_t letters = at_least('a') & ~at_least('f' + 1);
  return ((digits | letters) & (0x80 * kEach)) == 0x80 * kEach;
}

// Reads a text from left to right. After the first thing that is not as expected, it has failed.
class Fields {
 public:
  explicit Fields(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  // Of a length that the compiler knows, so that comparing is a load or two.
  template <std::size_t kSize>
  bool take(const char (&text)[kSize]) {
    constexpr std::size_t kLength = kSize - 1;
    if (left() < kLength || std::memcmp(at_, text, kLength) != 0) return false;
    at_ += kLength;
    return true;
  }

  template <std::size_t kSize>
  void literal(const char (&text)[kSize]) {
    if (!take(text)) fail();
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
    const char* const begin = at_;
    const char* const limit = left() < 16 ? end_ : at_ + 16;
    std::uint64_t value = 0;
    for (; at_ != limit; ++at_) {
      const std::uint8_t digit = hex_digit_value(*at_);
      if (digit == kNoHex) break;
      value = value * 16 + digit;
    }
    if (at_ == begin) fail();
    return value;
  }

  // "0x7f50", "(nil)", and what some C libraries print for %p: "7f50".
  std::string_view pointer() {
    const char* begin = at_;
    if (!is_usual_pointer()) return unusual_pointer();
    at_ += kUsualPointer;
    return {begin, kUsualPointer};
  }

  bool failed() const { return failed_; }
  std::string_view rest() const { return {at_, left()}; }

 private:
  // "0x" and twelve digits, which most are: looked at eight bytes at a time.
  static constexpr std::size_t kUsualPointer = 14;
  bool is_usual_pointer() const {
    return left() > kUsualPointer && at_[0] == '0' && at_[1] == 'x' && are_eight_hex(at_ + 2) &&
           are_eight_hex(at_ + 6) && !is_hex(at_[kUsualPointer]);
  }

  [[gnu::noinline]] std::string_view unusual_pointer() {
    const char* begin = at_;
    if (take("(nil)")) return {begin, 5};
    take("0x");
    const char* digits = at_;
    while (at_ != end_ && is_hex(*at_)) ++at_;
    if (at_ == digits || at_ - digits > 16) fail();
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

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
  const bool is_named = begin < end && end - begin <= kNcclOperationBytesMax &&
                        begin >= kNcclInfo.size() &&
                        line.substr(begin - kNcclInfo.size(), kNcclInfo.size()) == kNcclInfo;
  return is_named ? line.substr(begin, end - begin) : std::string_view();
}

}  // namespace

std::size_t nccl_operation_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_letter(text[length])) ++length;
  return length;
}

bool read_nccl_buffers(std::string_view text, NcclCall& call) {
  Fields fields(text);
  fields.literal(": opCount ");
  call.op_count = fields.hexadecimal();
  fields.literal(" sendbuff ");
  fields.pointer();
  fields.literal(" recvbuff ");
  fields.pointer();
  if (fields.take(" acc ")) fields.pointer();  // RCCL
  call.rest = fields.rest();
  return !fields.failed();
}

bool read_nccl_meaning(std::string_view text, NcclCall& call) {
  Fields fields(text);
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
  call.rank_count = 0;
  if (fields.take(" [nranks=")) {
    call.rank_count = fields.decimal(kRanksMax);
    fields.literal("]");
  }
  call.rest = fields.rest();
  return !fields.failed();
}

bool read_nccl_stream(std::string_view text, NcclCall& call) {
  Fields fields(text);
  fields.literal(" stream ");
  fields.pointer();
  if (fields.take(" task ")) {  // RCCL
    fields.decimal(kElementsMax);
    fields.literal(" globalrank ");
    fields.decimal(kElementsMax);
  }
  call.rest = fields.rest();
  return !fields.failed();
}

std::optional<NcclCall> read_nccl_call(std::string_view line) {
  const std::size_t at = line.find(kNcclOpCount);
  if (at == std::string_view::npos) return std::nullopt;
  NcclCall call;
  call.operation = operation_before(line, at);
  if (call.operation.empty()) return std::nullopt;
  call.process = line.substr(0, at - call.operation.size() - kNcclInfo.size());
  const bool is_read = read_nccl_buffers(line.substr(at), call) &&
                       read_nccl_meaning(call.rest, call) && read_nccl_stream(call.rest, call);
  return is_read ? std::optional(call) : std::nullopt;
}

}  // namespace llmb::parser
