#include "labelled_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string_view>

#include "log_samples.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kHead = "=== ";

struct Section {
  std::vector<std::string> labels;  // of its head, between bars
  std::string text;                 // the lines below it
};

std::vector<std::string> labels_of(std::string_view head) {
  constexpr std::string_view kBar = " | ";
  std::vector<std::string> labels;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = head.find(kBar);
    labels.emplace_back(head.substr(0, end));
    if (end != std::string_view::npos) head.remove_prefix(end + kBar.size());
  }
  return labels;
}

// Whole lines of `text`, each without its end.
template <typename Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<Section> sections_of(const std::string& name) {
  const auto path =
      std::filesystem::path(LLMB_SOURCE_DIR) / "tests/logs/labelled" / (name + ".txt");
  std::vector<Section> sections;
  for_each_line(read_file(path), [&](std::string_view line) {
    if (line.starts_with(kHead)) {
      sections.push_back({labels_of(line.substr(kHead.size())), ""});
    } else if (sections.empty()) {
      throw std::runtime_error(path.string() + " does not begin with \"=== \"");
    } else {
      sections.back().text.append(line).append("\n");
    }
  });
  return sections;
}

struct Launcher {
  std::string before, after;
  std::string prefix;  // of every line of the ranks
};

const std::map<std::string, Launcher>& launchers() {
  static const std::map<std::string, Launcher> all = [] {
    std::map<std::string, Launcher> read = {{"bare", {}}};
    for (Section& section : sections_of("surroundings")) {
      Launcher& launcher = read[section.labels.at(0)];
      const bool is_before = section.labels.at(1) == "before";
      (is_before ? launcher.before : launcher.after) = std::move(section.text);
      if (is_before) launcher.prefix = section.labels.at(2);
    }
    return read;
  }();
  return all;
}

std::string step_of(const std::string& launcher, int i) {
  if (launcher == "srun") {
    return fmt::format(
        "15:  [2025-11-03 09:13:{:02}] iteration {:8}/     500 | consumed samples: {:12} | "
        "elapsed time per iteration (ms): {:.1f} | learning rate: 1.000000E-05 | global batch "
        "size:   128 | lm loss: {:.6E} | loss scale: 1.0 | grad norm: 0.942 | number of "
        "skipped iterations:   0 | number of nan iterations:   0 |\n",
        i, i, i * 128, 2216.3 + i % 7, 9 - 0.05 * i);
  }
  if (launcher == "deepspeed") {
    return fmt::format(
        "gpu-2: [2025-11-03 09:13:{:02},074] [INFO] [logging.py:107:log_dist] [Rank 0] "
        "step={}, skipped=0, lr=[2e-05, 2e-05], mom=[(0.9, 0.95), (0.9, 0.95)]\n",
        i, i);
  }
  if (launcher == "jax") {
    return fmt::format(
        "I1103 09:13:{:02}.000000 140 metric_logger.py:181] completed step: {}, seconds: {:.3f}, "
        "TFLOP/s/device: 411.9, Tokens/s/device: 8671.794, total_weights: 196608, loss: {:.3f}\n",
        i, i, 2.2 + 0.001 * (i % 7), 11 - 0.05 * i);
  }
  if (launcher == "nemo") {
    return fmt::format(
        "Training epoch 0, iteration {}/499 | lr: 1e-06 | global_step: {} | reduced_train_loss: "
        "{:.3f} | train_step_timing in s: {:.3f}\n",
        i, i, 11 - 0.05 * i, 4.4 + 0.001 * (i % 7));
  }
  return fmt::format(
      "[rank0]:[titan] 2025-11-03 09:13:{:02},441 - root - INFO - step: {:4}  loss: {:.4f}  "
      "memory: 61.57GiB(86.69%)  tps: 6,786  mfu: 39.73%\n",
      i, i, 11 - 0.05 * i);
}

// The scheduler and the kernel speak for themselves, and some lines name their rank already.
bool has_no_prefix(std::string_view line) {
  constexpr auto kOwn = std::to_array<std::string_view>(
      {"srun: ", "slurmstepd: ", "kernel: ", "(", "[rank", "gpu-1:", "ip-10-"});
  return std::any_of(kOwn.begin(), kOwn.end(),
                     [&](std::string_view own) { return line.starts_with(own); });
}

}  // namespace

std::vector<LabelledLog> labelled_logs(const std::string& set) {
  constexpr int kSteps = 25;
  std::vector<LabelledLog> logs;
  for (const Section& section : sections_of(set)) {
    if (section.labels.size() != 5) {
      throw std::runtime_error(set + ": five labels stand in the head of \"" +
                               section.text.substr(0, 60) + "\"");
    }
    const bool has_prefixes = section.labels[2].ends_with('+');
    const std::string name =
        section.labels[2].substr(0, section.labels[2].size() - (has_prefixes ? 1 : 0));
    const Launcher& launcher = launchers().at(name);
    LabelledLog log{section.labels[0], section.labels[1], section.labels[4], launcher.before};
    for (int i = 1; i <= kSteps && section.labels[3] == "steps"; ++i) log.text += step_of(name, i);
    for_each_line(section.text, [&](std::string_view line) {
      if (!has_prefixes && !has_no_prefix(line)) log.text += launcher.prefix;
      log.text.append(line).append("\n");
    });
    log.text += launcher.after;
    logs.push_back(std::move(log));
  }
  return logs;
}

}  // namespace llmb::parser
