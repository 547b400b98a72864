// The list of all dialects: a new one is a line here.
#include "parser/dialects/dialect.h"
#include "parser/dialects/maxtext.h"
#include "parser/dialects/megatron.h"
#include "parser/dialects/nemo.h"
#include "parser/dialects/nemo_progress_bar.h"
#include "parser/dialects/neuronx.h"
#include "parser/dialects/torchtitan.h"

namespace llmb::parser {

std::vector<std::unique_ptr<DialectReader>> make_dialect_readers() {
  std::vector<std::unique_ptr<DialectReader>> readers;
  readers.push_back(std::make_unique<NemoReader>());
  readers.push_back(std::make_unique<NemoProgressBarReader>());
  readers.push_back(std::make_unique<MegatronReader>());
  readers.push_back(std::make_unique<MaxtextReader>());
  readers.push_back(std::make_unique<TorchtitanReader>());
  readers.push_back(std::make_unique<NeuronxReader>());
  return readers;
}

}  // namespace llmb::parser
