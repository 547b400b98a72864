#include "parser/lines/log_content.h"

#include <algorithm>
#include <array>

namespace llmb::parser {
namespace {

using namespace std::string_view_literals;

// What gzip's, zstd's, xz's, lz4's and zip's files begin with.
constexpr std::array kCompressed = {"\x1f\x8b\x08"sv, "\x28\xb5\x2f\xfd"sv,
                                    "\xfd\x37\x7a\x58\x5a"sv, "\x04\x22\x4d\x18"sv, "PK\x03\x04"sv};

bool is_bzip2(std::string_view bytes) {
  return bytes.size() >= 10 && bytes.starts_with("BZh") && bytes.substr(4, 6) == "1AY&SY";
}

// ASCII that a line may begin with.
bool is_printable(char c) {
  return (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r' || c == '\x1b';
}

// A byte order mark, or ASCII in every other byte and NUL between.
bool is_utf_16(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe"sv) || bytes.starts_with("\xfe\xff"sv)) return true;
  if (bytes.size() < LogContentProbe::kUtf16Bytes) return false;
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
    bool is_pair = true;
    for (std::size_t i = 0; i < LogContentProbe::kUtf16Bytes; ++i) {
      is_pair = is_pair && (i % 2 == first ? is_printable(bytes[i]) : bytes[i] == '\0');
    }
    if (is_pair) return true;
  }
  return false;
}

// What neither a terminal nor a text in any encoding needs. Of random bytes it is a tenth.
bool is_control(char c) {
  return (c >= '\x01' && c <= '\x06') || (c >= '\x0e' && c <= '\x1a') ||
         (c >= '\x1c' && c <= '\x1f') || c == '\x7f';
}

bool is_binary(std::string_view bytes) {
  constexpr std::ptrdiff_t kBytesMin = 32;
  constexpr std::ptrdiff_t kTextForEachControl = 20;
  const auto nuls = std::count(bytes.begin(), bytes.end(), '\0');
  const std::ptrdiff_t others = static_cast<std::ptrdiff_t>(bytes.size()) - nuls;
  const auto controls = std::count_if(bytes.begin(), bytes.end(), is_control);
  return others >= kBytesMin && controls * kTextForEachControl > others;
}

LogContent content_of(std::string_view bytes) {
  if (is_utf_16(bytes)) return LogContent::utf_16;
  const bool is_compressed = is_bzip2(bytes) || std::any_of(kCompressed.begin(), kCompressed.end(),
                                                            [&](std::string_view magic) {
                                                              return bytes.starts_with(magic);
                                                            });
  if (is_compressed) return LogContent::compressed;
  return is_binary(bytes) ? LogContent::binary : LogContent::text;
}

}  // namespace

void LogContentProbe::feed(std::string_view bytes) {
  if (is_over_ || bytes.empty()) return;
  bytes_ += bytes.substr(0, kBytesMax - bytes_.size());
  content_ = content_of(bytes_);
  is_over_ = bytes_.size() == kBytesMax;
}

std::size_t LogContentProbe::bytes_to_utf_16() const {
  return is_over_ ? 0 : kUtf16Bytes - std::min(kUtf16Bytes, bytes_.size());
}

}  // namespace llmb::parser
