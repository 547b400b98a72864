// Result<T>: what a function returns when its caller is expected to have an answer for failure.
// What breaks an operation throws instead (see STYLE.md).
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace llmb::parser {

// Says what was tried, on what, what came back, and what the user can do.
struct Error {
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string message) {
  return tl::unexpected<Error>(Error{std::move(message)});
}

}  // namespace llmb::parser
