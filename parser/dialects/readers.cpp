// The list of all readers: that of a new dialect is a line here.
#include "parser/dialects/dialect.h"

#include <array>

#include "parser/dialects/automodel.h"
#include "parser/dialects/deepspeed.h"
#include "parser/dialects/hf_trainer.h"
#include "parser/dialects/maxtext.h"
#include "parser/dialects/megatron.h"
#include "parser/dialects/mlperf.h"
#include "parser/dialects/nanotron.h"
#include "parser/dialects/nemo.h"
#include "parser/dialects/nemo_progress_bar.h"
#include "parser/dialects/nemo_rl.h"
#include "parser/dialects/neuronx.h"
#include "parser/dialects/torchtitan.h"
#include "parser/dialects/verl.h"

namespace llmb::parser {

namespace {

template <typename Reader>
std::unique_ptr<DialectReader> make() {
  return std::make_unique<Reader>();
}

constexpr auto kReaders = std::to_array<DialectReaderKind>({
    {"nemo", make<NemoReader>},
    {"nemo_progress_bar", make<NemoProgressBarReader>},
    {"megatron", make<MegatronReader>},
    {"maxtext", make<MaxtextReader>},
    {"torchtitan", make<TorchtitanReader>},
    {"neuronx", make<NeuronxReader>},
    {"hf_trainer", make<HfTrainerReader>},
    {"deepspeed", make<DeepspeedReader>},
    {"mlperf", make<MlperfReader>},
    {"verl", make<VerlReader>},
    {"nemo_rl", make<NemoRlReader>},
    {"automodel", make<AutomodelReader>},
    {"nanotron", make<NanotronReader>},
});

}  // namespace

std::span<const DialectReaderKind> dialect_reader_kinds() {
  return kReaders;
}

std::vector<std::unique_ptr<DialectReader>> make_dialect_readers() {
  std::vector<std::unique_ptr<DialectReader>> readers;
  readers.reserve(kReaders.size());
  for (const DialectReaderKind& kind : kReaders) readers.push_back(kind.make());
  return readers;
}

}  // namespace llmb::parser
