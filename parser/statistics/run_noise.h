// RunNoise: by how much runs of one configuration differ from each other, as other configurations
// teach it, and its own repeats (repeat_noise.h). Few runs tell little of their own deviation; the
// one that is usual for such runs is the other half of every test on them (moderated_test.h), and
// counts for less where they deviate by more.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace llmb::parser {

// The true variance of a configuration's run locations, in logarithms, is taken to be distributed
// as degrees_of_freedom * stddev^2 / chi^2(degrees_of_freedom), before its own runs are looked at.
struct RunNoise {
  double stddev = 0;              // of ln(location of a run): 0.0007 is 0.07 %
  double degrees_of_freedom = 0;  // how far configurations agree in it
  std::int64_t group_count = 0;   // configurations that it was learnt from
  std::int64_t run_count = 0;     // their runs
  std::string source;             // "public runs", "9 repeats and of runs of the same workload"
  std::int64_t repeat_count = 0;  // runs of the tested configurations themselves
  // Of these, about their levels, by their weight (kRepeatWeight).
  double repeat_squares = 0;
  double repeat_degrees_of_freedom = 0;

  bool operator==(const RunNoise&) const = default;
  // Public runs alone, and repeats: no other configuration of this database taught it.
  bool is_public() const { return group_count == 0; }
};

struct KnownVariance {
  double stddev = 0;              // of one run's logarithm
  double degrees_of_freedom = 0;  // how well it is known
};
// What others, repeats and the tested runs themselves say together: `squares` is the sum of those
// within the tested sides, `degrees` its degrees of freedom, both 0 where there are none. Where own
// runs and repeats deviate by more than others do, the others count for so many degrees less, by
// the ratio of the variances: their d0 s0^2 is then worth d0 s0^2 / s^2 runs. Without that a prior
// from quiet runs raises the false alarms of a noisy configuration, by 2 against 2 from 5 to 13 %.
// Public runs are of other clusters, and give way to the tested runs: they count for d0 / (1 +
// degrees). That takes the false alarms of 2 against 2 from at most 7.2 to 5.8 %.
KnownVariance known_variance(const RunNoise& noise, double squares, double degrees);

// Where nothing else is known: 33 configurations of ten runs each (llama31_8b and llama2_70b_lora)
// of mlcommons/training_results_v5.1 at 441d65f4. By maximum likelihood all of them give 0.067 %
// and 1.36, and the half whose names have an odd content_hash() 0.074 % and 0.93; these lie
// between.
inline constexpr double kPublicNoiseStddev = 0.0007;
inline constexpr double kPublicNoiseDegrees = 1.2;
RunNoise public_run_noise();

// Rounded step times may agree to the last digit, which is no proof that runs never differ: no
// deviation of locations is taken to be less.
inline constexpr double kRunStddevMin = 2e-5;

// The repeats of one configuration.
struct NoiseGroup {
  double stddev = 0;           // of the logarithms of their locations, n - 1 in the denominator
  std::int64_t run_count = 0;  // over 1
};

// So much has to be there before the public runs are left behind.
inline constexpr std::size_t kNoiseGroupsMin = 3;
inline constexpr std::int64_t kNoiseDegreesMin = 6;
bool suffices_for_noise(std::span<const NoiseGroup> groups);

// The most likely prior for these groups (marginal likelihood of their deviations, which are
// F-distributed). Its degrees of freedom are no more than those of the groups together: what they
// agree in is not known better than that. `groups` has to suffice.
RunNoise learn_run_noise(std::span<const NoiseGroup> groups, std::string source);

}  // namespace llmb::parser
