// The checksum of a table: the same for the same rows only.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "storage/table_sum.h"

namespace llmb::storage {
namespace {

TableSum sum_of_rows(const std::vector<StoredRow>& rows) {
  TableSum sum;
  for (const StoredRow& row : rows) sum.add(row);
  return sum;
}

const StoredValue kNull;
const StoredValue kOne = std::int64_t{1};
const StoredValue kText = std::string("1");

TEST(TableSum, IsTheSameInAnyOrder) {
  EXPECT_EQ(sum_of_rows({{kOne, kText}, {kNull, kText}}),
            sum_of_rows({{kNull, kText}, {kOne, kText}}));
  EXPECT_EQ(sum_of_rows({{StoredValue(-0.0)}}), sum_of_rows({{StoredValue(0.0)}}));
}

TEST(TableSum, DiffersWithEachValue) {
  const std::vector<StoredValue> values = {kNull,
                                           kOne,
                                           kText,
                                           std::int64_t{0},
                                           0.0,
                                           1.0,
                                           std::int64_t{-1},
                                           std::string(),
                                           std::string("\0", 1),
                                           std::string("12345678"),
                                           std::string("123456789"),
                                           std::numeric_limits<double>::infinity(),
                                           std::numeric_limits<double>::denorm_min(),
                                           std::nextafter(1.0, 2.0),
                                           StoredBytes{},
                                           StoredBytes{"1"},
                                           StoredBytes{std::string(1, '\0')}};
  for (const StoredValue& one : values) {
    for (const StoredValue& other : values) {
      EXPECT_EQ(sum_of_rows({{kOne, one}}) == sum_of_rows({{kOne, other}}), &one == &other)
          << one.index() << " " << other.index();
    }
  }
}

TEST(TableSum, TellsWhereAValueStands) {
  EXPECT_NE(sum_of_rows({{kOne, kText}}), sum_of_rows({{kText, kOne}}));
  EXPECT_NE(sum_of_rows({{kOne, kText}, {kText, kOne}}),
            sum_of_rows({{kOne, kOne}, {kText, kText}}));
  EXPECT_NE(sum_of_rows({{kOne}}), sum_of_rows({{kOne}, {kOne}}));
  EXPECT_NE(sum_of_rows({{std::string("ab"), std::string("c")}}),
            sum_of_rows({{std::string("a"), std::string("bc")}}));
}

}  // namespace
}  // namespace llmb::storage
