// UnpackingMethod: one kind of compression as its library undoes it, a call at a time. Knows
// neither files nor what follows a compressed one.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "server/unpacking/packing.h"

namespace llmb::unpacking {

// What one call of a library did.
struct Progress {
  std::size_t taken = 0;          // of the packed bytes
  std::size_t made = 0;           // bytes of text
  bool is_at_end = false;         // of one compressed file; another may follow
  const char* damage = nullptr;   // in the library's words; none: there is none
  const char* refusal = nullptr;  // why a file that may be whole is not unpacked, and what to do
};

class UnpackingMethod {
 public:
  virtual ~UnpackingMethod() = default;
  // Takes what it can of `packed`, and makes what fits into `text`, which keeps its size. After the
  // end of a compressed file the next call begins another. Throws std::bad_alloc.
  virtual Progress unpack(std::string_view packed, std::vector<char>& text) = 0;
  // Zeros behind a compressed file fill its last block, as tapes and dd leave them, where there are
  // a multiple of so many; 0: no zeros may stand there.
  virtual std::size_t padding_unit() const = 0;
};

// `packing` is not `none`. Throws std::bad_alloc.
std::unique_ptr<UnpackingMethod> unpacking_method_of(Packing packing);

}  // namespace llmb::unpacking
