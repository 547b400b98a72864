#include "runner/ceilings_command.h"

#include <fmt/format.h>

#include <ostream>

#include "runner/cpu/ceilings.h"
#include "runner/cpu/parallel_for.h"
#include "runner/plan/ceiling_shapes.h"
#include "runner/train_loop.h"

namespace llmb::runner {

void print_cpu_ceilings(const RunSettings& settings, double seconds, std::ostream& out) {
  share_cores(1);
  out << fmt::format("this machine's CPU, {} threads, fp32\n{}\n", cpu::threads_per_rank(),
                     ceiling_heading())
      << std::flush;
  cpu::measure_ceilings(ceiling_shapes(settings), seconds, [&](const Ceiling& ceiling) {
    out << ceiling_line(ceiling) << "\n" << std::flush;
  });
}

}  // namespace llmb::runner
