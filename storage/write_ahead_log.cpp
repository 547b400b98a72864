// The form of the file: https://sqlite.org/fileformat2.html, "The Write-Ahead Log".
#include "storage/write_ahead_log.h"

#include <cstddef>
#include <fstream>
#include <string_view>
#include <vector>

namespace llmb::storage {
namespace {

constexpr std::size_t kLogHeaderBytes = 32;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::uint32_t kLogMagic = 0x377f0682;  // its last bit: the sums are of big-endian words
constexpr std::uint32_t kLogPageBytesMax = 65'536;
constexpr std::size_t kSaltsAt = 16;      // in the log's header
constexpr std::size_t kFrameSaltsAt = 8;  // in a frame's
constexpr std::size_t kSaltBytes = 8;
constexpr std::size_t kSummedOfHeader = 24;
constexpr std::size_t kSummedOfFrame = 8;

std::uint32_t word_at(std::string_view bytes, std::size_t at, bool is_big_endian = true) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + (is_big_endian ? i : 3 - i)]);
    word = word << 8U | byte;
  }
  return word;
}

// Runs on from frame to frame: each one's is over all before it, too.
class RunningSum {
 public:
  explicit RunningSum(bool is_big_endian) : is_big_endian_(is_big_endian) {}
  void add(std::string_view bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first_ += word_at(bytes, at, is_big_endian_) + second_;
      second_ += word_at(bytes, at + 4, is_big_endian_) + first_;
    }
  }
  bool is(std::string_view kept) const {
    return word_at(kept, 0) == first_ && word_at(kept, 4) == second_;
  }

 private:
  const bool is_big_endian_;
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

bool read_whole(std::ifstream& file, std::string& into) {
  return static_cast<bool>(file.read(into.data(), static_cast<std::streamsize>(into.size())));
}

}  // namespace

std::set<std::int64_t> pages_in_write_ahead_log(const std::string& path) {
  std::set<std::int64_t> pages;
  std::ifstream file(path, std::ios::binary);
  std::string header(kLogHeaderBytes, '\0');
  if (!file || !read_whole(file, header)) return pages;
  const std::uint32_t magic = word_at(header, 0);
  const std::uint32_t page_bytes = word_at(header, 8);
  if ((magic & ~1U) != kLogMagic || page_bytes == 0 || page_bytes > kLogPageBytesMax) return pages;
  RunningSum sum((magic & 1U) != 0);
  const std::string_view log(header);
  sum.add(log.substr(0, kSummedOfHeader));
  if (!sum.is(log.substr(kSummedOfHeader))) return pages;
  std::string bytes(kFrameHeaderBytes + page_bytes, '\0');
  std::vector<std::int64_t> of_transaction;
  while (read_whole(file, bytes)) {
    const std::string_view frame(bytes);
    sum.add(frame.substr(0, kSummedOfFrame));
    sum.add(frame.substr(kFrameHeaderBytes));
    const bool is_of_this_log =
        frame.substr(kFrameSaltsAt, kSaltBytes) == log.substr(kSaltsAt, kSaltBytes);
    if (!is_of_this_log || !sum.is(frame.substr(kFrameSaltsAt + kSaltBytes))) break;
    of_transaction.push_back(std::int64_t{word_at(frame, 0)});
    const bool ends_transaction = word_at(frame, 4) != 0;
    if (!ends_transaction) continue;
    pages.insert(of_transaction.begin(), of_transaction.end());
    of_transaction.clear();
  }
  return pages;
}

}  // namespace llmb::storage
