#include "parser/layout/name_tokens.h"

#include <algorithm>
#include <array>

#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view token) {
  return std::find(words.begin(), words.end(), token) != words.end();
}

constexpr std::array<std::string_view, 10> kDtypes = {"bf16",  "fp16",  "fp32",  "fp8",  "fp4",
                                                      "nvfp4", "mxfp4", "mxfp8", "int8", "tf32"};
constexpr std::array<std::string_view, 4> kWorkloadTypes = {"pretrain", "sft", "lora", "finetune"};

}  // namespace

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_dtype(std::string_view token) {
  return is_one_of(kDtypes, token);
}

bool is_dtype_variant(std::string_view token) {
  return token.size() == 2 &&
         std::all_of(token.begin(), token.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_model_size(std::string_view token) {
  if (token.size() < 2 || token.size() > 12) return false;
  const char unit = token.back();
  if (unit != 'b' && unit != 'B' && unit != 'm' && unit != 'M') return false;
  token.remove_suffix(1);
  const std::size_t point = token.find('.');
  if (point == std::string_view::npos) return is_digits(token);
  return is_digits(token.substr(0, point)) && is_digits(token.substr(point + 1));
}

bool is_release(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() < 2 || parts.size() > 3 || !std::all_of(parts.begin(), parts.end(), is_digits)) {
    return false;
  }
  return parts[0].size() == 2 && parts[1].size() == 2 && parts.back().size() <= 2;
}

std::string_view workload_type(std::string_view token) {
  if (token == "pretraining") return "pretrain";
  return is_one_of(kWorkloadTypes, token) ? token : std::string_view{};
}

bool is_timestamp(std::string_view text) {
  return is_digits(text) && (text.size() == 10 || text.size() == 19) && text.front() != '0';
}

std::string join_tokens(const std::vector<std::string_view>& tokens, std::size_t first,
                        std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) {
    if (i > first) text += '_';
    text += tokens[i];
  }
  return text;
}

}  // namespace llmb::parser
