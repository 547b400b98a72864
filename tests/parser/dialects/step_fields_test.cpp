#include "parser/step_fields.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "parser/dialects/state_text.h"

namespace llmb::parser {
namespace {

TEST(StepFields, HoldEveryFieldOfASampleButTheNamedOnesOfTheLog) {
  StepSample sample;
  // A field that is added to StepSample does not compile here: it needs its row of the table too.
  const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, extra_fields, v] =
      sample;
  const std::set<const void*> members = {&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k,
                                         &l, &m, &n, &o, &p, &q, &r, &s, &t, &v};
  std::set<const void*> in_table;
  std::set<std::string_view> names;
  for_each_step_field([&](const auto& field) {
    in_table.insert(&(sample.*field.member));
    names.insert(field.name);
  });
  EXPECT_EQ(in_table, members);
  EXPECT_EQ(names.size(), members.size());
  EXPECT_TRUE(extra_fields.empty());
}

TEST(StepFields, KeepTheOrderOfTheStoredNanBits) {
  std::vector<std::string_view> reals;
  for_each_step_field([&](const auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, StepField<std::optional<double>>>) {
      reals.push_back(field.name);
    }
  });
  const std::vector<std::string_view> stored = {
      "step_time_s",   "tflops_per_gpu",   "loss",
      "learning_rate", "grad_norm",        "params_norm",
      "loss_scale",    "memory_bytes_max", "memory_bytes_allocated"};
  ASSERT_GE(reals.size(), stored.size());
  EXPECT_TRUE(std::equal(stored.begin(), stored.end(), reals.begin()));
}

TEST(StepFields, ComeBackFromASavedState) {
  StepSample sample;
  sample.segment = 3;
  sample.iteration = 1'000'000'000'000;
  sample.iteration_is_logged = false;
  sample.epoch = 2;
  sample.loss = 1.25;
  sample.memory_bytes_allocated = 1e11;
  sample.logged_at = "2025-12-22T15:18:33.5";
  sample.extra_fields = {{"a name", -1}, {"", 0.1}};
  sample.byte_offset = ~std::uint64_t{0};
  StateWriter writer;
  writer.sample(sample);
  const std::string state = writer.take();
  StateReader reader(state);
  EXPECT_EQ(reader.sample(), sample);
  EXPECT_FALSE(reader.failed());
  EXPECT_TRUE(reader.at_end());
}

}  // namespace
}  // namespace llmb::parser
