// Serves one JSON answer, from memory and with an etag as the API's cached answers are, until it is
// killed. Prints the port. Usage: http_bench_server FILE
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>

#include "server/http/server.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: http_bench_server FILE\n";
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const auto body = std::make_shared<const std::string>(std::istreambuf_iterator<char>(file),
                                                        std::istreambuf_iterator<char>());
  llmb::http::Router router;
  router.add("GET", "/api/v1/runs", [&](const llmb::http::Request&) {
    llmb::http::Response response;
    response.body = body;
    response.etag = "bench-1";
    return response;
  });
  llmb::http::ServerOptions options;
  options.port = 0;
  options.threads = 1;
  llmb::http::Server server(options, router);
  server.start();
  std::cout << server.port() << std::endl;
  for (;;) ::pause();
}
