// A whole file as bytes, mapped read-only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace llmb::compat {

class MappedFile {
 public:
  // Never blocks on a pipe; what cannot be read is not open.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool is_open() const { return is_open_; }
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  bool is_open_ = false;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace llmb::compat
