#include "storage/page_checksums.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "storage/database_header.h"
#include "storage/still_database.h"

namespace llmb::storage {
namespace {

constexpr std::size_t kMarkAt = 20;  // of the header: how many end each page
// Of the header, what SQLite's backup changes after it has copied a page as it was: counters, the
// file's size, free pages, the schema's version, up to the version that wrote last.
constexpr std::size_t kCountersBegin = 24;
constexpr std::size_t kCountersEnd = 100;
constexpr std::size_t kPageBytesMax = 65'536;

using Bytes = std::span<const unsigned char>;
using Checksum = std::array<unsigned char, kPageChecksumBytes>;

struct Place {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};
thread_local Place last_changed;

// Of SQLite's main file alone: its other files have checksums of their own, or live shortly.
struct CheckedFile {
  sqlite3_file base;
  bool has_checksums;
  bool stands_still;
  const char* name;  // SQLite's, which lives as long
  FileState opened_as;

  // SQLite gives room for both, one behind the other.
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(CheckedFile) % alignof(std::max_align_t) == 0);

CheckedFile& checked(sqlite3_file* file) {
  return *reinterpret_cast<CheckedFile*>(file);
}
const sqlite3_io_methods& real_methods(sqlite3_file* file) {
  return *checked(file).real()->pMethods;
}

// Two sums, each over the other one too: any changed word, and any two that changed places, show.
// A page of zeros has the sum 0, so that what a longer file begins with is whole.
Checksum checksum_of(Bytes page, bool is_first) {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  for (std::size_t at = 0; at + kPageChecksumBytes < page.size(); at += 2 * sizeof first) {
    std::array<std::uint32_t, 2> words{};
    std::memcpy(words.data(), page.data() + at, sizeof words);
    for (std::size_t i = 0; is_first && i < words.size(); ++i) {
      const std::size_t begin = at + i * sizeof first;
      if (begin >= kCountersBegin && begin < kCountersEnd) words[i] = 0;
    }
    first += words[0] + second;
    second += words[1] + first;
  }
  Checksum sum{};
  std::memcpy(sum.data(), &first, sizeof first);
  std::memcpy(sum.data() + sizeof first, &second, sizeof second);
  return sum;
}

bool is_page(int bytes, sqlite3_int64 offset) {
  return bytes >= 512 && static_cast<std::size_t>(bytes) <= kPageBytesMax &&
         std::has_single_bit(static_cast<unsigned>(bytes)) && offset % bytes == 0;
}

bool is_as_written(Bytes page, bool is_first) {
  Checksum kept{};
  std::memcpy(kept.data(), page.data() + page.size() - kept.size(), kept.size());
  return kept == checksum_of(page, is_first);
}

// As a program leaves it that knows nothing of checksums, for example one that vacuums.
bool has_no_checksum(Bytes page) {
  const Bytes kept = page.last(kPageChecksumBytes);
  return std::all_of(kept.begin(), kept.end(), [](unsigned char byte) { return byte == 0; });
}

// For changes, in memory that is always there: SQLite's frames know no exceptions.
std::span<unsigned char> copy_of(Bytes page) {
  thread_local std::array<unsigned char, kPageBytesMax> memory;
  std::copy(page.begin(), page.end(), memory.begin());
  return {memory.data(), page.size()};
}

// The byte that says whether there are checksums is covered by one itself.
bool lost_its_mark(Bytes first_page) {
  if (first_page[kMarkAt] != 0) return true;
  const std::span page = copy_of(first_page);
  page[kMarkAt] = kPageChecksumBytes;
  return is_as_written(page, true);
}

// Asked after the reading: what was read before the file changed is of the file as it was opened.
bool was_changed(const CheckedFile& file) {
  return file.stands_still && state_of_file(file.name) != file.opened_as;
}

int read_file(sqlite3_file* file, void* into, int bytes, sqlite3_int64 offset) {
  CheckedFile& self = checked(file);
  const int code = real_methods(file).xRead(self.real(), into, bytes, offset);
  if (was_changed(self)) return SQLITE_BUSY_SNAPSHOT;
  if (code != SQLITE_OK) return code;
  const Bytes read(static_cast<const unsigned char*>(into), static_cast<std::size_t>(bytes));
  if (offset == 0 && read.size() >= kHeaderBytes) {
    self.has_checksums = read[kMarkAt] == kPageChecksumBytes;
  }
  if (!is_page(bytes, offset)) return SQLITE_OK;
  const bool is_whole = self.has_checksums
                            ? is_as_written(read, offset == 0) || has_no_checksum(read)
                            : offset != 0 || !lost_its_mark(read);
  if (is_whole) {
    // The write-ahead log takes a changed page as it stands in memory, and another program that
    // only reads may copy it from there into the file: with no checksum, and not with one that is
    // old.
    if (self.has_checksums) {
      std::memset(static_cast<unsigned char*>(into) + bytes - kPageChecksumBytes, 0,
                  kPageChecksumBytes);
    }
    return SQLITE_OK;
  }
  last_changed = {offset, bytes};
  return SQLITE_IOERR_DATA;
}

int write_file(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
  CheckedFile& self = checked(file);
  const auto write = [&](const void* what) {
    return real_methods(file).xWrite(self.real(), what, bytes, offset);
  };
  const Bytes given(static_cast<const unsigned char*>(from), static_cast<std::size_t>(bytes));
  if (offset == 0 && given.size() >= kHeaderBytes) {
    self.has_checksums = given[kMarkAt] == kPageChecksumBytes;
  }
  if (!self.has_checksums || !is_page(bytes, offset)) return write(from);
  const std::span page = copy_of(given);
  const Checksum sum = checksum_of(page, offset == 0);
  std::memcpy(page.data() + page.size() - sum.size(), sum.data(), sum.size());
  return write(page.data());
}

int close_file(sqlite3_file* file) {
  return real_methods(file).xClose(checked(file).real());
}

// A file that is mapped would be read past the comparison.
int fetch_nothing(sqlite3_file* /*file*/, sqlite3_int64 /*offset*/, int /*bytes*/, void** page) {
  *page = nullptr;
  return SQLITE_OK;
}
int unfetch_nothing(sqlite3_file* /*file*/, sqlite3_int64 /*offset*/, void* /*page*/) {
  return SQLITE_OK;
}

using Methods = sqlite3_io_methods;

// Calls a method of the file below with the same arguments.
template <auto Method>
struct PassOn;
template <typename Result, typename... Arguments,
          Result (*Methods::*Method)(sqlite3_file*, Arguments...)>
struct PassOn<Method> {
  static Result call(sqlite3_file* file, Arguments... arguments) {
    return (real_methods(file).*Method)(checked(file).real(), arguments...);
  }
};

const Methods kCheckedMethods = {
    .iVersion = 3,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = PassOn<&Methods::xTruncate>::call,
    .xSync = PassOn<&Methods::xSync>::call,
    .xFileSize = PassOn<&Methods::xFileSize>::call,
    .xLock = PassOn<&Methods::xLock>::call,
    .xUnlock = PassOn<&Methods::xUnlock>::call,
    .xCheckReservedLock = PassOn<&Methods::xCheckReservedLock>::call,
    .xFileControl = PassOn<&Methods::xFileControl>::call,
    .xSectorSize = PassOn<&Methods::xSectorSize>::call,
    .xDeviceCharacteristics = PassOn<&Methods::xDeviceCharacteristics>::call,
    .xShmMap = PassOn<&Methods::xShmMap>::call,
    .xShmLock = PassOn<&Methods::xShmLock>::call,
    .xShmBarrier = PassOn<&Methods::xShmBarrier>::call,
    .xShmUnmap = PassOn<&Methods::xShmUnmap>::call,
    .xFetch = fetch_nothing,
    .xUnfetch = unfetch_nothing,
};

int open_file(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* const below = static_cast<sqlite3_vfs*>(self->pAppData);
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return below->xOpen(below, name, file, flags, out_flags);
  CheckedFile& opened = checked(file);
  opened.base.pMethods = nullptr;
  opened.has_checksums = false;
  opened.stands_still = sqlite3_uri_boolean(name, "immutable", 0) != 0;
  opened.name = name;
  opened.opened_as = opened.stands_still ? state_of_file(name).value_or(FileState{}) : FileState{};
  const int code = below->xOpen(below, name, opened.real(), flags, out_flags);
  // Where only that is set, SQLite closes the file again.
  if (opened.real()->pMethods != nullptr) opened.base.pMethods = &kCheckedMethods;
  return code;
}

sqlite3_vfs make_checked_file_system() {
  sqlite3_vfs* const below = sqlite3_vfs_find(nullptr);
  sqlite3_vfs result = *below;
  result.pNext = nullptr;
  result.zName = "llmb-checked";
  result.szOsFile = static_cast<int>(sizeof(CheckedFile)) + below->szOsFile;
  result.pAppData = below;
  result.xOpen = open_file;
  return result;
}

}  // namespace

const char* checked_file_system() {
  static sqlite3_vfs* const file_system = [] {
    static sqlite3_vfs made = make_checked_file_system();
    sqlite3_vfs_register(&made, 0);
    return &made;
  }();
  return file_system->zName;
}

std::string last_changed_page() {
  if (last_changed.bytes == 0) return "a page";
  return fmt::format("page {} (bytes {} to {})", last_changed.offset / last_changed.bytes + 1,
                     last_changed.offset, last_changed.offset + last_changed.bytes - 1);
}

}  // namespace llmb::storage
