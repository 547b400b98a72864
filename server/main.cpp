// The program: everything it does is a subcommand in server/cli.
#include "server/cli/command_line.h"

int main(int argc, char** argv) {
  return llmb::cli::run_command_line(argc, argv);
}
