// How long processors worked for this process, or for its children that have ended.
#pragma once

#include <sys/resource.h>

namespace llmb::bench {

// `who`: RUSAGE_SELF or RUSAGE_CHILDREN.
inline double processor_s(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace llmb::bench
