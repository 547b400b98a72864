// RouterScore: how a router's logit becomes the weight of an expert.
#pragma once

namespace llmb::runner {

enum class RouterScore {
  softmax_of_all,     // probabilities over all experts, of which the chosen keep theirs: Grok-1
  softmax_of_chosen,  // probabilities over the chosen ones: Mixtral, Megatron's default
  sigmoid,            // of each chosen logit by itself: Llama 4
};

}  // namespace llmb::runner
