// The program: everything it does is a subcommand in server/cli.
#include "server/cli/command_line.h"
#if defined(LLMB_STATIC_PROGRAM)
#include <nss.h>

#include "server/http/openssl_configuration.h"
#endif

int main(int argc, char** argv) {
#if defined(LLMB_STATIC_PROGRAM)
  // As in llmb-step-runner: what else a machine names would be a library of another glibc.
  __nss_configure_lookup("hosts", "files dns");
  llmb::http::leave_openssl_configuration_unread();
#endif
  return llmb::cli::run_command_line(argc, argv);
}
