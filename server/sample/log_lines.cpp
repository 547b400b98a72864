#include "server/sample/log_lines.h"

#include <cmath>
#include <cstdio>
#include <vector>

namespace llmb::sample {
namespace {

template <typename... Arguments>
std::string print(const char* format, Arguments... arguments) {
  std::vector<char> buffer(1024);
  const int length = std::snprintf(buffer.data(), buffer.size(), format, arguments...);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string without_trailing_zeros(const std::string& digits) {
  const std::size_t exponent = digits.find('e');
  const std::string tail = exponent == std::string::npos ? "" : digits.substr(exponent);
  std::string head = digits.substr(0, exponent);
  while (head.find('.') != std::string::npos && (head.back() == '0' || head.back() == '.')) {
    const bool was_point = head.back() == '.';
    head.pop_back();
    if (was_point) break;
  }
  return head + tail;
}

long long integer(std::int64_t value) {
  return static_cast<long long>(value);
}

// tqdm's number, padded by Lightning to five characters: "24.00", "9.98", "51200.0".
std::string bar_number(double value) {
  std::string text = print("%.3g", value);
  if (text.find('e') != std::string::npos) return print("%.1f", value);
  if (text.find('.') == std::string::npos) text += value >= 1e4 ? ".0" : ".";
  while (text.size() < 5) text += '0';
  return text;
}

std::string blocks(long long done, long long total) {
  std::string text;
  for (long long block = 0; block < 10; ++block) {
    text += block < done * 10 / total ? "\u2588" : " ";
  }
  return text;
}

std::string bar(const StepFigures& shown_position, const StepFigures& postfix) {
  const long long done = integer(shown_position.index) + 1;
  const long long total = integer(shown_position.step_count);
  const long long elapsed_s = static_cast<long long>(shown_position.step_time_s * double(done));
  const long long left_s =
      static_cast<long long>(shown_position.step_time_s * double(total - done));
  return print("\rEpoch 0: : %3lld%%|", done * 100 / total) + blocks(done, total) +
         print("| %lld/%lld [%02lld:%02lld<%02lld:%02lld, ", done, total, elapsed_s / 60,
               elapsed_s % 60, left_s / 60, left_s % 60) +
         "reduced_train_loss=" + bar_number(postfix.loss) +
         ", global_step=" + bar_number(static_cast<double>(postfix.index)) + ", consumed_samples=" +
         print("%.1f", static_cast<double>((postfix.index + 1) * postfix.global_batch_size)) +
         ", train_step_timing in s=" + bar_number(postfix.step_time_s) + "]";
}

}  // namespace

std::string nemo_number(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) {
    return print("%lld", static_cast<long long>(value));
  }
  const std::string scientific = print("%.3e", value);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent >= 3 || exponent < -4) return without_trailing_zeros(scientific);
  return without_trailing_zeros(print("%.*f", 3 - exponent, value));
}

std::string nemo_line(const StepFigures& step) {
  std::string line = print("Training epoch 0, iteration %lld/%lld", integer(step.index),
                           integer(step.step_count) - 1) +
                     " | lr: " + nemo_number(step.learning_rate) +
                     print(" | global_batch_size: %lld | global_step: %lld",
                           integer(step.global_batch_size), integer(step.index)) +
                     " | peak_memory_usage: 72972500992 | memory_allocated: 34466545664" +
                     " | reduced_train_loss: " + nemo_number(step.loss) +
                     " | train_step_timing in s: " + nemo_number(step.step_time_s);
  if (step.index > 0) {  // NeMo's first line has neither
    line += print(" | consumed_samples: %lld", integer((step.index + 1) * step.global_batch_size)) +
            " | TFLOPS_per_GPU: " + nemo_number(step.tflops_per_gpu);
  }
  return line + "\n";
}

std::string progress_bar_records(const StepFigures& step, const StepFigures& previous) {
  std::string records;
  if (step.index > 0) records += bar(step, previous);
  records += bar(step, step);
  return records +
         print("DLL 2024-11-20 10:%02lld:%02lld.345678 - %lld ", integer(step.index) / 60 % 60,
               integer(step.index) % 60, integer(step.index)) +
         print("reduced_train_loss : %.15g  lr : %.10g  global_step : %.1f  ", step.loss,
               step.learning_rate, static_cast<double>(step.index)) +
         print(
             "consumed_samples : %.1f  grad_norm : %.17g  train_step_timing in s : %.17g  "
             "epoch : 0 \n",
             static_cast<double>((step.index + 1) * step.global_batch_size), step.grad_norm,
             step.step_time_s);
}

std::string step_time_line(const StepFigures& step) {
  return print("Step Time : %.2fs GPU utilization: %.1fMODEL_TFLOP/s/GPU\n", step.step_time_s,
               step.tflops_per_gpu);
}

std::string megatron_iteration_line(const StepFigures& step, double clock_s, bool with_throughput) {
  const long long second = static_cast<long long>(clock_s);
  std::string line =
      print(" [2025-12-22 %02lld:%02lld:%02lld]", 9 + second / 3600 % 24, second / 60 % 60,
            second % 60) +
      print(" iteration %8lld/%8lld | consumed samples: %12lld |", integer(step.index) + 1,
            integer(step.step_count), integer((step.index + 1) * step.global_batch_size)) +
      print(" elapsed time per iteration (ms): %.1f |", step.step_time_s * 1e3);
  if (with_throughput) {
    line += print(" throughput per GPU (TFLOP/s/GPU): %.1f |", step.tflops_per_gpu);
  }
  return line +
         print(
             " learning rate: %.6E | global batch size: %5lld | lm loss: %.6E |"
             " loss scale: 1.0 | grad norm: %.3f |",
             step.learning_rate, integer(step.global_batch_size), step.loss, step.grad_norm) +
         " number of skipped iterations:   0 | number of nan iterations:   0 |\n";
}

}  // namespace llmb::sample
