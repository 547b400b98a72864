#include "runner/cuda_ceilings.h"

#include <fmt/format.h>

#include <ostream>

#include "runner/cuda/ceilings.h"
#include "runner/cuda/device.h"
#include "runner/cuda_product_plans.h"
#include "runner/plan/ceiling_shapes.h"

namespace llmb::runner {

void print_cuda_ceilings(const RunSettings& settings, double seconds, std::ostream& out) {
  const cuda::DeviceInfo device = cuda::choose_device(0);
  cuda::ClockReader clocks(device.pci_address);
  out << fmt::format("{}, {}, {}\n", device.name, cuda::runtime_name(), cuda::gemm_library());
  if (!clocks.why_nothing().empty()) out << "No clocks: " << clocks.why_nothing() << "\n";
  out << ceiling_heading() << "\n" << std::flush;
  cuda::measure_ceilings(
      ceiling_shapes(settings), settings.expert_counts == ExpertCounts::on_device,
      {seconds, &clocks, product_numbers(settings.precision)}, [&](const Ceiling& ceiling) {
        out << ceiling_line(ceiling) << "\n" << std::flush;
      });
}

}  // namespace llmb::runner
