#include "parser/layout/run_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RunConfiguration, PrefersTheLaunchersOwnWordAndKeepsTheOthers) {
  RunConfiguration configuration;
  configuration.set("gpu_count", "256", ConfigSource::path);
  configuration.set("gpu_count", "128", ConfigSource::llmb_config);
  configuration.set("gpu_count", "256", ConfigSource::experiment_name);
  EXPECT_EQ(configuration.get("gpu_count"), (ConfigValue{"128", ConfigSource::llmb_config}));
  EXPECT_THAT(configuration.all().at("gpu_count"),
              ElementsAre(ConfigValue{"128", ConfigSource::llmb_config},
                          ConfigValue{"256", ConfigSource::experiment_name},
                          ConfigValue{"256", ConfigSource::path}));
  EXPECT_THAT(configuration.conflicting_keys(), ElementsAre("gpu_count"));
}

TEST(RunConfiguration, TakesTheNamesDtypeWhereItRefinesTheConfigs) {
  RunConfiguration configuration;
  configuration.set("dtype", "fp8", ConfigSource::llmb_config);
  configuration.set("dtype", "fp8_cs", ConfigSource::experiment_name);
  EXPECT_EQ(configuration.value("dtype"), "fp8_cs");
  EXPECT_THAT(configuration.conflicting_keys(), IsEmpty());

  configuration.set("dtype", "bf16", ConfigSource::experiment_name);
  EXPECT_EQ(configuration.value("dtype"), "fp8");
  EXPECT_THAT(configuration.conflicting_keys(), ElementsAre("dtype"));
}

TEST(RunConfiguration, ReplacesAnEarlierValueOfTheSameSource) {
  RunConfiguration configuration;
  configuration.set("cluster", "old", ConfigSource::llmb_config);
  configuration.set("cluster", "new", ConfigSource::llmb_config);
  configuration.set("cluster", "", ConfigSource::llmb_config);
  EXPECT_EQ(configuration.all().at("cluster").size(), 1U);
  EXPECT_EQ(configuration.value("cluster"), "new");
  EXPECT_FALSE(configuration.value("absent"));
}

TEST(RunConfiguration, SeesNoConflictInLetterCase) {
  RunConfiguration configuration;
  configuration.set("gpu_type", "H100", ConfigSource::llmb_config);
  configuration.set("gpu_type", "h100", ConfigSource::path);
  EXPECT_THAT(configuration.conflicting_keys(), IsEmpty());
}

TEST(RunConfiguration, KeepsInLowerCaseWhatTheCatalogNamesSo) {
  RunConfiguration configuration;
  configuration.set("gpu_type", "GB200", ConfigSource::llmb_config);
  configuration.set("dtype", "BF16", ConfigSource::llmb_config);
  configuration.set("model_size", "405B", ConfigSource::llmb_config);
  configuration.set("cluster", "EOS", ConfigSource::llmb_config);
  EXPECT_EQ(configuration.value("gpu_type"), "gb200");
  EXPECT_EQ(configuration.value("dtype"), "bf16");
  EXPECT_EQ(configuration.value("model_size"), "405b");
  EXPECT_EQ(configuration.value("cluster"), "EOS");
}

TEST(RunConfiguration, NamesEverySource) {
  for (const char* name : {"llmb_config", "experiment_name", "path", "log_content"}) {
    ASSERT_TRUE(config_source_from_name(name)) << name;
    EXPECT_EQ(config_source_name(*config_source_from_name(name)), name);
  }
  EXPECT_FALSE(config_source_from_name("rumour"));
}

TEST(RunConfiguration, TellsOfAGpuTypeThatAnOptionNamed) {
  EXPECT_EQ(told_source_name("gpu_type", ConfigSource::path), "--gpu-type");
  EXPECT_EQ(told_source_name("gpu_type", ConfigSource::llmb_config), "llmb_config");
  EXPECT_EQ(told_source_name("release", ConfigSource::path), "path");
}

}  // namespace
}  // namespace llmb::parser
