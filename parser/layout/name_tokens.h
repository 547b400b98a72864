// The pieces that experiment names, log names and result folders are made of, joined by '_'.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::parser {

bool is_digits(std::string_view text);

// bf16, fp8, nvfp4 …: the coarse dtype, without a variant (_cs, _mx, _ds …).
bool is_dtype(std::string_view token);
bool is_dtype_variant(std::string_view token);

// 314b, 8b, 1.5b, 340m
bool is_model_size(std::string_view token);

// 24.11, 25.05.01: a release of the recipes.
bool is_release(std::string_view text);

// pretrain, sft, lora, finetune; the older pretraining counts as pretrain. Empty for others.
std::string_view workload_type(std::string_view token);

// A nemo-run timestamp: seconds (10 digits) or, since 2026, nanoseconds (19 digits).
bool is_timestamp(std::string_view text);

// Those from `first` to the one before `last`, with '_' between them.
std::string join_tokens(const std::vector<std::string_view>& tokens, std::size_t first,
                        std::size_t last);

}  // namespace llmb::parser
