// Where a value of a submission or of a cluster came from, in words, and what is said of a variable
// that nothing follows because another source of the same value outranks it.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace llmb::dispatch {

// Field of a submission -> where its value came from; of those that were not asked for as such.
using Origins = std::map<std::string, std::string, std::less<>>;
inline constexpr std::string_view kAskedFor = "asked for";
inline constexpr std::string_view kOfDocument = "the document's default";
inline constexpr std::string_view kOfCluster = "the cluster's configuration";

std::string origin_of(std::string_view field, const Origins& origins);

struct NamedValue {
  std::string_view name;   // "profile_start_step"
  std::string_view value;  // "10"
  std::string origin;      // "RUN_CONF_PROFILE_START_STEP of the shell"
};

// "PROFILE_START_STEP of the shell ('12') has no effect: profile_start_step is 10 (…)". `source`:
// "PROFILE_START_STEP of the shell".
std::string set_aside_note(std::string_view source, std::string_view value,
                           const NamedValue& counts);

}  // namespace llmb::dispatch
