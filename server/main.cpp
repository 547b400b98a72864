// The program: everything it does is a subcommand in server/cli.
#include "server/cli/command_line.h"
#if defined(LLMB_STATIC_PROGRAM)
#include "server/http/openssl_configuration.h"
#endif

int main(int argc, char** argv) {
#if defined(LLMB_STATIC_PROGRAM)
  llmb::http::leave_openssl_configuration_unread();
#endif
  return llmb::cli::run_command_line(argc, argv);
}
