#include "storage/packed_steps.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>

#include "parser/step_fields.h"
#include "storage/packed_reals.h"

namespace llmb::storage {
namespace {

using parser::StepSample;
using Steps = std::span<const StepSample>;

// How a column is written.
enum class Column : std::uint8_t {
  empty,   // every step has what a new StepSample has
  same,    // every step has this one value
  filled,  // a value for each step
  sparse,  // a bit for each step, and a value for each set one
};

constexpr std::size_t kFieldCount = std::tuple_size_v<decltype(parser::kStepFields)>;

template <typename T>
struct Contained {
  using Type = T;
};
template <typename T>
struct Contained<std::optional<T>> {
  using Type = T;
};

template <typename T>
bool is_there(const T&) {
  return true;
}
template <typename T>
bool is_there(const std::optional<T>& value) {
  return value.has_value();
}
template <typename T>
const T& content(const T& value) {
  return value;
}
template <typename T>
const T& content(const std::optional<T>& value) {
  return *value;
}

template <typename T>
bool is_same(const T& one, const T& other) {
  if constexpr (std::is_same_v<T, double>) {
    return is_same_real(one, other);
  } else {
    return one == other;
  }
}
template <typename T>
bool is_same(const std::optional<T>& one, const std::optional<T>& other) {
  return one.has_value() == other.has_value() && (!one || is_same(*one, *other));
}

// Integers as the difference from the one before, which is small; others as they are.
template <typename T>
class Values {
 public:
  void write(PackWriter& writer, const T& value) {
    if constexpr (kIsInteger) {
      const auto wide = static_cast<std::uint64_t>(value);
      writer.write(static_cast<std::int64_t>(wide - last_));
      last_ = wide;
    } else {
      writer.write(value);
    }
  }
  void read(PackReader& reader, const char* name, T& value) {
    if constexpr (kIsInteger) {
      std::int64_t difference = 0;
      reader.read(name, difference);
      last_ += static_cast<std::uint64_t>(difference);
      value = static_cast<T>(last_);
      if (static_cast<std::uint64_t>(value) != last_) refuse_field(name, "an integer of 32 bits");
    } else {
      reader.read(name, value);
    }
  }

 private:
  static constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  std::uint64_t last_ = 0;
};

template <typename Member>
Column kind_of(Steps steps, Member StepSample::*member) {
  const Member& first = steps.front().*member;
  bool are_same = true;
  bool are_there = true;
  for (const StepSample& step : steps) {
    are_same = are_same && is_same(step.*member, first);
    are_there = are_there && is_there(step.*member);
    if (!are_same && !are_there) return Column::sparse;
  }
  if (!are_same) return Column::filled;
  return is_same(first, StepSample().*member) ? Column::empty : Column::same;
}

template <typename Member>
void pack_column(PackWriter& writer, Steps steps, Member StepSample::*member) {
  const Column kind = kind_of(steps, member);
  writer.byte(static_cast<std::uint8_t>(kind));
  if (kind == Column::empty) return;
  using Value = typename Contained<Member>::Type;
  Values<Value> values;
  if (kind == Column::same) {
    values.write(writer, content(steps.front().*member));
    return;
  }
  for (std::size_t i = 0; kind == Column::sparse && i < steps.size(); i += 8) {
    std::uint8_t bits = 0;
    for (std::size_t bit = 0; bit < 8 && i + bit < steps.size(); ++bit) {
      if (is_there(steps[i + bit].*member)) bits |= static_cast<std::uint8_t>(1U << bit);
    }
    writer.byte(bits);
  }
  if constexpr (std::is_same_v<Value, double>) {
    std::vector<double> reals;
    reals.reserve(steps.size());
    for (const StepSample& step : steps) {
      if (is_there(step.*member)) reals.push_back(content(step.*member));
    }
    pack_reals(writer, reals);
  } else {
    for (const StepSample& step : steps) {
      if (is_there(step.*member)) values.write(writer, content(step.*member));
    }
  }
}

template <typename Member>
void unpack_column(PackReader& reader, const char* name, std::span<StepSample> steps,
                   Member StepSample::*member) {
  using Value = typename Contained<Member>::Type;
  const std::uint8_t kind = reader.byte(name);
  if (kind > static_cast<std::uint8_t>(Column::sparse)) refuse_field(name, "of a kind of column");
  if (kind == static_cast<std::uint8_t>(Column::empty)) return;
  Values<Value> values;
  if (kind == static_cast<std::uint8_t>(Column::same)) {
    Value value{};
    values.read(reader, name, value);
    if constexpr (std::is_same_v<Value, std::string>) {
      reader.take_memory(steps.size(), value.size(), name);
    }
    for (StepSample& step : steps) step.*member = value;
    return;
  }
  const bool has_bits = kind == static_cast<std::uint8_t>(Column::sparse);
  const std::string_view bits = reader.raw(has_bits ? (steps.size() + 7) / 8 : 0, name);
  const auto is_set = [&](std::size_t i) {
    return !has_bits || (static_cast<std::uint8_t>(bits[i / 8]) >> (i % 8) & 1U) != 0;
  };
  if constexpr (std::is_same_v<Value, double>) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) count += is_set(i) ? 1 : 0;
    const std::vector<double> reals = unpack_reals(reader, name, count);
    auto real = reals.begin();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (is_set(i)) steps[i].*member = *real++;
    }
  } else {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!is_set(i)) continue;
      Value value{};
      values.read(reader, name, value);
      steps[i].*member = std::move(value);
    }
  }
}

