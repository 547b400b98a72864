#include "parser/lines/stamp_shape.h"

#include <algorithm>

#include "parser/foundation/text.h"

namespace llmb::parser {

StampShape::StampShape(std::string_view stamp) {
  if (stamp.size() > kBytesMax) return;
  std::transform(stamp.begin(), stamp.end(), text_.begin(),
                 [](char c) { return is_digit(c) ? kDigit : c; });
  size_ = stamp.size();
}

}  // namespace llmb::parser
