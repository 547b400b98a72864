// libFuzzer target: what a connection sends, in any two pieces. Neither may crash the parser, where
// the bytes are cut must not change what is read, and what is let through is well-formed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/http/message_parser.h"
#include "server/http/target.h"

namespace {

using llmb::http::MessageParser;
using llmb::http::Request;

constexpr std::size_t kHeaderBytesMax = std::size_t{64} * 1024;  // above all that libFuzzer makes
constexpr std::size_t kBodyBytesMax = 512;
// Beast reads what came first at once, and what follows only when the head is whole: so the head
// gets an end, or the same fault would be seen in one of two connections only.
constexpr std::string_view kEndOfHead = "\r\n\r\n";

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Request& request) {
  require(request.path.starts_with('/'));
  require(llmb::http::is_valid_utf8(request.path));
  require((request.path + '/').find("/../") == std::string::npos);
  for (const char c : request.path) require(static_cast<unsigned char>(c) >= 0x20);
  require(request.body.size() <= kBodyBytesMax);
}

std::string text_of(const Request& request) {
  std::string text =
      request.method + '\n' + request.target + '\n' + request.path + '\n' + request.host + '\n';
  for (const auto& [name, value] : request.query) text += name + '=' + value + '\n';
  for (const auto& [name, value] : request.headers) text += name + ": " + value + '\n';
  return text + '\n' + request.body;
}

// All messages of a connection, as text, up to what is refused or incomplete.
class Connection {
 public:
  void receive(std::string_view bytes) {
    pending_ += bytes;
    while (!is_refused_ && !pending_.empty()) {
      std::size_t consumed = 0;
      MessageParser::Status status = parser_.feed(pending_, consumed);
      require(consumed <= pending_.size());
      pending_.erase(0, consumed);
      if (status == MessageParser::Status::header) {
        status = parser_.set_body_bytes_max(kBodyBytesMax);
        if (status == MessageParser::Status::need_more && !pending_.empty()) continue;
      }
      if (status == MessageParser::Status::need_more) return;
      if (status == MessageParser::Status::refused) {
        is_refused_ = true;
        seen_ += "refused " + std::to_string(parser_.problem().status);
        return;
      }
      if (status != MessageParser::Status::complete) continue;
      check(parser_.request());
      seen_ += text_of(parser_.request()) + (parser_.keep_alive() ? "\nkeep\n" : "\nclose\n");
      parser_.reset();
    }
  }
  const std::string& seen() const { return seen_; }

 private:
  MessageParser parser_{kHeaderBytesMax};
  std::string pending_;
  std::string seen_;
  bool is_refused_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t wanted = static_cast<std::size_t>(data[0]) * 256 + data[1];
  const std::size_t cut = bytes.empty() ? 0 : wanted % bytes.size();
  Connection whole;
  whole.receive(bytes);
  whole.receive(kEndOfHead);
  Connection pieces;
  pieces.receive(bytes.substr(0, cut));
  pieces.receive(bytes.substr(cut));
  pieces.receive(kEndOfHead);
  require(whole.seen() == pieces.seen());
  return 0;
}
