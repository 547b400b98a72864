// The size of a proxy, as it is published: "405b-proxy".
#pragma once

#include <string_view>

namespace llmb::parser {

inline constexpr std::string_view kProxyEnding = "-proxy";

constexpr bool is_proxy_size(std::string_view model_size) {
  return model_size.ends_with(kProxyEnding);
}

// Of the model whose proxy it is; another size is its own model's.
constexpr std::string_view size_without_proxy(std::string_view model_size) {
  if (is_proxy_size(model_size)) model_size.remove_suffix(kProxyEnding.size());
  return model_size;
}

}  // namespace llmb::parser
