#include "server/cli/documents_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "server/cli/exit_codes.h"
#include "server/cli/version.h"

namespace llmb::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Options by their long names; words that stand alone are none.
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options = command.get_options();
  std::erase_if(options, [](const CLI::Option* option) { return option->get_lnames().empty(); });
  return options;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string bash_completion(const CLI::App& app) {
  std::string names = "help";
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    names += " " + command->get_name();
    std::string words;
    for (const CLI::Option* option : options_of(*command)) {
      for (const std::string& name : option->get_lnames()) words += " --" + name;
    }
    for (const CLI::App* below : commands_of(*command)) words += " " + below->get_name();
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(),
                         words.empty() ? words : words.substr(1));
  }
  return fmt::format(R"(# bash completion of llmb-report: source <(llmb-report completion bash)
_llmb_report() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{}' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ $word != -* ]]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _llmb_report llmb-report
)",
                     names, cases);
}

// 'name:what it does', as _describe wants it.
std::string zsh_entry(const std::string& name, const std::string& description) {
  const std::string first_line = description.substr(0, description.find('\n'));
  const std::string entry = replaced(name, ":", "\\:") + ":" + first_line;
  return "'" + replaced(entry, "'", "'\\''") + "'";
}

std::string zsh_completion(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += "    " + zsh_entry(command->get_name(), command->get_description()) + "\n";
    cases += fmt::format("    {}) words_of=(\n", command->get_name());
    for (const CLI::Option* option : options_of(*command)) {
      const std::string name = "--" + option->get_lnames().front();
      cases += "      " + zsh_entry(name, option->get_description()) + "\n";
    }
    for (const CLI::App* below : commands_of(*command)) {
      cases += "      " + zsh_entry(below->get_name(), below->get_description()) + "\n";
    }
    cases += "    ) ;;\n";
  }
  return fmt::format(R"(#compdef llmb-report
# zsh completion of llmb-report: llmb-report completion zsh >"${{fpath[1]}}/_llmb-report"
_llmb_report() {{
  local -a commands words_of
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case $words[2] in
{}  esac
  _describe 'option' words_of
  _files
}}
# Loaded from fpath, this file is run by the first completion, as the function of its name.
if [[ ${{funcstack[1]}} == _llmb[-_]report ]]; then
  _llmb_report "$@"
else
  compdef _llmb_report llmb-report
fi
)",
                     commands, cases);
}

// Text as roff takes it: nothing of it is a request or an escape.
std::string roff_text(const std::string& text) {
  std::istringstream lines(replaced(text, "\\", "\\e"));
  std::string safe;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('.') || line.starts_with('\'')) safe += "\\&";
    safe += replaced(line, "-", "\\-") + "\n";
  }
  return safe;
}

std::string roff_options(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name(option->get_lnames().empty(), true);
    const std::string type = option->get_lnames().empty() ? "" : option->get_type_name();
    const bool is_flag = option->get_items_expected_max() == 0;
    const std::string usage = is_flag || type.empty() ? name : fmt::format("{} {}", name, type);
    text.append(".TP\n.B ").append(roff_text(usage));
    text += roff_text(option->get_description());
  }
  return text;
}

std::string roff_command(const CLI::App& command, const std::string& before) {
  const std::string name = before + command.get_name();
  std::string text = ".SS " + roff_text(name) + roff_text(command.get_description());
  text += roff_options(command);
  for (const CLI::App* below : commands_of(command)) text += roff_command(*below, name + " ");
  if (!command.get_footer().empty()) {
    text += ".PP\n.nf\n" + roff_text(command.get_footer()) + ".fi\n";
  }
  return text;
}

std::string manual_page(const CLI::App& app) {
  std::string text =
      fmt::format(".TH LLMB\\-REPORT 1 \"\" \"llmb\\-report {}\" \"\"\n", version_number());
  text +=
      ".SH NAME\nllmb\\-report \\- how fast a GPU cluster trains LLMs, read from its logs\n"
      ".SH SYNOPSIS\n.B llmb\\-report\n.I COMMAND\n[\n.I OPTION ...\n]\n.SH DESCRIPTION\n" +
      roff_text(app.get_description()) + ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app)) text += roff_command(*command, "");
  text += fmt::format(
      ".SH EXIT STATUS\n{} on success, {} where something is wrong, {} for wrong arguments.\n", 0,
      kFailed, kBadArguments);
  return text;
}

}  // namespace

void add_documents_commands(CLI::App& app, int& exit_code) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* const completion =
      app.add_subcommand("completion", "Print what bash or zsh complete the command line by");
  completion->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  completion->footer(
      "Examples:\n  source <(llmb-report completion bash)\n"
      "  llmb-report completion zsh >\"${fpath[1]}/_llmb-report\"\n");
  completion->callback([&app, shell, &exit_code] {
    std::cout << (*shell == "bash" ? bash_completion(app) : zsh_completion(app));
    exit_code = 0;
  });
  CLI::App* const manual = app.add_subcommand("manual", "Print the manual page, for man(1)");
  manual->footer("Example:\n  llmb-report manual | man -l -\n");
  manual->callback([&app, &exit_code] {
    std::cout << manual_page(app);
    exit_code = 0;
  });
}

}  // namespace llmb::cli
