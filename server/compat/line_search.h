// Lines as awk and grep see them: ended by '\n' alone, found by a literal without splitting the
// whole text.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

namespace llmb::compat {

inline bool contains(std::string_view text, std::string_view literal) {
  // An empty file is mapped nowhere, and memmem takes no null pointer.
  return !text.empty() &&
         memmem(text.data(), text.size(), literal.data(), literal.size()) != nullptr;
}

// Calls on_line for every line that holds `literal`, in order.
template <typename OnLine>
void for_each_line_with(std::string_view text, std::string_view literal, OnLine&& on_line) {
  while (!text.empty()) {
    const void* hit = memmem(text.data(), text.size(), literal.data(), literal.size());
    if (hit == nullptr) return;
    const auto at = static_cast<std::size_t>(static_cast<const char*>(hit) - text.data());
    const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    on_line(text.substr(begin, end - begin));
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace llmb::compat
