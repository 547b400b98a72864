// RunStart: what a run says of when it was started, and the order that several of them say
// together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmb::parser {

struct RunStart {
  std::optional<std::string> launched_at;  // as in ComparedRun
  std::optional<std::int64_t> job_id;
  std::optional<std::string> cluster;  // whose jobs that number counts
};

// Indexes of `starts`, the earliest first: by launch where all say theirs, else by job where all
// say it and are of one cluster, whose ids rise from job to job; else nothing. Equal ones keep
// their order.
std::optional<std::vector<std::size_t>> order_of(const std::vector<RunStart>& starts);

}  // namespace llmb::parser
