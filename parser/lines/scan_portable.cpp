#include <cstring>

#include "parser/lines/scan_engines.h"

namespace llmb::parser {
namespace {

bool is_gram(const FingerprintPlan& plan, const std::uint8_t* bytes) {
  std::uint32_t gram = 0;
  std::memcpy(&gram, bytes, sizeof gram);
  return plan.gram_table[FingerprintPlan::gram_slot(gram)] != 0;
}

// Every fingerprint holds a gram that begins at a multiple of the stride from the first one on, and
// no more than stride - 1 bytes behind the fingerprint's beginning.
template <std::size_t kStride>
std::size_t scan_grams(CandidateSearch& search) {
  constexpr std::size_t kUnrolled = 4;
  const FingerprintPlan& plan = search.plan();
  const std::uint8_t* const bytes = search.bytes();
  const std::size_t size = search.size();
  const auto check_before = [&search](std::size_t gram) {
    for (std::size_t at = gram + 1 - kStride; at <= gram; ++at) search.check(at);
  };
  std::size_t gram = search.from() + kStride - 1;
  const auto is_left = [&](std::size_t grams) {
    return gram < search.end() + kStride - 1 &&
           gram + (grams - 1) * kStride + FingerprintPlan::kGramBytes <= size;
  };
  while (is_left(kUnrolled)) {
    bool any = false;
    for (std::size_t i = 0; i < kUnrolled; ++i) any |= is_gram(plan, bytes + gram + i * kStride);
    if (any) {
      for (std::size_t i = 0; i < kUnrolled; ++i) {
        if (is_gram(plan, bytes + gram + i * kStride)) check_before(gram + i * kStride);
      }
    }
    gram += kUnrolled * kStride;
  }
  for (; is_left(1); gram += kStride) {
    if (is_gram(plan, bytes + gram)) check_before(gram);
  }
  return gram + 1 - kStride;
}

// Some literal is shorter than a gram: each position by its byte.
std::size_t scan_bytes(CandidateSearch& search) {
  const auto& first_bytes = search.plan().first_bytes;
  const std::uint8_t* const bytes = search.bytes();
  std::size_t at = search.from();
  for (; at < search.end() && at < search.size(); ++at) {
    if (first_bytes[bytes[at]]) search.check(at);
  }
  return at;
}

}  // namespace

void scan_portable(CandidateSearch& search) {
  static_assert(kFingerprintBytes - FingerprintPlan::kGramBytes + 1 == 5);
  switch (search.plan().gram_stride) {
    case 1:
      return search.check_rest(scan_grams<1>(search));
    case 2:
      return search.check_rest(scan_grams<2>(search));
    case 3:
      return search.check_rest(scan_grams<3>(search));
    case 4:
      return search.check_rest(scan_grams<4>(search));
    case 5:
      return search.check_rest(scan_grams<5>(search));
    default:
      return search.check_rest(scan_bytes(search));
  }
}

}  // namespace llmb::parser
