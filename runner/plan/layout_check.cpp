#include "runner/plan/layout_check.h"

#include <fmt/format.h>

namespace llmb::runner {
namespace {

// "1, 2, 4 or 8": the divisors of `whole` that are not absurdly large.
std::string divisors(std::int64_t whole) {
  constexpr std::int64_t kDivisorMax = 128;
  std::vector<std::string> all;
  for (std::int64_t divisor = 1; divisor <= whole && divisor <= kDivisorMax; ++divisor) {
    if (whole % divisor == 0) all.push_back(fmt::format("{}", divisor));
  }
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += i + 1 == all.size() ? " or " : ", ";
    text += all[i];
  }
  return text;
}

class Contradictions {
 public:
  void needs_division(std::int64_t whole, const std::string& what, std::int64_t pieces,
                      const std::string& size_name) {
    if (whole % pieces == 0) return;
    found_.push_back(fmt::format("{} {} do not divide over {} {}; {} of {} would fit", whole, what,
                                 size_name, pieces, size_name, divisors(whole)));
  }
  void add(std::string sentence) { found_.push_back(std::move(sentence)); }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

void check_tensor(const ModelSpec& spec, const ParallelSizes& sizes, Contradictions& found) {
  const ModelShape& shape = spec.shape;
  found.needs_division(shape.query_group_count, "key/value heads", sizes.tp, "tp");
  found.needs_division(shape.vocabulary_size, "vocabulary entries", sizes.tp, "tp");
  if (shape.ffn_hidden_size > 0) {
    found.needs_division(shape.ffn_hidden_size, "FFN columns", sizes.tp, "tp");
  }
  found.needs_division(shape.shared_expert_ffn_hidden_size, "shared expert columns", sizes.tp,
                       "tp");
}

void check_experts(const ModelSpec& spec, const ParallelSizes& sizes, Contradictions& found) {
  const ModelShape& shape = spec.shape;
  if (!spec.is_moe()) {
    if (sizes.ep > 1) {
      found.add(fmt::format(
          "ep {} is given, but {} {} is dense: it has no experts to spread; ep 1 would fit",
          sizes.ep, shape.family, shape.size));
    }
    return;
  }
  found.needs_division(shape.expert_count, "experts", sizes.ep, "ep");
  found.needs_division(shape.expert_ffn_hidden_size, "expert columns", sizes.etp, "etp");
}

void check_sequence(const ModelSpec& spec, const ParallelSizes& sizes, Contradictions& found) {
  const std::int64_t sequence = spec.shape.sequence_length;
  // Context parallelism gives every rank an early and a late piece, so that causal work balances;
  // sequence parallelism cuts what a rank has into tp pieces.
  const std::int64_t pieces = sizes.cp > 1 ? 2 * std::int64_t{sizes.cp} : 1;
  if (sequence % pieces != 0) {
    found.add(
        fmt::format("a sequence of {} tokens does not divide into 2 x cp = {} pieces; a multiple "
                    "of {} would fit",
                    sequence, pieces, pieces));
  } else if (sequence / sizes.cp % sizes.tp != 0) {
    found.add(
        fmt::format("a sequence of {} tokens does not divide over cp {} x tp {} (sequence "
                    "parallel); a multiple of {} would fit",
                    sequence, sizes.cp, sizes.tp, std::int64_t{sizes.cp} * sizes.tp));
  }
}

void check_pipeline(const ModelSpec& spec, const ParallelSizes& sizes, const BatchSizes& batch,
                    Contradictions& found) {
  const std::int64_t layers = spec.shape.layer_count;
  const std::int64_t chunks = std::int64_t{sizes.pp} * sizes.vp;
  if (sizes.vp > 1 && sizes.pp == 1) {
    found.add(
        fmt::format("vp {} interleaves the stages of a pipeline, and pp 1 has none; vp 1 "
                    "would fit, or pp 2 and more",
                    sizes.vp));
  }
  const bool with_ends = chunks > 1 && (layers + 2) % chunks == 0 && (layers + 2) / chunks > 1;
  if (layers % chunks != 0 && !with_ends) {
    found.add(
        fmt::format("{} layers do not divide over pp {} x vp {} = {} chunks, nor with "
                    "embedding and head counted as a layer each; pp x vp of {} would fit",
                    layers, sizes.pp, sizes.vp, chunks, divisors(layers)));
  }
  if (spec.shape.tied_embeddings && sizes.pp > 1) {
    found.add("tied embeddings live on one pipeline stage; pp 1 would fit");
  }
  const std::int64_t replica_batch = batch.micro_batch_size * sizes.dp;
  if (batch.micro_batch_size < 1 || batch.global_batch_size < 1 ||
      batch.global_batch_size % replica_batch != 0) {
    found.add(
        fmt::format("a global batch of {} does not divide over micro batch {} x dp {}; a "
                    "multiple of {} would fit",
                    batch.global_batch_size, batch.micro_batch_size, sizes.dp, replica_batch));
    return;
  }
  const std::int64_t micro_batches = micro_batch_count(batch, sizes);
  if (sizes.vp > 1 && micro_batches % sizes.pp != 0) {
    found.add(
        fmt::format("interleaving passes micro-batches in rounds of pp {}, and {} do not "
                    "divide into those; a global batch that is a multiple of {} would fit",
                    sizes.pp, micro_batches, replica_batch * sizes.pp));
  }
}

}  // namespace

std::vector<std::string> check_layout(const ModelSpec& spec, const ParallelSizes& sizes,
                                      const BatchSizes& batch) {
  Contradictions found;
  check_tensor(spec, sizes, found);
  check_experts(spec, sizes, found);
  check_sequence(spec, sizes, found);
  check_pipeline(spec, sizes, batch, found);
  return found.take();
}

}  // namespace llmb::runner
