// Which names of a configuration stand for secrets, and texts without those: environment overrides
// may carry credentials, which are nobody's configuration to read.
#pragma once

#include <string>
#include <string_view>

namespace llmb::parser {

inline constexpr std::string_view kHidden = "(hidden)";

enum class Secrecy {
  none,
  // Of tokens: numbers count them ("max_tokens"), all else are secrets.
  unless_number,
  full,
};

// HF_TOKEN, wandb-api-key, a name in a file or of an environment's variable. What makes text of
// tokens ("TOKENIZERS_PARALLELISM") is no secret.
Secrecy secrecy_of(std::string_view name);

// `value` as it may be shown where its name, or one above it, is as secret as that: kHidden, or the
// text with what stands behind each secret "NAME=" in it hidden.
std::string without_secrets(std::string_view value, Secrecy secrecy);

}  // namespace llmb::parser
