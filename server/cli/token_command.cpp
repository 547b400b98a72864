#include "server/cli/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/cli/job_desk.h"
#include "server/dispatch/text_check.h"
#include "server/dispatch/wall_clock.h"
#include "server/http/bearer_token.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

constexpr int kDaysMax = 3'650;

constexpr const char* kTokenFooter = R"(Examples:
  llmb-report token create ci --scope submit
  llmb-report token create laptop --scope read --scope submit --days 30
  llmb-report token create eos-agent --scope ingest --for-cluster eos
  llmb-report token list
  llmb-report token revoke ci

A token is shown once, by `create`, and goes to clients as they ask:
  curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d @job.json http://127.0.0.1:8642/api/v1/jobs
Only its SHA-256 is kept. What each scope lets do:
  read    no more than anybody may: to read takes no token
  submit  submit jobs, and cancel its own; the token's name also has to be in `submitters`
  cancel  cancel jobs of others, too
  ingest  push runs of the one cluster that --for-cluster names
  admin   submit and cancel
Changes count at once, in a running daemon too. `create` makes the database where there is none;
`list` only reads it.)";

struct TokenArguments {
  DeskArguments desk;
  std::string name;
  std::vector<std::string> scopes;
  int days = 90;
  std::string for_cluster;
  std::string former_cluster;
};

storage::OpenOptions database_of(const TokenArguments& arguments) {
  return desk_settings(arguments.desk, false).database;
}

bool is_taken(storage::JobStore& store, const std::string& name) {
  const auto tokens = store.tokens();
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const storage::TokenRecord& token) { return token.name == name; });
}

int create(const TokenArguments& arguments) {
  if (!dispatch::is_name(arguments.name)) {
    return complain("token",
                    "a token's name has letters, digits, '.', '_', '-' and '+'; not " +
                        dispatch::in_quotes(arguments.name),
                    kBadArguments);
  }
  const auto& scopes = arguments.scopes;
  const bool ingests = std::find(scopes.begin(), scopes.end(), "ingest") != scopes.end();
  if (ingests != !arguments.for_cluster.empty()) {
    return complain("token",
                    "--scope ingest needs the one cluster whose runs it may write, --for-cluster "
                    "NAME, and no other scope does",
                    kBadArguments);
  }
  for (const std::string& cluster : {arguments.for_cluster, arguments.former_cluster}) {
    if (cluster.empty() || (ingests && dispatch::is_name(cluster))) continue;
    return complain("token",
                    ingests ? "a cluster's name has letters, digits, '.', '_', '-' and '+'; not " +
                                  dispatch::in_quotes(cluster)
                            : "--formerly needs --for-cluster NAME, the name of now",
                    kBadArguments);
  }
  if (!arguments.former_cluster.empty() && arguments.former_cluster == arguments.for_cluster) {
    return complain("token",
                    "--formerly is what the cluster was called before, and is not its name of now",
                    kBadArguments);
  }
  storage::JobStore store(database_of(arguments));
  if (is_taken(store, arguments.name)) {
    return complain("token",
                    "there is a token " + arguments.name +
                        " already; names are not used again, so that it stays clear who did what",
                    kBadArguments);
  }
  const std::string token = http::new_token();
  const dispatch::WallTime now = dispatch::wall_now();
  storage::TokenRecord record;
  record.name = arguments.name;
  record.sha256 = http::token_sha256(token);
  record.scopes = arguments.scopes;
  record.cluster = arguments.for_cluster;
  record.former_cluster = arguments.former_cluster;
  record.created_at = dispatch::instant_text(now);
  record.expires_at = dispatch::instant_text(now + std::chrono::hours(24) * arguments.days);
  // Written first: a token that nobody has could not be made anew, since its name is taken.
  if (!(std::cout << token << std::endl)) {
    return complain("token", "the token could not be written, and none was made", kFailed);
  }
  store.insert_token(record);
  std::cerr << "It is shown this once, and expires at " << record.expires_at.substr(0, 19)
            << "Z.\n";
  return 0;
}

int list(const TokenArguments& arguments) {
  storage::JobStore store(database_of(arguments), storage::JobAccess::read);
  const std::string now = dispatch::instant_text(dispatch::wall_now());
  report::TextTable table({"NAME", "SCOPES", "STATE", "CREATED", "EXPIRES"});
  const auto tokens = store.tokens();
  for (const storage::TokenRecord& token : tokens) {
    std::string scopes;
    for (const std::string& scope : token.scopes) {
      scopes.append(scopes.empty() ? "" : " ").append(scope);
    }
    if (!token.cluster.empty()) {
      const std::string& before = token.former_cluster;
      scopes += " (" + token.cluster + (before.empty() ? "" : ", formerly " + before) + ")";
    }
    const char* const state = token.revoked_at          ? "revoked"
                              : token.expires_at <= now ? "expired"
                                                        : "valid";
    table.add({token.name, scopes, state, token.created_at.substr(0, 19) + "Z",
               token.expires_at.substr(0, 19) + "Z"});
  }
  if (tokens.empty()) {
    std::cout << "No tokens yet. llmb-report token create --help says how to make one.\n";
  } else {
    table.print(std::cout);
  }
  return 0;
}

int revoke(const TokenArguments& arguments) {
  const storage::OpenOptions database = database_of(arguments);
  require_made(database);
  storage::JobStore store(database);
  if (store.revoke_token(arguments.name, dispatch::instant_text(dispatch::wall_now()))) {
    std::cout << arguments.name << " is revoked\n";
    return 0;
  }
  if (!is_taken(store, arguments.name)) {
    return complain("token", "there is no token " + dispatch::in_quotes(arguments.name), kFailed);
  }
  std::cout << arguments.name << " was revoked before\n";
  return 0;
}

CLI::App* add_part(CLI::App& token, const std::string& name, const std::string& help,
                   const std::shared_ptr<TokenArguments>& arguments, int& exit_code,
                   int (*run)(const TokenArguments&)) {
  CLI::App* const part = token.add_subcommand(name, help);
  add_desk_options(*part, arguments->desk);
  part->callback([arguments, &exit_code, run] {
    exit_code = run_at_desk("token", [&] { return run(*arguments); });
  });
  return part;
}

}  // namespace

void add_token_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<TokenArguments>();
  CLI::App* const token = app.add_subcommand("token", "Tokens of those who may ask for more");
  token->footer(kTokenFooter);
  token->require_subcommand(1);
  CLI::App* const make =
      add_part(*token, "create", "Make a token, and show it once", arguments, exit_code, create);
  make->add_option("NAME", arguments->name, "Who it is for")->required();
  make->add_option("--scope", arguments->scopes,
                   "read, submit, cancel, ingest or admin; repeatable")
      ->required()
      ->delimiter(',')
      ->check(CLI::IsMember({"read", "submit", "cancel", "ingest", "admin"}));
  make->add_option("--days", arguments->days, "How long it is valid")
      ->check(CLI::Range(1, kDaysMax))
      ->capture_default_str();
  make->add_option("--for-cluster", arguments->for_cluster,
                   "With --scope ingest: the cluster whose runs it may write, and no others");
  make->add_option("--formerly", arguments->former_cluster,
                   "What that cluster was called before: its runs here are renamed when its agent "
                   "next pushes");
  add_part(*token, "list", "All tokens, without their secrets", arguments, exit_code, list);
  add_part(*token, "revoke", "A token is valid no more", arguments, exit_code, revoke)
      ->add_option("NAME", arguments->name, "The token's name")
      ->required();
}

}  // namespace llmb::cli
