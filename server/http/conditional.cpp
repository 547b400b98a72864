#include "server/http/conditional.h"

namespace llmb::http {

std::optional<std::string> matching_etag(std::string_view if_none_match, std::string_view etag) {
  std::string_view rest = if_none_match;
  for (;;) {
    const std::size_t begin = rest.find_first_not_of(" \t,");
    if (begin == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(begin);
    if (rest.front() == '*') return '"' + std::string(etag) + '"';
    if (rest.starts_with("W/")) rest.remove_prefix(2);
    if (rest.empty() || rest.front() != '"') return std::nullopt;
    const std::size_t end = rest.find('"', 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view tag = rest.substr(1, end - 1);
    std::string_view plain = tag;
    if (plain.ends_with("-gzip") || plain.ends_with("-zstd")) plain.remove_suffix(5);
    if (tag == etag || plain == etag) return '"' + std::string(tag) + '"';
    rest.remove_prefix(end + 1);
  }
}

}  // namespace llmb::http
