// Runs the real llmb-report and keeps what it said.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace llmb::cli {

struct ProgramRun {
  int exit_code = -1;  // -1: it did not end by itself
  std::string out;
  std::string err;
};

struct ProgramOptions {
  std::filesystem::path folder = ".";              // current folder of the program
  std::map<std::string, std::string> environment;  // all of it
  bool without_privileges = false;                 // as nobody, where the test runs as root
  std::string out_file = {};                       // takes stdout instead of ProgramRun::out
  std::string in_file = "/dev/null";               // stdin
};

// Ends the program after 60 s.
ProgramRun run_program(const std::vector<std::string>& arguments, const ProgramOptions& options);

}  // namespace llmb::cli
