#include "storage/run_query.h"

#include <gtest/gtest.h>

namespace llmb::storage {
namespace {

TEST(RunSortKey, NamesSurviveTheRoundTrip) {
  for (const char* name : {"id", "launched_at", "step_time_s_mean", "tflops_per_gpu_mean"}) {
    const auto key = run_sort_key_from_name(name);
    ASSERT_TRUE(key) << name;
    EXPECT_EQ(run_sort_key_name(*key), name);
  }
}

TEST(RunSortKey, RefusesAnUnknownName) {
  EXPECT_FALSE(run_sort_key_from_name("id; DROP TABLE run"));
}

}  // namespace
}  // namespace llmb::storage
