// Values one behind the other in bytes, without names: integers take as many bytes as their size
// needs, doubles eight, texts their length and their bytes. PackWriter and PackReader stand on one
// page; the reader throws BadField.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace llmb::storage {

// Says which field is not as it should be.
class BadField : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
[[noreturn]] void refuse_field(std::string_view name, std::string_view wanted);

template <typename T>
concept SignedInteger = std::signed_integral<T>;
template <typename T>
concept UnsignedInteger = std::unsigned_integral<T> && !std::same_as<T, bool>;

// Small where the value is, whatever its sign.
constexpr std::uint64_t folded(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}
constexpr std::int64_t unfolded(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
}

class PackWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  // Seven bits a byte, the lowest first; the highest bit says that more follow.
  void count(std::uint64_t value) {
    while (value >= 0x80U) {
      byte(static_cast<std::uint8_t>(value | 0x80U));
      value >>= 7U;
    }
    byte(static_cast<std::uint8_t>(value));
  }
  void raw(std::string_view bytes) { bytes_.append(bytes); }
  void word(std::uint64_t value) { fixed(value); }
  void half_word(std::uint32_t value) { fixed(value); }

  void write(bool value) { byte(value ? 1 : 0); }
  void write(SignedInteger auto value) { count(folded(value)); }
  void write(UnsignedInteger auto value) { count(value); }
  void write(double value) { word(std::bit_cast<std::uint64_t>(value)); }
  void write(const std::string& value) {
    count(value.size());
    raw(value);
  }
  template <typename T>
  void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }

  std::size_t size() const { return bytes_.size(); }
  std::string take() { return std::move(bytes_); }

 private:
  template <typename Word>
  void fixed(Word value) {  // the lowest byte first
    std::array<char, sizeof value> bytes{};
    for (char& one : bytes) {
      one = static_cast<char>(value & 0xffU);
      value >>= 8U;
    }
    bytes_.append(bytes.data(), bytes.size());
  }

  std::string bytes_;
};

// `name` is that of the field, for the complaint.
class PackReader {
 public:
  // Few bytes can stand for much: what is made of them beyond their own size is bounded, too.
  PackReader(std::string_view bytes, std::size_t memory_max)
      : rest_(bytes), memory_left_(memory_max) {}

  std::size_t left() const { return rest_.size(); }
  void take_memory(std::size_t count, std::size_t bytes_each, const char* name) {
    if (bytes_each > 0 && count > memory_left_ / bytes_each) refuse_field(name, "less at once");
    memory_left_ -= count * bytes_each;
  }

  std::uint8_t byte(const char* name) {
    if (rest_.empty()) refuse_field(name, "there");
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::uint64_t count(const char* name) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte(name);
      const std::uint64_t bits = next & 0x7fU;
      if (shift == 63 && bits > 1) break;
      value |= bits << shift;
      if (next < 0x80U) return value;
    }
    refuse_field(name, "an integer of 64 bits");
  }
  // Of things that take a byte each at least.
  std::size_t length(const char* name) {
    const std::uint64_t value = count(name);
    if (value > rest_.size()) refuse_field(name, "there to its end");
    return static_cast<std::size_t>(value);
  }
  std::string_view raw(std::size_t size, const char* name) {
    if (size > rest_.size()) refuse_field(name, "there to its end");
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::uint64_t word(const char* name) { return fixed<std::uint64_t>(name); }
  std::uint32_t half_word(const char* name) { return fixed<std::uint32_t>(name); }

  void read(const char* name, bool& value) {
    const std::uint8_t bits = byte(name);
    if (bits > 1) refuse_field(name, "true or false");
    value = bits == 1;
  }
  void read(const char* name, SignedInteger auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const std::int64_t wide = unfolded(count(name));
    if (wide < std::numeric_limits<Value>::min() || wide > std::numeric_limits<Value>::max()) {
      refuse_field(name, "an integer of 32 bits");
    }
    value = static_cast<Value>(wide);
  }
  void read(const char* name, UnsignedInteger auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const std::uint64_t wide = count(name);
    if (wide > std::numeric_limits<Value>::max()) refuse_field(name, "a count of 32 bits");
    value = static_cast<Value>(wide);
  }
  void read(const char* name, double& value) { value = std::bit_cast<double>(word(name)); }
  void read(const char* name, std::string& value) { value = raw(length(name), name); }
  template <typename T>
  void read(const char* name, std::optional<T>& value) {
    bool is_there = false;
    read(name, is_there);
    value.reset();
    if (is_there) read(name, value.emplace());
  }

 private:
  template <typename Word>
  Word fixed(const char* name) {
    const std::string_view bytes = raw(sizeof(Word), name);
    Word value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = value << 8U | static_cast<std::uint8_t>(bytes[i]);
    }
    return value;
  }

  std::string_view rest_;
  std::size_t memory_left_;
};

}  // namespace llmb::storage
