#include "server/cli/finished_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "server/cli/exit_codes.h"

namespace llmb::cli {

int finish_output(int exit_code) {
  // What failed long before left its errno to others.
  const bool stood = std::cout.good();
  errno = 0;
  if (std::cout.flush()) return exit_code;
  const int error = stood ? errno : 0;
  std::cerr << fmt::format(
      "llmb-report: the output could not be written{}{}: what stands there is not all\n",
      error != 0 ? ": " : "", error != 0 ? std::strerror(error) : "");
  return kFailed;
}

}  // namespace llmb::cli
