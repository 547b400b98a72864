// A run's configuration as one text, there and back.
#include "storage/settings_text.h"

#include <gtest/gtest.h>

namespace llmb::storage {
namespace {

using parser::ConfigSource;
using parser::RunConfiguration;

TEST(SettingsText, HasASectionForEachSource) {
  RunConfiguration configuration;
  configuration.set("dtype", "fp8", ConfigSource::llmb_config);
  configuration.set("dtype", "fp8_cs", ConfigSource::experiment_name);
  configuration.set("gpu_count", "128", ConfigSource::experiment_name);
  EXPECT_EQ(settings_text(configuration),
            "[llmb_config]\ndtype=fp8\n[experiment_name]\ndtype=fp8_cs\ngpu_count=128\n");
  EXPECT_EQ(read_settings_text(settings_text(configuration)), configuration);
  EXPECT_EQ(settings_text(RunConfiguration()), "");
  EXPECT_EQ(read_settings_text(""), RunConfiguration());
}

TEST(SettingsText, KeepsWhateverBytesStandInKeysAndValues) {
  const std::string zero("a\0b", 3);
  RunConfiguration configuration;
  for (const std::string& bytes :
       {std::string("="), std::string("a=b"), std::string("\n"), std::string("\\"),
        std::string("\\n"), std::string("\\e="), std::string("[path]"), std::string("[path]\n[x]"),
        std::string("\r\t "), std::string("\xff\xfe"), std::string("\xe2\x82\xac"), zero}) {
    configuration.set(bytes, bytes, ConfigSource::path);
    configuration.set("key " + bytes, bytes + bytes, ConfigSource::log_content);
  }
  EXPECT_EQ(read_settings_text(settings_text(configuration)), configuration);
}

TEST(SettingsText, PassesOverWhatItDoesNotKnow) {
  RunConfiguration known;
  known.set("a", "1", ConfigSource::path);
  EXPECT_EQ(read_settings_text("x=y\n[path]\na=1\nno line\n[oracle]\nb=2\n"), known);
  EXPECT_EQ(read_settings_text("[path]\na=1"), known);
}

}  // namespace
}  // namespace llmb::storage
