#include "server/cli/commands.h"

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "parser/catalog/audit.h"
#include "parser/foundation/plural.h"
#include "server/cli/catalog_option.h"
#include "server/cli/exit_codes.h"
#include "server/report/catalog_json.h"
#include "server/report/json.h"

namespace llmb::cli {
namespace {

constexpr const char* kAuditFooter = R"(Examples:
  llmb-report audit                          what the five recipe documents get wrong
  llmb-report audit --all                    and the tables and results of other releases
  llmb-report audit --document llama4-25.05
  llmb-report audit --format json | jq '.findings[] | select(.severity == "error")'
  llmb-report audit --catalog my-recipes.json

What is checked:
  results     tokens/s, MFU and days to train 1T tokens, each from the step time and the
              configuration row of the same column
  recipes     DP * TP * PP * CP = GPUs, GA * MBS * DP = GBS, layers that fit the pipeline
  commands    whether the document's own tables have the scale that a command of it asks for
  examples    every calculation in the text, the peaks it names, the windows it mentions; and
              whether its step time, batch and results are those of the document's table
  samples     TFLOPS_per_GPU of a printed line against its own step time, and its spread; its step
              time and layout against the document's table
  What the printed decimals can explain, rounded or cut off, is no finding. A finding is an error
  from 1 % on, and inexact below that; "recomputed" is what the row, text or table gives. Figures
  that cannot be checked are counted by reason, and listed in the json.

Exit status: 0 whether or not there are findings, 2 for bad arguments or a bad catalog.)";

struct AuditArguments {
  std::string format = "table";
  std::string catalog_file;
  std::string document;
  bool has_all = false;
};

bool is_wanted(const AuditArguments& arguments, const parser::Catalog& catalog,
               const std::string& document) {
  if (!arguments.document.empty()) return document == arguments.document;
  return arguments.has_all || parser::is_recipe_document(catalog, document);
}

void write_json(const parser::Audit& audit) {
  report::Json document = {{"format", "llmb-report audit"}, {"version", 2}};
  document.update(report::audit_json(audit));
  std::cout << document.dump(1) << '\n';
}

std::string number_text(double value) {
  std::array<char, 64> text{};
  const bool is_large = std::abs(value) >= 1e6;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 is_large ? std::chars_format::fixed : std::chars_format::general,
                                 is_large ? 0 : 6)
                       .ptr;
  return {text.data(), end};
}

// Three digits, never an exponent: thousands in full, and what is tiny by its bound.
std::string percent_text(double share) {
  constexpr double kTiny = 1e-5;
  if (std::abs(share) < kTiny) return share > 0 ? "+<0.001 %" : "-<0.001 %";
  std::array<char, 64> text{};
  const bool is_large = std::abs(share) >= 1;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), 100 * share,
                                 is_large ? std::chars_format::fixed : std::chars_format::general,
                                 is_large ? 0 : 3)
                       .ptr;
  return (share > 0 ? "+" : "") + std::string(text.data(), end) + " %";
}

void write_counts(std::string_view what, const parser::AuditCounts& counts) {
  if (counts.figures_checked == 0 && counts.unchecked == 0) return;
  std::cout << what << ": " << parser::plural(counts.figures_checked, "figure") << " checked, "
            << parser::plural(counts.findings, "finding") << ", " << counts.unchecked
            << " not checkable\n";
}

void write_unchecked(const parser::Audit& audit) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& figure : audit.unchecked) ++counts[figure.quantity + ": " + figure.reason];
  for (const auto& [what, count] : counts) {
    std::cout << "  not checkable, " << parser::plural(count, "figure") << " of " << what << '\n';
  }
}

void write_finding(const parser::AuditFinding& finding) {
  std::cout << "  ";
  if (finding.line > 0) {
    std::cout << "line " << finding.line;
    if (finding.column > 0) std::cout << " column " << finding.column;
    std::cout << "  ";
  }
  std::cout << finding.row << "\n    " << parser::severity_name(finding.severity) << "  "
            << finding.quantity << " printed " << finding.printed;
  if (finding.recomputed) std::cout << ", recomputed " << number_text(*finding.recomputed);
  if (finding.relative_difference) {
    std::cout << " (" << percent_text(*finding.relative_difference) << ")";
  }
  std::cout << ", " << finding.slip << "\n    " << finding.explanation << '\n';
}

void write_table(const parser::Audit& audit) {
  std::string document;
  bool is_in_other_releases = false;
  for (const auto& finding : audit.findings) {
    if (finding.is_of_other_release && !is_in_other_releases) {
      std::cout << "\nOf the tables and results of other releases, earlier and later:\n";
      is_in_other_releases = true;
    }
    if (finding.document != document) {
      document = finding.document;
      std::cout << document << '\n';
    }
    write_finding(finding);
  }
  std::cout << '\n';
  write_counts("The recipe documents", audit.documents);
  write_counts("Other releases", audit.other_releases);
  write_unchecked(audit);
}

int run_audit(const AuditArguments& arguments) {
  const auto catalog = read_catalog(arguments.catalog_file);
  if (!catalog) {
    std::cerr << "llmb-report audit: " << catalog.error().message << '\n';
    return kBadArguments;
  }
  const parser::Catalog& entries = **catalog;
  if (!arguments.document.empty() && entries.document(arguments.document) == nullptr) {
    std::cerr << "llmb-report audit: the catalog has no document '" << arguments.document
              << "'; it has";
    for (const auto& document : entries.documents) std::cerr << ' ' << document.id;
    std::cerr << '\n';
    return kBadArguments;
  }
  const parser::Audit audit = parser::audit_catalog(entries, [&](const std::string& document) {
    return is_wanted(arguments, entries, document);
  });
  if (arguments.format == "json") {
    write_json(audit);
  } else {
    write_table(audit);
  }
  return 0;
}

}  // namespace

void add_audit_command(CLI::App& app, int& exit_code) {
  CLI::App* const command = app.add_subcommand(
      "audit", "Recompute the published figures, and say which do not follow from their own row");
  command->footer(kAuditFooter);
  const auto arguments = std::make_shared<AuditArguments>();
  command->add_option("--format", arguments->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  add_catalog_option(*command, arguments->catalog_file);
  CLI::Option* const document =
      command->add_option("--document", arguments->document, "Only this one, by its id")
          ->type_name("ID");
  command->add_flag("--all", arguments->has_all, "The tables and results of other releases too")
      ->excludes(document);
  command->callback([arguments, &exit_code] { exit_code = run_audit(*arguments); });
}

}  // namespace llmb::cli
