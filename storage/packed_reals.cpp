#include "storage/packed_reals.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace llmb::storage {
namespace {

enum class Form : std::uint8_t {
  plain,    // eight bytes each
  single,   // four: each is what a float holds
  decimal,  // the number of decimals, then each as an integer of that unit: the difference from the
            // one before, which is small
};

// Up to 10^22 a double holds a power of ten exactly, so that a quotient by it is the double nearest
// to the decimal number, as reading the digits gave it.
constexpr std::size_t kPowers = 23;
constexpr std::array<double, kPowers> kPowersOfTen = [] {
  std::array<double, kPowers> powers{};
  double power = 1;
  for (double& one : powers) {
    one = power;
    power *= 10;
  }
  return powers;
}();
// Beyond it a product with a power of ten may round to the integer beside the right one.
constexpr double kUnitsMax = 1LL << 50U;

// `value` in units of the last of so many decimals; nothing where that is not all of it.
std::optional<std::int64_t> units_of(double value, std::size_t decimals) {
  const double scaled = value * kPowersOfTen[decimals];
  if (!(std::abs(scaled) < kUnitsMax)) return std::nullopt;  // nor where it is no number
  const std::int64_t units = std::llround(scaled);
  if (!is_same_real(static_cast<double>(units) / kPowersOfTen[decimals], value))
    return std::nullopt;
  return units;
}

std::optional<std::size_t> decimals_of(std::span<const double> values) {
  std::size_t decimals = 0;
  for (const double value : values) {
    while (!units_of(value, decimals)) {
      if (++decimals == kPowers) return std::nullopt;
    }
  }
  const bool fits_all = std::all_of(values.begin(), values.end(), [&](double value) {
    return units_of(value, decimals).has_value();
  });
  return fits_all ? std::optional(decimals) : std::nullopt;
}

// A NaN's bits may not all survive.
bool is_single(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max() &&
         is_same_real(static_cast<double>(static_cast<float>(value)), value);
}

}  // namespace

void pack_reals(PackWriter& writer, std::span<const double> values) {
  const auto begin = [&](Form form) { writer.byte(static_cast<std::uint8_t>(form)); };
  if (const auto decimals = decimals_of(values)) {
    begin(Form::decimal);
    writer.byte(static_cast<std::uint8_t>(*decimals));
    std::int64_t last = 0;
    for (const double value : values) {
      const std::int64_t units = *units_of(value, *decimals);
      writer.write(units - last);
      last = units;
    }
  } else if (std::all_of(values.begin(), values.end(), is_single)) {
    begin(Form::single);
    for (const double value : values) {
      writer.half_word(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    }
  } else {
    begin(Form::plain);
    for (const double value : values) writer.write(value);
  }
}

std::vector<double> unpack_reals(PackReader& reader, const char* name, std::size_t count) {
  const std::uint8_t form = reader.byte(name);
  if (form > static_cast<std::uint8_t>(Form::decimal)) refuse_field(name, "of a form of reals");
  const bool is_decimal = form == static_cast<std::uint8_t>(Form::decimal);
  const std::size_t decimals = is_decimal ? reader.byte(name) : 0;
  if (decimals >= kPowers) refuse_field(name, "of at most 22 decimals");
  std::vector<double> values(count);
  std::uint64_t units = 0;
  for (double& value : values) {
    if (is_decimal) {
      std::int64_t difference = 0;
      reader.read(name, difference);
      units += static_cast<std::uint64_t>(difference);
      value = static_cast<double>(static_cast<std::int64_t>(units)) / kPowersOfTen[decimals];
    } else if (form == static_cast<std::uint8_t>(Form::single)) {
      value = static_cast<double>(std::bit_cast<float>(reader.half_word(name)));
    } else {
      reader.read(name, value);
    }
  }
  return values;
}

}  // namespace llmb::storage
