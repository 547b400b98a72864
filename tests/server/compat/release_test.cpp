#include "server/compat/release.h"

#include <gtest/gtest.h>

namespace llmb::compat {
namespace {

TEST(Release, PlainNamesMeanWhatTheDocumentsDescribe) {
  const auto nemo = find_release("nemo");
  ASSERT_TRUE(nemo);
  EXPECT_EQ(nemo->name, "25.07");
  EXPECT_EQ(nemo->window_first, 11);
  const auto mbridge = find_release("mbridge");
  ASSERT_TRUE(mbridge);
  EXPECT_EQ(mbridge->name, "25.10");
  EXPECT_EQ(mbridge->window_first, 35);
}

TEST(Release, UnknownNamesAreRefusedWithWhatThereIs) {
  const auto release = find_release("nemo@24.01");
  ASSERT_FALSE(release);
  EXPECT_NE(release.error().message.find("nemo@25.12"), std::string::npos);
  EXPECT_NE(release.error().message.find("mbridge@26.05"), std::string::npos);
}

TEST(Release, EveryListedNameIsFound) {
  for (const std::string& name : release_names()) EXPECT_TRUE(find_release(name)) << name;
}

}  // namespace
}  // namespace llmb::compat