// A name is written where it comes first, and then by its number.
void pack_extra_fields(PackWriter& writer, Steps steps) {
  bool has_any = false;
  for (const StepSample& step : steps) has_any = has_any || !step.extra_fields.empty();
  writer.write(has_any);
  if (!has_any) return;
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (const StepSample& step : steps) {
    writer.count(step.extra_fields.size());
    for (const auto& [name, value] : step.extra_fields) {
      const auto [found, is_new] = numbers.emplace(name, numbers.size());
      writer.count(found->second);
      if (is_new) writer.write(name);
      writer.write(value);
    }
  }
}

void unpack_extra_fields(PackReader& reader, std::span<StepSample> steps) {
  constexpr const char* kName = "a field of a step";
  bool has_any = false;
  reader.read(kName, has_any);
  if (!has_any) return;
  std::vector<std::string> names;
  for (StepSample& step : steps) {
    const std::size_t count = reader.length(kName);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = reader.count(kName);
      if (number > names.size()) refuse_field(kName, "of a name that came before");
      if (number == names.size()) reader.read(kName, names.emplace_back());
      reader.take_memory(1, names[number].size(), kName);
      double value = 0;
      reader.read(kName, value);
      step.extra_fields.emplace_back(names[number], value);
    }
  }
}

}  // namespace

void pack_steps(PackWriter& writer, Steps steps) {
  writer.count(steps.size());
  if (steps.empty()) return;
  writer.count(kFieldCount);
  parser::for_each_step_field([&](const auto& field) { pack_column(writer, steps, field.member); });
  pack_extra_fields(writer, steps);
}

std::vector<StepSample> unpack_steps(PackReader& reader) {
  const std::uint64_t count = reader.count("steps");
  reader.take_memory(count, sizeof(StepSample), "steps");
  std::vector<StepSample> steps(static_cast<std::size_t>(count));
  if (steps.empty()) return steps;
  std::uint64_t columns = reader.count("steps");
  if (columns > kFieldCount) refuse_field("steps", "of fields that this version knows");
  parser::for_each_step_field([&](const auto& field) {  // their names are literals
    if (columns == 0) return;
    unpack_column(reader, field.name.data(), steps, field.member);
    --columns;
  });
  unpack_extra_fields(reader, steps);
  return steps;
}

}  // namespace llmb::storage
