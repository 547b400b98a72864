// LogContent: what a log is where it is no text that can be read, told from its first bytes:
// UTF-16, compressed, or anything else that no program prints. NULs tell nothing, for file systems
// leave holes of them in logs.
//
// Not thread-safe. What it says of the bytes that came depends on the bytes, never on how they were
// cut.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace llmb::parser {

enum class LogContent { text, utf_16, compressed, binary };

class LogContentProbe {
 public:
  // Whether a log is UTF-16 is known after so many bytes, what else it is after all of them.
  static constexpr std::size_t kUtf16Bytes = 16;
  static constexpr std::size_t kBytesMax = 512;

  LogContentProbe() = default;
  // Of a log whose first kBytesMax bytes have told it.
  explicit LogContentProbe(LogContent told) : content_(told), is_over_(true) {}

  // Goes on with the log's first bytes; those beyond kBytesMax are left out.
  void feed(std::string_view bytes);

  // How many are missing until it is known whether the log is UTF-16.
  std::size_t bytes_to_utf_16() const;
  // Those that came, up to kBytesMax.
  std::string_view bytes() const { return bytes_; }
  // By those that came.
  LogContent content() const { return content_; }

 private:
  std::string bytes_;
  LogContent content_ = LogContent::text;
  bool is_over_ = false;
};

}  // namespace llmb::parser
