// DirectoryListing: the entries of an open directory, one after the other. Opens nothing itself.
#pragma once

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "parser/foundation/file_descriptor.h"

namespace llmb::parser {

class DirectoryListing {
 public:
  // Where it cannot be listed, is_open() is false and errno says why.
  explicit DirectoryListing(FileDescriptor directory) : stream_(fdopendir(directory.get())) {
    if (stream_) directory.release();  // closedir() closes it
  }

  bool is_open() const { return stream_ != nullptr; }
  int descriptor() const { return dirfd(stream_.get()); }

  // The next one that is neither "." nor "..", valid until the next call. Null after the last one,
  // with errno 0, or where reading failed, with another.
  const dirent* next() {
    while (true) {
      errno = 0;
      const dirent* const entry = readdir(stream_.get());  // NOLINT(concurrency-mt-unsafe)
      if (entry == nullptr) return nullptr;
      const std::string_view name(static_cast<const char*>(entry->d_name));
      if (name != "." && name != "..") return entry;
    }
  }

 private:
  struct Close {
    void operator()(DIR* stream) const { closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream_;
};

}  // namespace llmb::parser
