#include "runner/model/parameter_store.h"

#include <algorithm>
#include <iterator>

namespace llmb::runner {

std::vector<Parameter> parameters_of_rank(const ModelSpec& spec, const Layout& layout, int rank) {
  const ParallelSizes& sizes = layout.sizes();
  const int stage = layout.place_of(rank).pp;
  const std::int64_t layer_count = spec.shape.layer_count;
  std::vector<Parameter> mine;
  std::vector<Parameter> all = model_parameters(spec);
  std::copy_if(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()),
               std::back_inserter(mine), [&](const Parameter& parameter) {
                 if (parameter.layer < 0) return stage == 0;
                 if (parameter.layer >= layer_count) return stage == sizes.pp - 1;
                 for (int chunk = 0; chunk < sizes.vp; ++chunk) {
                   const LayerRange range = layers_of(sizes, layer_count, stage, chunk);
                   if (parameter.layer >= range.first && parameter.layer < range.last) return true;
                 }
                 return false;
               });
  return mine;
}

}  // namespace llmb::runner
