// Two databases that hold the same logs, each of one root, as far as reading them alone tells: all
// but when they were read, and who told of them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "storage/database.h"

namespace llmb::storage {

inline void expect_same_logs(const std::string& database_path, const std::string& other_path) {
  RunQuery by_path;
  by_path.filter.include_superseded = true;
  by_path.limit = 500;
  Reader database(database_path);
  Reader other(other_path);
  const auto runs = other.runs(by_path).runs;
  ASSERT_EQ(database.runs(by_path).runs.size(), runs.size()) << "a run was lost or doubled";
  for (const RunRecord& listed : runs) {
    SCOPED_TRACE(listed.relative_path);
    const auto run = other.run(listed.id);
    const auto copy = database.run_at(1, listed.relative_path);
    ASSERT_TRUE(run && copy);
    EXPECT_EQ(copy->generation, run->generation);
    EXPECT_EQ(copy->configuration, run->configuration);
    EXPECT_EQ(copy->facts, run->facts);
    EXPECT_EQ(copy->summary, run->summary);
    EXPECT_EQ(copy->step_count, run->step_count);
    EXPECT_EQ(database.steps(copy->id), other.steps(run->id));
  }
}

}  // namespace llmb::storage
