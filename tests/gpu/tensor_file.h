// TensorFile: named tensors in the format of safetensors, for programs in other languages: eight
// bytes with the length of a JSON header, the header, the elements without gaps, little-endian.
// Source: the format's description at Hugging Face.
#pragma once

#include <bit>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::runner::testing {

class TensorFile {
 public:
  void add(const std::string& name, const std::vector<std::int64_t>& shape,
           std::span<const float> values) {
    append(name, "F32", shape, std::as_bytes(values));
  }
  void add(const std::string& name, const std::vector<std::int64_t>& shape,
           std::span<const double> values) {
    append(name, "F64", shape, std::as_bytes(values));
  }
  void add(const std::string& name, const std::vector<std::int64_t>& shape,
           std::span<const std::int32_t> values) {
    append(name, "I32", shape, std::as_bytes(values));
  }
  void describe(const std::string& key, const std::string& value) { metadata_[key] = value; }

  // Throws std::runtime_error where the file cannot be written.
  void write(const std::string& path) const {
    static_assert(std::endian::native == std::endian::little);
    nlohmann::ordered_json header = {{"__metadata__", metadata_}};
    header.update(tensors_);
    const std::string text = header.dump();
    const auto length = static_cast<std::uint64_t>(text.size());
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&length), sizeof(length));
    file << text << bytes_ << std::flush;
    if (!file) throw std::runtime_error("Could not write " + path);
  }

 private:
  void append(const std::string& name, const char* type, const std::vector<std::int64_t>& shape,
              std::span<const std::byte> values) {
    const std::size_t begin = bytes_.size();
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size());
    tensors_[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {begin, bytes_.size()}}};
  }

  std::map<std::string, std::string> metadata_;
  nlohmann::ordered_json tensors_;
  std::string bytes_;
};

}  // namespace llmb::runner::testing
