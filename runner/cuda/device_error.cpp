#include "runner/cuda/device_error.h"

#include <fmt/format.h>

namespace llmb::runner::cuda {
namespace {

std::string message(const std::string& tried, const std::string& code, const std::string& words,
                    const std::string& advice) {
  std::string text = fmt::format("Could not {}: {}", tried, code);
  if (!words.empty()) text += ", " + words;
  text += ".";
  if (!advice.empty()) text += " " + advice;
  return text;
}

}  // namespace

DeviceError::DeviceError(const std::string& tried, const std::string& code,
                         const std::string& words, const std::string& advice)
    : std::runtime_error(message(tried, code, words, advice)), code_(code) {}

}  // namespace llmb::runner::cuda
